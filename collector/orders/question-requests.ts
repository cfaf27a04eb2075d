import type { Endpoint, HttpReply } from '../../schemas/polling.ts';
import { circuitWaitMs, noteOutcome, noteProbe } from './circuits.ts';
import type { GatewayState } from './gateway-state.ts';
import type { NotAsked, Question } from './questions.ts';
import { budgetWaitMs, noteAnswer, spend } from './request-budget.ts';

/** Whoever asks when so many wait hears at once that the gateway cannot be asked. */
const MAX_WAITING = 256;

/** Lets a question wait for its turn; or says why it cannot be asked. */
export function enqueueQuestion(state: GatewayState, question: Question, nowMs: number): NotAsked | null {
  const { circuits, questions } = state;
  if (circuitWaitMs(circuits, question.endpoint, nowMs) > 0) return 'circuit_open';
  if (questions.waiting.size >= MAX_WAITING) return 'budget';
  questions.waiting.add(question);
  return null;
}

/** The question whose turn it is, or how long until then; null: none waits, or one has to end first. */
export function nextQuestion(
  { questions, budget }: GatewayState,
  nowMs: number,
): { readonly start: Question } | { readonly waitMs: number } | null {
  const [first] = questions.waiting;
  if (first === undefined || questions.inFlight >= questions.concurrency) return null;
  const waitMs = Math.max(budgetWaitMs(budget, nowMs), budgetWaitMs(questions.budget, nowMs));
  return waitMs > 0 ? { waitMs } : { start: first };
}

/** Starts what `nextQuestion` named; a circuit may have opened since it began to wait. */
export function startQuestion(state: GatewayState, question: Question, nowMs: number): void {
  const { questions, budget, circuits } = state;
  questions.waiting.delete(question);
  if (circuitWaitMs(circuits, question.endpoint, nowMs) > 0) return question.settle('circuit_open');
  questions.inFlight += 1;
  state.requests += 1;
  spend(budget, nowMs);
  spend(questions.budget, nowMs);
  noteProbe(circuits, question.endpoint, nowMs);
  return question.settle(null);
}

/** The reply to a question is there. True when a circuit opened or closed by it. */
export function endQuestion(
  { questions, budget, circuits }: GatewayState,
  asked: { readonly endpoint: Endpoint; readonly key: string; readonly startMs: number },
  reply: HttpReply,
  nowMs: number,
): boolean {
  questions.inFlight -= 1;
  noteAnswer(budget, reply, asked.startMs, nowMs);
  return noteOutcome(circuits, asked.endpoint, reply.outcome, asked.key, nowMs);
}
