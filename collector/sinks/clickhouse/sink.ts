import type { EpochMicros } from '../../../schemas/rows.ts';
import type { Instruments } from '../../telemetry/instruments.ts';
import { noInstruments } from '../../telemetry/instruments.ts';
import type { RowSink, SinkStatus } from '../../../schemas/sink.ts';
import { createPendingWrite, createQueue } from './collecting.ts';
import type { Gathered, PendingWrite } from './collecting.ts';
import type { FrozenBatch } from './deliver.ts';
import { belongsInLedger, deliverBatch, freezeBatch } from './deliver.ts';
import type { FrozenInsert } from '../../../store/frozen-insert.ts';
import type { RetryPolicy } from '../retry.ts';
import { DEFAULT_RETRY, stoppedError, untilAnswered } from '../retry.ts';
import { loadBatchSeq } from './batch-seq.ts';
import type { Store } from '../../../store/store.ts';
import { isDataError, StoreError } from '../../../store/store-error.ts';

export interface ClickHouseSinkOptions {
  store: Store;
  /** Stays the same over restarts: batch numbers and the span cursor belong to it. */
  collectorId: string;
  /** A batch is sent when it has as many rows. @default 25000 */
  maxBatchRows?: number;
  /**
   * While batches follow each other, the least time between the starts of two. Idle, rows go at once.
   * @default 250
   */
  maxAgeMs?: number;
  /** @default DEFAULT_RETRY */
  retry?: Partial<RetryPolicy>;
  /** @default none are recorded */
  instruments?: Instruments;
  /** Told of failed attempts and of rows refused; never gets row content. @default silent */
  log?: SinkLog;
  /** Called after each acknowledged batch that is in the ledger. @default nothing */
  onAcknowledged?: (batchSeq: number) => void;
  /** @default the wall clock */
  nowMicros?: () => EpochMicros;
  /** @default performance.now */
  monotonicMs?: () => number;
}

export interface ClickHouseSink extends RowSink {
  /**
   * Finds out what the last run left, and completes it; repeated until the store answers. The first `write`
   * does it otherwise.
   *
   * @throws GatewatchError `stopped`
   */
  open(): Promise<void>;
}

export interface SinkLog {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
}

interface ReadyBatch {
  readonly gathered: Gathered;
  readonly frozen: FrozenBatch;
}

/**
 * The sink into ClickHouse: collects bundles into batches, freezes a batch, and sends it until the store has
 * answered for every row. One batch is under way at a time, so that acknowledgements keep the order of the
 * calls; the next one is encoded meanwhile.
 */
