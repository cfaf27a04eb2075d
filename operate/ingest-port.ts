import type { KafkaRecord } from '../schemas/kafka.ts';
import type { Problem } from '../schemas/problem.ts';
import type { EpochMicros, RejectResolutionRow } from '../schemas/rows.ts';
import type { WatchMessage, WatchRef } from '../schemas/watch.ts';

/**
 * What backfill and redrive need of the collector: its own steps, from a record or a request to acknowledged
 * rows. `collector/offline.ts` implements it, and the commands hand it in.
 */
export interface IngestPort {
  /** Names of the configured gateways. */
  readonly gateways: ReadonlySet<string>;
  /** The configured topics: only their records can be taken. */
  readonly topics: ReadonlySet<string>;
  /**
   * Takes records of one partition. What was stored meanwhile is not stored twice. Resolves once all rows are
   * acknowledged, with whether each record was accepted.
   * @param firstReceivedAt when a record came first; null: now
   */
  takeRecords(
    records: readonly KafkaRecord[],
    firstReceivedAt: (record: KafkaRecord) => EpochMicros | null,
  ): Promise<readonly boolean[]>;
  /**
   * Has orders watched. Resolves once they are stored, with the problem of each, null where it was accepted.
   */
  takeWatchRequests(messages: readonly WatchMessage[]): Promise<readonly (Problem | null)[]>;
  /** The watch keys of those of these orders that are or were watched. */
  findWatched(orders: readonly WatchRef[]): Promise<ReadonlySet<string>>;
  /** Marks rejects as resolved now. */
  resolveRejects(rejects: readonly Omit<RejectResolutionRow, 'resolved_at'>[]): Promise<void>;
  /** The orders that what was taken since the last call wants to have read. */
  ordersToRead(): readonly WatchRef[];
}
