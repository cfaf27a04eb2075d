import type { Clock } from '../../schemas/clock.ts';
import type { PollConfig } from '../../schemas/config.ts';
import { endpointOf, type HttpReply, type PollerStatus } from '../../schemas/polling.ts';
import { watchKey, type WatchedOrder } from '../../schemas/watch.ts';
import { openCircuits } from './circuits.ts';
import {
  createGatewayState,
  gatewayStatus,
  nudgeOrder,
  releaseOrders,
  resumeOrder,
  trackOrder,
  type GatewayState,
  type PendingLimits,
} from './gateway-state.ts';
import { endQuestion, enqueueQuestion, nextQuestion, startQuestion } from './question-requests.ts';
import type { NotAsked, Question } from './questions.ts';
import { spend } from './request-budget.ts';
import {
  finishRead,
  nextStep,
  receiveReply,
  releasePending,
  retryRead,
  startRequest,
  type StatusRequest,
} from './status-requests.ts';
import type { Instant } from './poller-entry.ts';
import type {
  ApplyReply,
  Asked,
  AskStatus,
  PollerEvent,
  ReadOrder,
  TrackedOrders,
} from './poller-contract.ts';
import { isBlind } from './watermark-tracker.ts';

export interface GatewayPollerOptions extends PendingLimits {
  readonly policy: PollConfig;
  readonly clock: Clock;
  readonly read: ReadOrder;
  /** Sends questions, on connections of their own. @default as `read` does */
  readonly readForQuestion?: ReadOrder;
  /** @default always */
  readonly owns?: (order: WatchedOrder) => boolean;
  readonly onEvent: (event: PollerEvent) => void;
}

/** The poller of one gateway. */
export interface GatewayPoller extends TrackedOrders {
  /** Sends requests from now on; their replies go to `apply`. */
  start(apply: ApplyReply): void;
  readonly ask: AskStatus;
  status(): PollerStatus;
  /** Starts no further request and waits for those under way until their replies are applied. */
  stop(): Promise<void>;
}

/** What the poller keeps beside the gateway's state. */
interface Driver {
  readonly options: GatewayPollerOptions;
  readonly state: GatewayState;
  /** Requests whose replies are not applied yet. */
  readonly running: Set<Promise<void>>;
  /** null: before the start and after the stop. */
  apply: ApplyReply | null;
  cancelTimer: () => void;
  sequence: number;
  /** The gateway does not answer, and that was logged. */
  isSilent: boolean;
}

/**
 * Polls the orders of one gateway: due ones in order, callbacks first, within its budget, concurrency and
 * circuits. `gateway-state.ts` decides what happens when; here are the clock, the timer and the requests.
 */
export function createGatewayPoller(options: GatewayPollerOptions): GatewayPoller {
  const state = createGatewayState(options.policy, options.owns ?? (() => true), options);
  const driver: Driver = {
    options,
    state,
    running: new Set(),
    apply: null,
    cancelTimer: () => {},
    sequence: 0,
    isSilent: false,
  };
  const instant = () => instantOf(options.clock);
  return {
    start(apply) {
      driver.apply = apply;
      pump(driver);
    },
    resume(tracked) {
      resumeOrder(state, tracked, instant());
      pump(driver);
    },
    release: () => releaseOrders(state),
    track(tracked, cause, calledAt) {
      trackOrder(state, tracked, cause, instant(), calledAt);
      pump(driver);
    },
    nudge(key) {
      const isTracked = nudgeOrder(state, key, instant());
      if (isTracked) pump(driver);
      return isTracked;
    },
    get: (key) => state.entries.get(key)?.tracked.order,
    recall: (key) => state.entries.get(key)?.tracked,
    ask: (order, deadlineMs) => ask(driver, order, deadlineMs),
    status: () => gatewayStatus(state, instant()),
    async stop() {
      driver.apply = null;
      driver.cancelTimer();
      for (const question of state.questions.waiting) question.settle('stopped');
      await Promise.allSettled(driver.running);
    },
  };
}

const instantOf = (clock: Clock): Instant => ({ now: clock.now(), nowMs: clock.monotonicMs() });

