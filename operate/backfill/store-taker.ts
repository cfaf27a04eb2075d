import { randomUUID } from 'node:crypto';
import type { Problem } from '../../schemas/problem.ts';
import type { WatchRequest } from '../../schemas/watch-message.ts';
import { handleWatchRequests } from '../../collector/orders/watch-requests.ts';
import type { OfflinePipeline } from '../redrive/offline-pipeline.ts';
import type { Taker } from './taker.ts';

/**
 * Writes orders into the poller's memory in the store, by the collector's own step: the next run finds them
 * due.
 */
export function createStoreTaker(pipeline: OfflinePipeline, close: () => Promise<void>): Taker {
  return {
    name: 'the store, for the next run',
    ready: async () => undefined,
    async take(messages) {
      const requests = messages.map((message): WatchRequest => ({
        message,
        problem: null,
        source: 'backfill',
        deliveryId: randomUUID(),
        coordinates: null,
      }));
      const problems = await handleWatchRequests(requests, pipeline.context, {
        watchRequests: requests.length,
      });
      // Nobody polls here; what is to be read is in the store.
      pipeline.tracked();
      const refused = new Map<number, Problem>();
      for (const [index, problem] of problems.entries()) if (problem !== null) refused.set(index, problem);
      return refused;
    },
    async close() {
      await pipeline.stop();
      await close();
    },
  };
}
