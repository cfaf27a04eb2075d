import type { WatchMessage } from '../../schemas/watch.ts';
import type { Problem } from '../../schemas/problem.ts';

/** One that orders are handed over to: the running collector, Kafka, or the store for the next run. */
export interface Taker {
  /** For people, e.g. `the collector at http://127.0.0.1:8080`. */
  readonly name: string;
  /**
   * Resolves when there is room for more, so that polling keeps up with what it has. A wait that takes long
   * is told, with how many orders are due.
   */
  ready(signal: AbortSignal, onWaiting: (due: number) => void): Promise<void>;
  /**
   * Resolves once the orders are safe, with the problem of each that was refused, by its place. Handing an
   * order over twice does no harm.
   * @throws GatewatchError when the taker is gone
   */
  take(messages: readonly WatchMessage[], signal: AbortSignal): Promise<ReadonlyMap<number, Problem>>;
  close(): Promise<void>;
}

/** The most that one call of `take` is given. */
export const CHUNK = 500;
