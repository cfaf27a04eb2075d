import { settlesWithin, sleep } from '../../../schemas/deadline.ts';
import type { SpanExporterStatus } from '../../../schemas/sink.ts';
import type { SpanData } from '../../../schemas/span.ts';
import type { Instruments } from '../../telemetry/instruments.ts';
import { noInstruments } from '../../telemetry/instruments.ts';
import type { Store } from '../../../store/store.ts';
import type { RetryPolicy } from '../retry.ts';
import { DEFAULT_RETRY, untilAnswered } from '../retry.ts';
import { isRefusal, sendOrBisect } from './send-or-bisect.ts';
import type { SpanSender } from './sender.ts';
import type { SpanRows } from './stored-rows.ts';
import { nextWindow, readCursor, readLastBatch, readRows } from './stored-rows.ts';

export interface SpanExporterOptions {
  store: Store;
  sender: SpanSender;
  /** Whose rows are exported: the `collectorId` of the sink. */
  collectorId: string;
  /** Rows into spans, pure. */
  toSpans: (rows: SpanRows) => readonly SpanData[];
  /** Name of the cursor in the store: a second exporter needs one of its own. @default 'otlp' */
  exporter?: string;
  /** Spans in one request. @default 500 */
  batchSize?: number;
  /** History items read in one go; a batch is never split. @default 5000 */
  windowRows?: number;
  /** Least time between two looks at the store while nothing waits. @default 1000 */
  intervalMs?: number;
  /** @default DEFAULT_RETRY */
  retry?: Partial<RetryPolicy>;
  /** @default none are recorded */
  instruments?: Instruments;
  /** @default silent */
  log?: SpanExporterLog;
}

export interface SpanExporterLog {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
}

export interface SpanExporter {
  /** Tells that a batch has been acknowledged. */
  notify(batchSeq: number): void;
  status(): SpanExporterStatus;
  /** Exports what is stored already, within `graceMs`. Never rejects; what is left waits in the store. */
  stop(graceMs: number): Promise<void>;
}

/**
 * Exports payment spans from a cursor over stored rows: a span is offered until the receiver takes it, over
 * restarts of both. Ids are derived from content, so that the repetition after a crash between sending and
 * moving the cursor gives the same spans again. Starts at once.
 */
export function createSpanExporter(options: SpanExporterOptions): SpanExporter {
  const { store, sender, collectorId, toSpans } = options;
  const exporter = options.exporter ?? 'otlp';
  const batchSize = options.batchSize ?? 500;
  const windowRows = options.windowRows ?? 5000;
  const intervalMs = options.intervalMs ?? 1000;
  const policy: RetryPolicy = { ...DEFAULT_RETRY, ...options.retry };
  const instruments = options.instruments ?? noInstruments();
  const log = options.log ?? { info: () => undefined, warn: () => undefined };

  /** No new window is begun. */
  const stopping = new AbortController();
  /** What is under way is given up. */
  const abort = new AbortController();
  let cursor = 0;
  let savedCursor = 0;
  let lastBatch = 0;
  let spansExported = 0;
  let lastError: string | null = null;
  let wake: (() => void) | null = null;

  async function run(): Promise<void> {
    cursor = await persistently('read the cursor', () => readCursor(store, collectorId, exporter));
    savedCursor = cursor;
    const last = await persistently('read the ledger', () => readLastBatch(store, collectorId));
    lastBatch = Math.max(lastBatch, last, cursor);
    while (!stopping.signal.aborted) {
      if (cursor >= lastBatch) await news();
      else if (await exportWindow()) continue;
      // New batches come several a second; looking once a second spares the store.
      await sleep(intervalMs, stopping.signal);
    }
    // What was stored before the stop still goes out, as far as the grace allows.
    while (cursor < lastBatch && !abort.signal.aborted) await exportWindow();
  }

  /** Exports the next batches; false when there are none. */
  async function exportWindow(): Promise<boolean> {
    const window = await persistently('read the ledger', () =>
      nextWindow(store, collectorId, cursor, windowRows),
    );
    if (window === null) {
      // The ledger is the truth: what was announced is not there, e.g. because its rows have expired.
      lastBatch = cursor;
      return false;
    }
    const rows = await persistently('read rows', () => readRows(store, collectorId, window));
    const spans = toSpans(rows);
    for (let from = 0; from < spans.length; from += batchSize) {
      const part = spans.slice(from, from + batchSize);
      const refused = await sendOrBisect(part, (some) =>
        persistently('export spans', () => sender.send(some), isRefusal),
      );
      spansExported += part.length - refused.length;
      instruments.spansExported.add(part.length - refused.length);
      instruments.spansRefused.add(refused.length);
      for (const { traceId, spanId } of refused)
        log.warn({ traceId, spanId }, 'the receiver refused a span for good; it stays in the store');
    }
    cursor = window.to;
    if (spans.length > 0) await saveCursor();
    return true;
  }

  async function saveCursor(): Promise<void> {
    if (savedCursor === cursor) return;
    const row = { collector_id: collectorId, exporter, batch_seq: cursor };
    await persistently('save the cursor', () => store.insert('exportCursor', [row]));
    savedCursor = cursor;
  }

  async function persistently<T>(
    what: string,
    attempt: () => Promise<T>,
    isFinal: (error: unknown) => boolean = () => false,
  ): Promise<T> {
    const result = await untilAnswered(attempt, {
      policy,
      signal: abort.signal,
      isFinal,
      onFailure: (error, failures) => {
        lastError = error instanceof Error ? error.message : 'unknown error';
        if (what === 'export spans') instruments.spanExportFailures.add(1);
        if (failures === 1 || failures % 20 === 0)
          log.warn({ failures, error: lastError }, `cannot ${what}, repeating`);
      },
    });
    if (lastError !== null) log.info({ cursor }, 'span export works again');
    lastError = null;
    return result;
  }

  async function news(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    wake = resolve;
    if (cursor < lastBatch || stopping.signal.aborted) return;
    await promise;
  }

  async function finish(): Promise<void> {
    await done;
    await saveCursor().finally(() => sender.close());
  }

  // The loop ends by `stop` alone: everything else in it is repeated.
  const done = run().catch((error: unknown) => {
    if (!abort.signal.aborted) {
      lastError = error instanceof Error ? error.message : 'unknown error';
      log.warn({ error: lastError }, 'span export has ended');
    }
  });

  return {
    notify(batchSeq) {
      lastBatch = Math.max(lastBatch, batchSeq);
      wake?.();
    },
    status: () => ({
      state: lastError === null ? 'ok' : 'retrying',
      cursor,
      backlogBatches: Math.max(0, lastBatch - cursor),
      spansExported,
      lastError,
    }),
    async stop(graceMs) {
      stopping.abort();
      wake?.();
      // A receiver that is down now is not waited for: the cursor stays where it is.
      if (lastError !== null) abort.abort();
      await settlesWithin(finish(), graceMs);
      abort.abort();
    },
  };
}