export function createClickHouseSink(options: ClickHouseSinkOptions): ClickHouseSink {
  const { store, collectorId } = options;
  const maxBatchRows = options.maxBatchRows ?? 25_000;
  const maxAgeMs = options.maxAgeMs ?? 250;
  const retry: RetryPolicy = { ...DEFAULT_RETRY, ...options.retry };
  const instruments = options.instruments ?? noInstruments();
  const log = options.log ?? { info: () => undefined, warn: () => undefined };
  const nowMicros = options.nowMicros ?? (() => Date.now() * 1000);
  const monotonicMs = options.monotonicMs ?? (() => performance.now());

  const queue = createQueue();
  /** In the order of the calls. */
  const unsettled = new Set<PendingWrite>();
  const abort = new AbortController();
  let opening: Promise<void> | null = null;
  let lastSeq: number | null = null;
  let current: Promise<void> | null = null;
  let unsettledRows = 0;
  let next: ReadyBatch | null = null;
  let timer: NodeJS.Timeout | null = null;
  let lastStartMs = -Infinity;
  let lastAckMs = -Infinity;
  let closing = false;
  const state = {
    lastAckAt: null as EpochMicros | null,
    retries: 0,
    ambiguous: 0,
  };
  /**
   * What the store does not take at the moment, and why: tables are sent side by side, and one may go on
   * while another waits.
   */
  const failing = new Map<object, string>();

  /** Starts what is due, or sees to it that it is started later. */
  function pump(): void {
    if (abort.signal.aborted) return;
    if (current !== null) {
      if (next === null && lastSeq !== null && queue.rows() >= maxBatchRows) next = prepare();
      return;
    }
    if (next === null && queue.isEmpty()) return;
    const waitMs =
      closing || next !== null || queue.rows() >= maxBatchRows
        ? 0
        : lastStartMs + maxAgeMs - performance.now();
    if (waitMs > 0) timer ??= setTimeout(onTimer, waitMs);
    else start();
  }

  function onTimer(): void {
    timer = null;
    pump();
  }

  function start(): void {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    lastStartMs = performance.now();
    current = deliverNext().finally(() => {
      current = null;
      pump();
    });
  }

  async function deliverNext(): Promise<void> {
    // What arrives in the same turn of the event loop travels together.
    await new Promise(setImmediate);
    try {
      await open();
    } catch (error) {
      settle(queue.clear(), error);
      return;
    }
    let ready = next;
    next = null;
    ready ??= prepare();
    if (ready !== null) await deliver(ready);
  }

  /** Takes rows from the queue and freezes them. Only called once the number of the last batch is known. */
  function prepare(): ReadyBatch | null {
    const gathered = queue.take(maxBatchRows);
    if (gathered === null) return null;
    try {
      const batchSeq = (lastSeq ?? 0) + (belongsInLedger(gathered) ? 1 : 0);
      const frozen = freezeBatch(gathered, { collectorId, batchSeq }, maxBatchRows);
      lastSeq = batchSeq;
      return { gathered, frozen };
    } catch (error) {
      settle(gathered.writes, error);
      return null;
    }
  }

  async function deliver({ gathered, frozen }: ReadyBatch): Promise<void> {
    const startedMs = performance.now();
    try {
      const report = await deliverBatch(frozen, { send, nowMicros });
      state.lastAckAt = nowMicros();
      lastAckMs = monotonicMs();
      instruments.batchRows.record(frozen.rowCount);
      instruments.batchDuration.record((performance.now() - startedMs) / 1000);
      for (const [table, rows] of report.stored) instruments.stored.add(rows, { table });
      if (report.refused > 0) {
        instruments.rejects.add(report.refused, { reason: 'row_refused_by_store' });
        log.warn(
          { rows: report.refused, batchSeq: frozen.stamp.batchSeq },
          'rows refused by the store went to rejects',
        );
      }
      settle(gathered.writes);
      if (frozen.inLedger) options.onAcknowledged?.(frozen.stamp.batchSeq);
    } catch (error) {
      settle(gathered.writes, error);
    }
  }

  async function send(insert: FrozenInsert): Promise<void> {
    try {
      await untilAnswered(() => store.insertFrozen(insert, abort.signal), retrying(insert, isDataError));
    } finally {
      // Any answer of the store counts, also that a row is wrong.
      if (!abort.signal.aborted && failing.delete(insert))
        log.info({ table: insert.tableName }, 'the store takes rows again');
    }
  }

  function retrying(what: object, isFinal: (error: unknown) => boolean): Parameters<typeof untilAnswered>[1] {
    return {
      policy: retry,
      signal: abort.signal,
      isFinal,
      onFailure: (error, attempt) => {
        state.retries += 1;
        const message = error instanceof Error ? error.message : 'unknown error';
        failing.set(what, message);
        const code = error instanceof StoreError ? error.code : 'internal';
        instruments.insertRetries.add(1, { code });
        if (error instanceof StoreError && error.ambiguous) {
          state.ambiguous += 1;
          instruments.ambiguousInserts.add(1);
        }
        if (attempt === 1 || attempt % 20 === 0)
          log.warn({ code, attempt, error: message }, 'insert failed, repeating');
      },
    };
  }

  function settle(writes: readonly PendingWrite[], error?: unknown): void {
    for (const write of writes) {
      unsettled.delete(write);
      unsettledRows -= write.rowCount;
      write.settle(error);
    }
  }

  function open(): Promise<void> {
    const completed = new Set<string>();
    opening ??= untilAnswered(
      () => loadBatchSeq(store, collectorId, completed),
      retrying(queue, () => false),
    ).then((seq) => {
      lastSeq = seq;
      failing.delete(queue);
    });
    return opening;
  }

  function stillMs(): number | null {
    const [oldest] = unsettled;
    return oldest === undefined ? null : monotonicMs() - Math.max(oldest.sinceMs, lastAckMs);
  }

  return {
    open,
    async write(bundle, provenance) {
      if (closing) throw stoppedError();
      const { write, done } = createPendingWrite(bundle, provenance, monotonicMs());
      unsettled.add(write);
      unsettledRows += write.rowCount;
      queue.add(write);
      pump();
      return done;
    },
    status: (): SinkStatus => ({
      state: failing.size === 0 ? 'ok' : 'retrying',
      backlogRows: unsettledRows,
      stillMs: stillMs(),
      inFlight: current === null ? 0 : 1,
      lastAckAt: state.lastAckAt,
      retries: state.retries,
      ambiguous: state.ambiguous,
      lastError: [...failing.values()].at(-1) ?? null,
    }),
    async stop(graceMs) {
      closing = true;
      pump();
      const deadline = setTimeout(() => abort.abort(), graceMs);
      for (let flight = current; flight !== null; flight = current) await flight;
      clearTimeout(deadline);
      abort.abort();
      // Nothing is under way any more: whoever still waits gets the news.
      settle([...(next?.gathered.writes ?? []), ...queue.clear()], stoppedError());
      next = null;
    },
  };
}
