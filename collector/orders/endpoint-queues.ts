import { ENDPOINTS, type Endpoint } from '../../schemas/polling.ts';
import { countDue, createDueQueue, peekDue, popDue, pushDue, removeDue, type DueQueue } from './due-queue.ts';

interface EndpointQueue {
  readonly endpoint: Endpoint;
  readonly urgent: boolean;
  readonly due: DueQueue;
}

/**
 * The queues of one gateway: urgent ones before scheduled ones, each per endpoint, so that orders of an
 * endpoint whose circuit is open never hold up those of another one.
 */
export interface EndpointQueues {
  readonly all: readonly EndpointQueue[];
  /** In which queue an order is. */
  readonly queueOf: Map<string, EndpointQueue>;
}

export function createEndpointQueues(): EndpointQueues {
  const all = [true, false].flatMap((urgent) =>
    ENDPOINTS.map((endpoint) => ({ endpoint, urgent, due: createDueQueue() })),
  );
  return { all, queueOf: new Map() };
}

/** Queues an order, and takes it out of the queue in which it was. */
export function enqueue(
  { all, queueOf }: EndpointQueues,
  endpoint: Endpoint,
  key: string,
  dueMs: number,
  urgent: boolean,
): void {
  const before = queueOf.get(key);
  if (before !== undefined) removeDue(before.due, key);
  const queue = all.find((one) => one.endpoint === endpoint && one.urgent === urgent) as EndpointQueue;
  pushDue(queue.due, key, dueMs);
  queueOf.set(key, queue);
}

export function dequeue({ queueOf }: EndpointQueues, key: string): void {
  const queue = queueOf.get(key);
  if (queue !== undefined) removeDue(queue.due, key);
  queueOf.delete(key);
}

/** Takes the order that `nextDue` named out of its queue. */
export function takeFirst({ queueOf }: EndpointQueues, key: string): void {
  const queue = queueOf.get(key);
  if (queue !== undefined) popDue(queue.due);
  queueOf.delete(key);
}

/** What to start now, or how long until something may start; `waitMs` null: nothing is queued. */
export function nextDue(
  { all }: EndpointQueues,
  nowMs: number,
  blockedMs: (endpoint: Endpoint) => number,
): { key: string | null; waitMs: number | null } {
  let best: { key: string; dueMs: number; urgent: boolean } | null = null;
  let waitMs: number | null = null;
  for (const { endpoint, urgent, due } of all) {
    const head = peekDue(due);
    if (head === undefined) continue;
    const wait = Math.max(head.dueMs - nowMs, blockedMs(endpoint));
    if (wait > 0) {
      waitMs = Math.min(waitMs ?? wait, wait);
    } else if (best === null || (best.urgent === urgent && head.dueMs < best.dueMs)) {
      best = { key: head.key, dueMs: head.dueMs, urgent };
    }
  }
  return best === null ? { key: null, waitMs } : { key: best.key, waitMs: 0 };
}

/** When the order that has waited longest fell due; null: nothing is queued. */
export function oldestDueMs({ all }: EndpointQueues): number | null {
  const heads = all.map(({ due }) => peekDue(due)?.dueMs).filter((dueMs) => dueMs !== undefined);
  return heads.length === 0 ? null : Math.min(...heads);
}

export function countDueOrders({ all }: EndpointQueues, nowMs: number): number {
  return all.reduce((sum, { due }) => sum + countDue(due, nowMs), 0);
}
