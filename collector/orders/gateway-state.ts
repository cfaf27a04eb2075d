import type { PollConfig } from '../../schemas/config.ts';
import { endpointOf, type PollerStatus } from '../../schemas/polling.ts';
import type { EpochMicros } from '../../schemas/rows.ts';
import { watchKey, type PollCause, type WatchedOrder } from '../../schemas/watch.ts';
import { learn } from './advance.ts';
import { clockSkewSeconds, createClockSkewTracker, type ClockSkewTracker } from './clock-skew.ts';
import { circuitWaitMs, createCircuits, openCircuits, type Circuits } from './circuits.ts';
import {
  countDueOrders,
  createEndpointQueues,
  dequeue,
  enqueue,
  nextDue,
  oldestDueMs,
  type EndpointQueues,
} from './endpoint-queues.ts';
import { createQuestions, type Questions } from './questions.ts';
import {
  budgetWaitMs,
  createRequestBudget,
  isTrying,
  pausedForMs,
  type RequestBudget,
} from './request-budget.ts';
import {
  createEntry,
  longestWaitMs,
  plannedCause,
  resumedOrder,
  type Entry,
  type Instant,
} from './poller-entry.ts';
import type { TrackedOrder } from './poller-contract.ts';
import { createWatermarkTracker, watermark, type WatermarkTracker } from './watermark-tracker.ts';

/** Limits on what waits for the store's acknowledgement; at either of them polling pauses. */
export interface PendingLimits {
  /** Replies, requests under way included. @default 5000 */
  readonly maxPendingReplies?: number;
  /** Size of the replies in bytes, without those under way. @default 32 MiB */
  readonly maxPendingBytes?: number;
}

/**
 * All that is known about the polling of one gateway: which orders are tracked, what is due, what is in
 * flight, what the gateway lets us do. It changes by the functions of this file and of `status-requests.ts`,
 * none of which waits, asks a clock or sends anything: the poller carries out what they say.
 */
export interface GatewayState {
  readonly policy: PollConfig;
  readonly limits: Required<PendingLimits>;
  /**
   * True when this collector owns the order. An order of another collector is read once on request and then
   * dropped.
   */
  readonly owns: (order: WatchedOrder) => boolean;
  readonly entries: Map<string, Entry>;
  readonly queues: EndpointQueues;
  readonly budget: RequestBudget;
  readonly circuits: Circuits;
  readonly watermark: WatermarkTracker;
  readonly clockSkew: ClockSkewTracker;
  /** Requests that somebody waits for, beside what is polled. */
  readonly questions: Questions;
  /** Requests whose reply is not there yet. */
  inFlight: number;
  /** Requests whose reply is not applied yet, those in flight included. */
  pendingReplies: number;
  pendingBytes: number;
  /** Requests since the start of the process. */
  requests: number;
  /** When a request was started, or a reply applied, last. */
  lastProgressMs: number;
}

export function createGatewayState(
  policy: PollConfig,
  owns: GatewayState['owns'],
  { maxPendingReplies = 5000, maxPendingBytes = 32 << 20 }: PendingLimits = {},
): GatewayState {
  return {
    policy,
    limits: { maxPendingReplies, maxPendingBytes },
    owns,
    entries: new Map(),
    queues: createEndpointQueues(),
    budget: createRequestBudget(policy.requestsPerSecond),
    circuits: createCircuits(policy.probeS * 1000),
    watermark: createWatermarkTracker(),
    clockSkew: createClockSkewTracker(),
    questions: createQuestions(policy),
    inFlight: 0,
    pendingReplies: 0,
    pendingBytes: 0,
    requests: 0,
    lastProgressMs: Number.NEGATIVE_INFINITY,
  };
}

/** An order that is named again soon after its last read waits this long after that. */
const NUDGE_MS = 15_000;
/** How much later than its deadline a request may end on a busy machine. */
const GRACE_MS = 5_000;

/** See `TrackedOrders.resume`. */
export function resumeOrder(state: GatewayState, stored: TrackedOrder, at: Instant): void {
  const key = watchKey(stored.order);
  if (state.entries.has(key)) return;
  const order = resumedOrder(stored.order, at.now, state.policy);
  const entry = createEntry({ ...stored, order }, plannedCause(order), at);
  state.entries.set(key, entry);
  schedule(state, key, entry, storedDueMs(state, order, at), false);
}

/** See `TrackedOrders.release`. */
export function releaseOrders({ entries, queues, owns }: GatewayState): void {
  for (const [key, { inFlight, urgent, tracked }] of entries) {
    if (inFlight || urgent || owns(tracked.order)) continue;
    dequeue(queues, key);
    entries.delete(key);
  }
}

