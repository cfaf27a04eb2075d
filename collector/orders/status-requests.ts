import { endpointOf, type Endpoint, type HttpReply } from '../../schemas/polling.ts';
import type { EpochMicros } from '../../schemas/rows.ts';
import { watchKey, type PollCause } from '../../schemas/watch.ts';
import { learn, reopen } from './advance.ts';
import { noteDatedRead } from './clock-skew.ts';
import { isCircuitOpen, noteOutcome, noteProbe } from './circuits.ts';
import { takeFirst } from './endpoint-queues.ts';
import { entryOf, nextAllowed, schedule, scheduleUrgent, type GatewayState } from './gateway-state.ts';
import { budgetWaitMs, isTrying, noteAnswer } from './request-budget.ts';
import {
  orderNow,
  plannedCause,
  saysSomething,
  wallAhead,
  type Entry,
  type Instant,
} from './poller-entry.ts';
import type { AppliedReply, TrackedOrder } from './poller-contract.ts';
import { notePoll } from './watermark-tracker.ts';

/** An order whose reply could not be applied is read again after this time. */
const RETRY_APPLY_MS = 5_000;

/** What may be done now: start a request for an order, or wait; null: until something else happens. */
export type NextStep = { readonly start: string } | { readonly waitMs: number } | null;

export function nextStep(state: GatewayState, nowMs: number): NextStep {
  const { policy, limits, queues, entries } = state;
  if (state.inFlight >= (isTrying(state.budget) ? 1 : policy.concurrency)) return null;
  if (state.pendingReplies >= limits.maxPendingReplies || state.pendingBytes >= limits.maxPendingBytes)
    return null;
  for (;;) {
    const { key, waitMs } = nextAllowed(state, nowMs);
    if (key === null) return waitMs === null ? null : { waitMs };
    const budgetMs = budgetWaitMs(state.budget, nowMs);
    if (budgetMs > 0) return { waitMs: budgetMs };
    if (entries.has(key)) return { start: key };
    takeFirst(queues, key);
  }
}

/** A request that is to be sent. */
export interface StatusRequest extends TrackedOrder {
  readonly key: string;
  readonly endpoint: Endpoint;
  readonly cause: PollCause;
  readonly callbackAt: EpochMicros | null;
  readonly startedAt: EpochMicros;
  readonly startMs: number;
  readonly latenessMs: number;
}

/** Starts what `nextStep` named. */
export function startRequest(state: GatewayState, key: string, at: Instant): StatusRequest {
  const { queues, circuits } = state;
  const entry = entryOf(state, key);
  takeFirst(queues, key);
  const startMs = at.nowMs;
  state.requests += 1;
  state.inFlight += 1;
  state.pendingReplies += 1;
  state.lastProgressMs = startMs;
  entry.inFlight = true;
  entry.urgent = false;
  entry.again = false;
  entry.lastStartMs = startMs;
  const endpoint = endpointOf(entry.tracked.order);
  const cause = isCircuitOpen(circuits, endpoint) ? 'probe' : entry.cause;
  const callbackAt = cause === 'callback' ? entry.calledAt : null;
  entry.calledAt = null;
  noteProbe(circuits, endpoint, startMs);
  return {
    key,
    endpoint,
    cause,
    callbackAt,
    order: orderNow(entry, at),
    known: entry.tracked.known,
    readAt: entry.tracked.readAt,
    loadedIn: entry.tracked.loadedIn,
    startedAt: at.now,
    startMs,
    latenessMs: Math.max(0, startMs - entry.dueMs),
  };
}

/** A reply is there, or the request has failed. True when a circuit opened or closed by it. */
export function receiveReply(
  state: GatewayState,
  { key, endpoint, startMs }: StatusRequest,
  reply: HttpReply | null,
  nowMs: number,
): boolean {
  state.inFlight -= 1;
  if (reply === null) return false;
  state.pendingBytes += reply.bodyBytes;
  noteAnswer(state.budget, reply, startMs, nowMs);
  return noteOutcome(state.circuits, endpoint, reply.outcome, key, nowMs);
}

/** A reply is applied or has failed: it no longer counts against the limits. */
export function releasePending(state: GatewayState, reply: HttpReply | null): void {
  state.pendingReplies -= 1;
  state.pendingBytes -= reply?.bodyBytes ?? 0;
}

/** A reply could not be applied: the order is read again after a while. */
export function retryRead(state: GatewayState, key: string, nowMs: number): void {
  const entry = entryOf(state, key);
  entry.inFlight = false;
  schedule(state, key, entry, nowMs + RETRY_APPLY_MS, false);
}

/**
 * What follows from a reply is stored: the order is read again at its next time, or forgotten.
 * @param replied when the reply was there
 */
export function finishRead(
  state: GatewayState,
  { key, startedAt }: Pick<StatusRequest, 'key' | 'startedAt'>,
  applied: AppliedReply,
  replied: Instant,
  at: Instant,
): void {
  const { entries, watermark: tracker, owns } = state;
  const entry = entryOf(state, key);
  const { order, known, loadedIn, readAt, outcome } = applied;
  notePoll(tracker, outcome, startedAt);
  noteClock(state, applied, entry.tracked.readAt ?? null, replied.now);
  // The order's times are those of the wall clock at the reply, whatever it shows by now.
  entry.wallAhead = wallAhead(replied);
  entry.inFlight = false;
  state.lastProgressMs = at.nowMs;
  const { idKind, orderId } = entry.tracked.order;
  const newKey = order.orderId === orderId && order.idKind === idKind ? key : watchKey(order);
  if (newKey !== key) {
    entries.delete(key);
    const other = entries.get(newKey);
    if (other !== undefined) return mergeInto(other, applied);
  }
  const hasEnded = order.phase !== 'active' && order.phase !== 'rereading';
  if (hasEnded && !entry.again) return void entries.delete(key);
  const latest = learn(order, entry.tracked.order);
  entry.tracked = { order: hasEnded ? reopen(latest, at.now) : latest, known, loadedIn, readAt };
  // The owner goes on with the order from its stored state. Without a reply, what was asked for is still
  // to be done.
  if (!entry.again && saysSomething(outcome) && !owns(latest)) return void entries.delete(key);
  entries.set(newKey, entry);
  if (entry.again) return scheduleUrgent(state, newKey, entry, at);
  entry.cause = plannedCause(order);
  schedule(state, newKey, entry, (order.nextPollAt - entry.wallAhead) / 1000, false);
}

function noteClock(
  { clockSkew }: GatewayState,
  { order, newestItemAt }: AppliedReply,
  readBeforeAt: EpochMicros | null,
  observedAt: EpochMicros,
): void {
  if (newestItemAt === undefined) return;
  noteDatedRead(clockSkew, { order: watchKey(order), newestItemAt, observedAt, readBeforeAt });
}

/** The order was tracked by both of its ids: the entry under the gateway's own id keeps its schedule. */
function mergeInto(other: Entry, { order, known, loadedIn, readAt }: AppliedReply): void {
  const { tracked } = other;
  const kept = other.inFlight ? tracked : { known, loadedIn, readAt };
  other.tracked = { ...kept, order: learn(tracked.order, order) };
}