/** Starts what may start now, then sets the timer for the next moment at which something may. */
function pump(driver: Driver): void {
  const { state, running, apply } = driver;
  const { clock } = driver.options;
  driver.cancelTimer();
  if (apply === null) return;
  for (;;) {
    const question = nextQuestion(state, clock.monotonicMs());
    if (question !== null && 'start' in question) {
      startQuestion(state, question.start, clock.monotonicMs());
      continue;
    }
    const step = nextStep(state, clock.monotonicMs());
    if (step === null || 'waitMs' in step) {
      const waitMs = Math.min(question?.waitMs ?? Infinity, step?.waitMs ?? Infinity);
      if (waitMs === Infinity) return;
      driver.cancelTimer = clock.after(Math.max(1, Math.ceil(waitMs)), () => pump(driver));
      return;
    }
    const run = poll(driver, startRequest(state, step.start, instantOf(clock)), apply).finally(() => {
      running.delete(run);
      pump(driver);
    });
    running.add(run);
    // Read the clock after the start, so that a delay before it does not date the request too early.
    spend(state.budget, clock.monotonicMs());
  }
}

/** See `AskStatus`. */
async function ask(driver: Driver, order: WatchedOrder, deadlineMs: number): Promise<Asked> {
  const { state, options } = driver;
  const { clock, readForQuestion = options.read, onEvent } = options;
  const endMs = clock.monotonicMs() + deadlineMs;
  const endpoint = endpointOf(order);
  const refusal = await turnOf(driver, endpoint, deadlineMs);
  if (refusal !== null) return { asked: false, reason: refusal };
  const { now: askedAt, nowMs: startMs } = instantOf(clock);
  let reply: HttpReply = NO_REPLY;
  try {
    reply = await readForQuestion(order, Math.max(1, Math.floor(endMs - startMs)));
  } catch {
    // As no answer: nobody may take it for more.
  } finally {
    const hasChanged = endQuestion(
      state,
      { endpoint, key: watchKey(order), startMs },
      reply,
      clock.monotonicMs(),
    );
    if (hasChanged) onEvent({ type: 'circuits', open: openCircuits(state.circuits) });
    pump(driver);
  }
  return { asked: true, reply, askedAt, durationMs: clock.monotonicMs() - startMs };
}

const NO_REPLY: HttpReply = {
  httpStatus: null,
  outcome: 'unknown',
  errorType: 'connection',
  body: null,
  bodyBytes: 0,
  retryAfterMs: null,
};

/** Resolves with null when it is the question's turn, and it counts as under way; else with why it is not. */
function turnOf(driver: Driver, endpoint: Question['endpoint'], limitMs: number): Promise<NotAsked | null> {
  const { state, options, apply } = driver;
  if (apply === null) return Promise.resolve('stopped');
  return new Promise((resolve) => {
    const question: Question = {
      endpoint,
      settle(refusal) {
        state.questions.waiting.delete(question);
        cancel();
        resolve(refusal);
      },
    };
    const cancel = options.clock.after(limitMs, () => question.settle('budget'));
    const refusal = enqueueQuestion(state, question, options.clock.monotonicMs());
    if (refusal === null) pump(driver);
    else question.settle(refusal);
  });
}

async function poll(driver: Driver, request: StatusRequest, apply: ApplyReply): Promise<void> {
  const { state } = driver;
  const { clock, onEvent } = driver.options;
  let reply: HttpReply | null = null;
  try {
    reply = await send(driver, request);
    const replied = instantOf(clock);
    const applied = await apply({
      ...reply,
      ...request,
      pollId: `${request.startedAt}-${(driver.sequence++).toString(36)}`,
      repliedAt: replied.now,
      durationMs: replied.nowMs - request.startMs,
    });
    finishRead(state, request, applied, replied, instantOf(clock));
    noteSilence(driver, reply);
  } catch (error) {
    onEvent({ type: 'apply_failed', error });
    retryRead(state, request.key, clock.monotonicMs());
  } finally {
    releasePending(state, reply);
  }
}

/** Logs once that the gateway no longer answers, and once that it does; a refusal has its circuit. */
function noteSilence(driver: Driver, { outcome, errorType }: HttpReply): void {
  const isSilent = isBlind(driver.state.watermark) && (driver.isSilent || outcome === 'unknown');
  if (isSilent === driver.isSilent) return;
  driver.isSilent = isSilent;
  driver.options.onEvent({ type: 'blind', reason: isSilent ? errorType : null });
}

async function send(driver: Driver, request: StatusRequest): Promise<HttpReply> {
  const { state, options } = driver;
  let reply: HttpReply | null = null;
  try {
    reply = await options.read(request.order);
    return reply;
  } finally {
    const hasChanged = receiveReply(state, request, reply, options.clock.monotonicMs());
    if (hasChanged) options.onEvent({ type: 'circuits', open: openCircuits(state.circuits) });
    pump(driver);
  }
}
