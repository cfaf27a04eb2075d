import { createDueQueue, type DueQueue } from './due-queue.ts';
import { ENDPOINTS, type Endpoint } from '../../schemas/polling.ts';

export interface Lanes {
  push(endpoint: Endpoint, key: string, dueMs: number, urgent: boolean): void;
  remove(key: string): void;
  take(key: string): void;
  /** What to start now, or how long until something may start; `waitMs` null: nothing is queued. */
  next(
    nowMs: number,
    blockedMs: (endpoint: Endpoint) => number,
  ): { key: string | null; waitMs: number | null };
  oldestDueMs(): number | null;
  countDue(nowMs: number): number;
}

interface Lane {
  readonly endpoint: Endpoint;
  readonly urgent: boolean;
  readonly queue: DueQueue;
}

/**
 * The queues of one gateway: urgent ones before scheduled ones, each per endpoint, so that orders behind a
 * closed door (an open circuit) never hold up those behind an open one.
 */
export function createLanes(): Lanes {
  const lanes: Lane[] = [true, false].flatMap((urgent) =>
    ENDPOINTS.map((endpoint) => ({ endpoint, urgent, queue: createDueQueue() })),
  );
  const laneOf = new Map<string, Lane>();

  return {
    push(endpoint, key, dueMs, urgent) {
      laneOf.get(key)?.queue.remove(key);
      const lane = lanes.find((one) => one.endpoint === endpoint && one.urgent === urgent) as Lane;
      lane.queue.push(key, dueMs);
      laneOf.set(key, lane);
    },
    remove(key) {
      laneOf.get(key)?.queue.remove(key);
      laneOf.delete(key);
    },
    take(key) {
      laneOf.get(key)?.queue.pop();
      laneOf.delete(key);
    },
    next(nowMs, blockedMs) {
      let best: { key: string; dueMs: number; urgent: boolean } | null = null;
      let waitMs: number | null = null;
      for (const { endpoint, urgent, queue } of lanes) {
        const head = queue.peek();
        if (head === undefined) continue;
        const wait = Math.max(head.dueMs - nowMs, blockedMs(endpoint));
        if (wait > 0) {
          waitMs = Math.min(waitMs ?? wait, wait);
        } else if (best === null || (best.urgent === urgent && head.dueMs < best.dueMs)) {
          best = { ...head, urgent };
        }
      }
      return best === null ? { key: null, waitMs } : { key: best.key, waitMs: 0 };
    },
    oldestDueMs() {
      const heads = lanes.map(({ queue }) => queue.peek()?.dueMs).filter((dueMs) => dueMs !== undefined);
      return heads.length === 0 ? null : Math.min(...heads);
    },
    countDue: (nowMs) => lanes.reduce((sum, { queue }) => sum + queue.countDue(nowMs), 0),
  };
}
