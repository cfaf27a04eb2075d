import type { EpochMicros, RowBundle } from './rows.ts';

/** Where a bundle came from. Summed into the one `ingest_ledger` row of the batch that carries the bundle. */
export interface Provenance {
  readonly kafkaRecords?: number;
  readonly httpDeliveries?: number;
  /** Requests to watch an order that did not come by Kafka. */
  readonly watchRequests?: number;
  readonly replies?: number;
  readonly historyItems?: number;
  /** Where to read the input again, e.g. `topic/partition@offset`. */
  readonly coordinates?: readonly string[];
  /** Of these, hints of other collectors, which leave no row. */
  readonly hintCoordinates?: readonly string[];
}

/** What a sink says of itself to `/readyz`, `/metrics` and `collector_status`. */
export interface SinkStatus {
  /** `retrying`: rows wait for a store that does not take them at present. */
  readonly state: 'ok' | 'retrying';
  /** Rows handed over and not yet acknowledged. */
  readonly backlogRows: number;
  /**
   * For how long rows have waited and nothing was acknowledged, in milliseconds; null when none wait. A
   * gateway with a long backlog of its own is slow, not stalled.
   */
  readonly stalledMs: number | null;
  /** Batches being written at this moment. */
  readonly inFlight: number;
  readonly lastAckAt: EpochMicros | null;
  /** Insert attempts that had to be repeated since the start. */
  readonly retries: number;
  /** Attempts whose outcome was unknown (no answer came) since the start. */
  readonly ambiguous: number;
  /** For people; null while `state` is `ok`. Never holds row content. */
  readonly lastError: string | null;
}

/** A place for rows: the ClickHouse sink, or the one in memory for tests and dry runs. */
export interface RowSink {
  /**
   * Takes the rows of one bundle and resolves when all of them are acknowledged, in whichever table. Rows of
   * two bundles are acknowledged in the order of the calls, but that replies of one gateway do not wait for
   * those of another, and what a sender or a person waits for overtakes the rest. A row which the store
   * refuses is put into `rejects` and counts as acknowledged.
   *
   * @throws GatewatchError `stopped` when the sink stops before the rows were acknowledged: they may or may
   * not be stored.
   */
  write(bundle: RowBundle, provenance?: Provenance): Promise<void>;
  status(): SinkStatus;
  /** Takes no more rows, writes those it has, and gives up after `graceMs`. Never rejects. Safe to repeat. */
  stop(graceMs: number): Promise<void>;
}

/** The same of the exporter of spans. */
export interface SpanExporterStatus {
  readonly state: 'ok' | 'retrying';
  /** Last batch that was sent in full. */
  readonly doneBatch: number;
  /** Batches acknowledged and not yet exported. */
  readonly backlogBatches: number;
  readonly spansExported: number;
  readonly lastError: string | null;
}
