import type { Problem } from '../../schemas/problem.ts';
import type { WatchMessage } from '../../schemas/watch.ts';
import type { IngestPort } from '../ingest-port.ts';

/** Where a backfill's orders go: the running collector, Kafka, or the store for the next run. */
export interface Destination {
  /** For people, e.g. `the collector at http://127.0.0.1:8080`. */
  readonly name: string;
  /**
   * Resolves when there is room for more, so that polling keeps up with what it has.
   * @param onWaiting called with how many orders are due, when that takes long
   */
  ready(signal: AbortSignal, onWaiting: (due: number) => void): Promise<void>;
  /**
   * Resolves once the orders are safe, with the problem of each that was refused, by its place. Sending an
   * order twice does no harm.
   * @throws GatewatchError when the destination does not answer any more
   */
  send(messages: readonly WatchMessage[], signal: AbortSignal): Promise<ReadonlyMap<number, Problem>>;
  close(): Promise<void>;
}

/** The most that one call of `send` is given. */
export const CHUNK = 500;

/** Kafka's watch topic, as the commands open it. */
export interface WatchTopicPort {
  /** Resolves when the brokers have the message. */
  send(message: WatchMessage): Promise<void>;
  stop(): Promise<void>;
}

/** Messages under way at once. */
const AT_ONCE = 50;

/** Leaves orders on the watch topic, where the next collector finds them. */
export function createKafkaDestination(watchTopic: WatchTopicPort, name: string): Destination {
  return {
    name: `Kafka topic ${name}`,
    ready: async () => undefined,
    async send(messages) {
      const left = messages.values();
      const sendNext = async (): Promise<void> => {
        for (const message of left) await watchTopic.send(message);
      };
      await Promise.all(Array.from({ length: AT_ONCE }, sendNext));
      return new Map();
    },
    close: () => watchTopic.stop(),
  };
}

/** Writes orders into what the collector keeps of watched orders: the next run finds them due. */
export function createStoreDestination(ingest: IngestPort, close: () => Promise<void>): Destination {
  return {
    name: 'the store, for the next run',
    ready: async () => undefined,
    async send(messages) {
      const problems = await ingest.takeWatchRequests(messages);
      // Nobody polls here, and the store has them: the list is only emptied.
      ingest.ordersToRead();
      const refused = new Map<number, Problem>();
      for (const [index, problem] of problems.entries()) if (problem !== null) refused.set(index, problem);
      return refused;
    },
    close,
  };
}