/** See `TrackedOrders.track`. */
export function trackOrder(
  state: GatewayState,
  named: TrackedOrder,
  cause: PollCause,
  at: Instant,
  calledAt: EpochMicros | null = null,
): void {
  const key = watchKey(named.order);
  const present = state.entries.get(key);
  const entry = present ?? createEntry(named, cause, at);
  if (present === undefined) state.entries.set(key, entry);
  else entry.tracked = { ...entry.tracked, order: learn(entry.tracked.order, named.order) };
  if (cause !== 'callback') {
    if (present === undefined) schedule(state, key, entry, storedDueMs(state, named.order, at), false);
    else bringForward(state, key, entry, at);
    return;
  }
  entry.calledAt ??= calledAt;
  if (entry.inFlight) entry.again = true;
  else if (!entry.urgent) scheduleUrgent(state, key, entry, at);
}

/** See `TrackedOrders.nudge`. */
export function nudgeOrder(state: GatewayState, key: string, at: Instant): boolean {
  const entry = state.entries.get(key);
  if (entry === undefined) return false;
  bringForward(state, key, entry, at);
  return true;
}

export function gatewayStatus(state: GatewayState, { now, nowMs }: Instant): PollerStatus {
  const { policy, queues } = state;
  const behindMs = Math.max(0, nowMs - (oldestDueMs(queues) ?? nowMs));
  return {
    watched: state.entries.size,
    due: countDueOrders(queues, nowMs),
    inFlight: state.inFlight,
    concurrencyLimit: policy.concurrency,
    requests: state.requests,
    requestsPerSecondLimit: policy.requestsPerSecond,
    circuitsOpen: openCircuits(state.circuits),
    stalledMs: stalledFor(state, nowMs),
    pausedMs: pausedForMs(state.budget, nowMs),
    watermarkAt: watermark(state.watermark, now, behindMs),
    lastReplyAt: state.watermark.lastReplyAt,
    clockSkewSeconds: clockSkewSeconds(state.clockSkew, now),
  };
}

function stalledFor(state: GatewayState, nowMs: number): number {
  const { policy, entries } = state;
  const { key } = nextAllowed(state, nowMs);
  if (key === null || budgetWaitMs(state.budget, nowMs) > 0) return 0;
  const stalledMs = nowMs - Math.max(state.lastProgressMs, entries.get(key)?.dueMs ?? nowMs);
  // The gateway's slowness is no fault of ours, as long as each request keeps its deadline.
  const most = isTrying(state.budget) ? 1 : policy.concurrency;
  const isAsked = state.inFlight >= most && stalledMs <= policy.deadlineMs + GRACE_MS;
  return isAsked ? 0 : Math.max(0, stalledMs);
}

/** The order that is to be read next, as far as circuits allow; or how long until one is. */
export const nextAllowed = ({ queues, circuits }: GatewayState, nowMs: number) =>
  nextDue(queues, nowMs, (endpoint) => circuitWaitMs(circuits, endpoint, nowMs));

/** Somebody asks for an order that is tracked: soon is enough, and not again and again. */
function bringForward(state: GatewayState, key: string, entry: Entry, { nowMs }: Instant): void {
  const soonMs = Math.max(nowMs, entry.lastStartMs + NUDGE_MS);
  if (!entry.inFlight && !entry.urgent && soonMs < entry.dueMs) schedule(state, key, entry, soonMs, false);
}

/** When an order is due whose time was set by an earlier run or by another part. */
function storedDueMs({ policy }: GatewayState, { nextPollAt }: WatchedOrder, at: Instant): number {
  return at.nowMs + Math.min((nextPollAt - at.now) / 1000, longestWaitMs(policy));
}

/** Queues an order before all that is merely due. Callbacks that come close together cause one read. */
export function scheduleUrgent(state: GatewayState, key: string, entry: Entry, { nowMs }: Instant): void {
  entry.cause = 'callback';
  schedule(state, key, entry, Math.max(nowMs, entry.lastStartMs + state.policy.mergeCallbacksMs), true);
}

/** Queues an order, in the place of an earlier time. */
export function schedule(
  { queues }: GatewayState,
  key: string,
  entry: Entry,
  dueMs: number,
  urgent: boolean,
): void {
  entry.dueMs = dueMs;
  entry.urgent = urgent;
  enqueue(queues, endpointOf(entry.tracked.order), key, dueMs, urgent);
}

export function entryOf({ entries }: GatewayState, key: string): Entry {
  const entry = entries.get(key);
  if (entry === undefined) throw new TypeError(`${key} is not tracked`);
  return entry;
}
