import { watchKey, type PollCause, type WatchedOrder } from '../../schemas/watch.ts';
import { createBacklog } from './backlog.ts';
import { createBudget } from './budget.ts';
import { createCircuits } from './circuit.ts';
import {
  createEntry,
  isAnswer,
  learn,
  longestWaitMs,
  orderNow,
  plannedCause,
  resumedOrder,
  type Entry,
} from './entry.ts';
import { createLanes } from './endpoint-queues.ts';
import { endpointOf, type HttpAnswer } from '../../schemas/polling.ts';
import type { GatewayPoller, GatewayPollerOptions, Handled } from './poller-port.ts';
import { createSight } from './watermark-tracker.ts';

const NUDGE_MS = 15_000;
const RETRY_HANDLE_MS = 5_000;
/** A request may end so much after its deadline on a busy machine. */
const GRACE_MS = 5_000;
/** A whole gateway is left alone for no longer than this, whatever its `Retry-After` says. */
const MAX_PAUSE_MS = 300_000;

/**
 * Polls the orders of one gateway: due ones in order, callbacks first, within its budget, concurrency and
 * circuits.
 */
export function createGatewayPoller(options: GatewayPollerOptions): GatewayPoller {
  const { policy, clock } = options;
  const keeps = options.keeps ?? (() => true);
  const longestMs = longestWaitMs(policy);
  const entries = new Map<string, Entry>();
  const lanes = createLanes();
  const budget = createBudget(policy.requestsPerSecond);
  const circuits = createCircuits(policy.probeS * 1000);
  const sight = createSight();
  const running = new Set<Promise<void>>();
  const backlog = createBacklog(options);
  let inFlight = 0;
  let requests = 0;
  /** When a request was begun or an answer was stored last. */
  let movedMs = Number.NEGATIVE_INFINITY;
  let stopped = false;
  let sequence = 0;
  let cancelTimer = () => {};

  function enqueue(key: string, entry: Entry, dueMs: number, urgent: boolean): void {
    entry.dueMs = dueMs;
    entry.urgent = urgent;
    lanes.push(endpointOf(entry.watched.order), key, dueMs, urgent);
  }

  /** Somebody asks for an order that is watched: soon is enough, and not again and again. */
  function bringForward(key: string, entry: Entry): void {
    const soon = Math.max(clock.monotonicMs(), entry.lastStartMs + NUDGE_MS);
    if (!entry.inFlight && !entry.urgent && soon < entry.dueMs) enqueue(key, entry, soon, false);
  }

  /** Queues an order whose time was set by an earlier run or by another part. */
  function enqueueStored(key: string, entry: Entry): void {
    const waitMs = Math.min((entry.watched.order.nextPollAt - clock.now()) / 1000, longestMs);
    enqueue(key, entry, clock.monotonicMs() + waitMs, false);
  }

  /** Callbacks that come close together cause one read. */
  function enqueueUrgent(key: string, entry: Entry): void {
    entry.cause = 'callback';
    enqueue(key, entry, Math.max(clock.monotonicMs(), entry.lastStartMs + policy.mergeCallbacksMs), true);
  }

  /** Starts what may start now, then sets the timer for the next moment at which something may. */
  function pump(): void {
    cancelTimer();
    if (stopped) return;
    for (;;) {
      if (inFlight >= policy.concurrency || backlog.isFull(running.size)) return; // an ending request pumps again
      const nowMs = clock.monotonicMs();
      const next = lanes.next(nowMs, (endpoint) => circuits.waitMs(endpoint, nowMs));
      if (next.key === null) {
        if (next.waitMs !== null) arm(next.waitMs);
        return;
      }
      const wait = budget.waitMs(nowMs);
      if (wait > 0) return arm(wait);
      lanes.take(next.key);
      const entry = entries.get(next.key);
      if (entry === undefined) continue;
      start(next.key, entry, nowMs);
      // By the clock after the start: whoever is held up in between must not count it as made earlier than it
      // was.
      budget.take(clock.monotonicMs());
    }
  }

  function arm(waitMs: number): void {
    cancelTimer = clock.after(Math.max(1, Math.ceil(waitMs)), pump);
  }

  function start(key: string, entry: Entry, nowMs: number): void {
    requests += 1;
    movedMs = nowMs;
    entry.inFlight = true;
    entry.urgent = false;
    entry.again = false;
    entry.lastStartMs = nowMs;
    const endpoint = endpointOf(entry.watched.order);
    const cause = circuits.isOpen(endpoint) ? 'probe' : entry.cause;
    circuits.probing(endpoint, nowMs);
    const run = poll(key, entry, cause, nowMs).finally(() => {
      running.delete(run);
      pump();
    });
    running.add(run);
  }

  async function poll(key: string, entry: Entry, cause: PollCause, startMs: number): Promise<void> {
    const order = orderNow(entry, clock);
    const startedAt = clock.now();
    const latenessMs = Math.max(0, startMs - entry.dueMs);
    let bytes = 0;
    try {
      const reply = await request(key, order);
      bytes = reply.bodyBytes;
      const answeredMs = clock.monotonicMs();
      const answeredAt = clock.now();
      const handled = await options.handle({
        ...reply,
        order,
        known: entry.watched.known,
        endpoint: endpointOf(order),
        cause,
        pollId: `${startedAt}-${(sequence++).toString(36)}`,
        startedAt,
        answeredAt,
        durationMs: answeredMs - startMs,
        latenessMs,
      });
      sight.note(handled.outcome, startedAt);
      // The order's times are those of the wall clock at the answer, whatever it shows by now.
      entry.wallAhead = answeredAt - answeredMs * 1000;
      settle(key, entry, handled);
    } catch (error) {
      options.onEvent({ type: 'handle_failed', error });
      entry.inFlight = false;
      enqueue(key, entry, clock.monotonicMs() + RETRY_HANDLE_MS, false);
    } finally {
      backlog.stored(bytes);
    }
  }

  async function request(key: string, order: WatchedOrder): Promise<HttpAnswer> {
    inFlight += 1;
    try {
      const reply = await options.read(order);
      const nowMs = clock.monotonicMs();
      if (circuits.note(endpointOf(order), reply.outcome, key, nowMs)) {
        options.onEvent({ type: 'circuits', open: circuits.openCount() });
      }
      const overloaded = reply.httpStatus === 429 || reply.httpStatus === 503;
      if (overloaded) budget.pauseUntil(nowMs + Math.min(reply.retryAfterMs ?? 0, MAX_PAUSE_MS));
      backlog.received(reply.bodyBytes);
      return reply;
    } finally {
      inFlight -= 1;
      pump();
    }
  }

  function settle(key: string, entry: Entry, { order, known, outcome }: Handled): void {
    entry.inFlight = false;
    movedMs = clock.monotonicMs();
    const { idKind, orderId } = entry.watched.order;
    const newKey = order.orderId === orderId && order.idKind === idKind ? key : watchKey(order);
    if (newKey !== key) {
      entries.delete(key);
      const other = entries.get(newKey);
      if (other !== undefined) {
        // The order was watched by both of its ids: its entry under the service's id goes on as planned.
        const { watched } = other;
        other.watched = { order: learn(watched.order, order), known: other.inFlight ? watched.known : known };
        return;
      }
    }
    const ended = order.phase !== 'active' && order.phase !== 'rereading';
    if (ended && !entry.again) return void entries.delete(key);
    const latest = learn(order, entry.watched.order);
    entry.watched = { order: ended ? options.reopen(latest) : latest, known };
    // Whoever keeps the order goes on with it by its stored state. Without an answer, what was asked for is
    // still to be done.
    if (!entry.again && isAnswer(outcome) && !keeps(latest)) return void entries.delete(key);
    entries.set(newKey, entry);
    if (entry.again) return enqueueUrgent(newKey, entry);
    entry.cause = plannedCause(order);
    enqueue(newKey, entry, (order.nextPollAt - entry.wallAhead) / 1000, false);
  }

  function standsStillMs(nowMs: number): number {
    const next = lanes.next(nowMs, (endpoint) => circuits.waitMs(endpoint, nowMs));
    if (next.key === null || budget.waitMs(nowMs) > 0) return 0;
    const stillMs = nowMs - Math.max(movedMs, entries.get(next.key)?.dueMs ?? nowMs);
    // The gateway's slowness is no fault of ours, as long as each request keeps its deadline.
    const isAsked = inFlight >= policy.concurrency && stillMs <= policy.deadlineMs + GRACE_MS;
    return isAsked ? 0 : Math.max(0, stillMs);
  }

  return {
    resume(watched) {
      const key = watchKey(watched.order);
      if (entries.has(key)) return;
      const order = resumedOrder(watched.order, clock.now());
      const entry = createEntry({ ...watched, order }, plannedCause(order), clock);
      entries.set(key, entry);
      enqueueStored(key, entry);
      pump();
    },
    release() {
      for (const [key, { inFlight: underWay, urgent, watched }] of entries) {
        if (underWay || urgent || keeps(watched.order)) continue;
        lanes.remove(key);
        entries.delete(key);
      }
    },
    takeUp(key, watched, cause) {
      const present = entries.get(key);
      const entry = present ?? createEntry(watched, cause, clock);
      if (present === undefined) entries.set(key, entry);
      else entry.watched = { ...entry.watched, order: learn(entry.watched.order, watched.order) };
      if (cause !== 'callback') {
        if (present === undefined) enqueueStored(key, entry);
        else bringForward(key, entry);
      } else if (entry.inFlight) {
        entry.again = true;
      } else if (!entry.urgent) {
        enqueueUrgent(key, entry);
      }
      pump();
    },
    nudge(key) {
      const entry = entries.get(key);
      if (entry === undefined) return false;
      bringForward(key, entry);
      pump();
      return true;
    },
    get: (key) => entries.get(key)?.watched.order,
    status() {
      const nowMs = clock.monotonicMs();
      const behindMs = Math.max(0, nowMs - (lanes.oldestDueMs() ?? nowMs));
      return {
        watched: entries.size,
        due: lanes.countDue(nowMs),
        inFlight,
        concurrencyLimit: policy.concurrency,
        requests,
        requestsPerSecondLimit: policy.requestsPerSecond,
        circuitsOpen: circuits.openCount(),
        standsStillMs: standsStillMs(nowMs),
        watermarkAt: sight.watermark(clock.now(), behindMs),
        lastReplyAt: sight.lastReplyAt(),
      };
    },
    async stop() {
      stopped = true;
      cancelTimer();
      await Promise.allSettled(running);
    },
  };
}
