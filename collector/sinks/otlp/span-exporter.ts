import { JOBS } from '../../../schemas/names.ts';
import { settlesWithin, sleep } from '../../../schemas/deadline.ts';
import type { SpanExporterStatus } from '../../../schemas/sink.ts';
import type { Sampling } from '../../../schemas/sampling.ts';
import type { SpanData } from '../../../schemas/span.ts';
import type { Instruments } from '../../telemetry/instruments.ts';
import { noInstruments } from '../../telemetry/instruments.ts';
import type { Store } from '../../../store/store.ts';
import type { RetryPolicy } from '../retry.ts';
import { DEFAULT_RETRY, untilAnswered } from '../retry.ts';
import type { ExportChange, ExportState } from './export-state.ts';
import { hasBacklog, INITIAL_STATE, isProgressUnsaved, nextState, statusOf } from './export-state.ts';
import { isRefusal, sendOrBisect } from './send-or-bisect.ts';
import type { SpanSender } from './sender.ts';
import { readSampledRows, type Sampler } from './sampled-rows.ts';
import { readRows, type SpanRows } from './stored-rows.ts';
import { retryAfterMs } from './transport.ts';
import { nextWindows, readProgress, readLastBatch, type Window } from './windows.ts';

export interface SpanExporterOptions {
  store: Store;
  sender: SpanSender;
  /** Whose rows are exported: the `collectorId` of the sink. */
  collectorId: string;
  /** Rows into spans, pure; with what spans say of sampling. */
  toSpans: (rows: SpanRows, sampling: Sampling | null) => readonly SpanData[];
  /** @default all traces are exported, item by item */
  sampler?: Sampler | null;
  /** Spans in one request. @default 500 */
  batchSize?: number;
  /** History items read in one go; a batch is never split. @default 20000 */
  windowRows?: number;
  /**
   * Least time between two looks at the store, unless more waits than one look showed. @default 5000, which
   * is how long OpenTelemetry's own processor gathers spans
   */
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
  /** Reports that a batch has been acknowledged. */
  notify(batchSeq: number): void;
  status(): SpanExporterStatus;
  /** Exports what is stored already, within `graceMs`. Never rejects; what is left waits in the store. */
  stop(graceMs: number): Promise<void>;
}

/**
 * Exports payment spans from the stored rows of batch after batch: a span is offered until the receiver takes
 * it, over restarts of both. Ids are derived from content, so that the repetition after a crash between
 * sending and noting the progress gives the same spans again. Starts at once.
 */
export function createSpanExporter(options: SpanExporterOptions): SpanExporter {
  const stopping = new AbortController();
  const abort = new AbortController();
  let state = INITIAL_STATE;
  let wake: (() => void) | null = null;
  const running: RunningExporter = {
    settings: withDefaults(options),
    stopping: stopping.signal,
    aborted: abort.signal,
    state: () => state,
    change: (what) => void (state = nextState(state, what)),
    async waitForBacklog() {
      const { promise, resolve } = Promise.withResolvers<void>();
      wake = resolve;
      if (hasBacklog(state) || stopping.signal.aborted) return;
      await promise;
    },
  };
  const { settings, change } = running;

  // The loop ends by `stop` alone: everything else in it is repeated.
  const done = run(running).catch((error: unknown) => {
    if (abort.signal.aborted) return;
    change({ type: 'failed', error: messageOf(error) });
    settings.log.warn({ error: messageOf(error) }, 'span export has ended');
  });

  async function finish(): Promise<void> {
    await done;
    await saveProgress(running).finally(() => settings.sender.close());
  }

  return {
    notify(batch) {
      change({ type: 'announced', batch });
      wake?.();
    },
    status: () => statusOf(state),
    async stop(graceMs) {
      stopping.abort();
      wake?.();
      // A receiver that is down now is not waited for: the progress stays where it is.
      if (state.lastError !== null) abort.abort();
      await settlesWithin(finish(), graceMs);
      abort.abort();
    },
  };
}

type Settings = ReturnType<typeof withDefaults>;

function withDefaults(options: SpanExporterOptions) {
  return {
    ...options,
    sampler: options.sampler ?? null,
    batchSize: options.batchSize ?? 500,
    windowRows: options.windowRows ?? 20_000,
    intervalMs: options.intervalMs ?? 5000,
    policy: { ...DEFAULT_RETRY, ...options.retry },
    instruments: options.instruments ?? noInstruments(),
    log: options.log ?? { info: () => undefined, warn: () => undefined },
  };
}

/** What the steps of an exporter share. */
interface RunningExporter {
  readonly settings: Settings;
  /** No new window is begun. */
  readonly stopping: AbortSignal;
  /** What is under way is given up. */
  readonly aborted: AbortSignal;
  state(): ExportState;
  change(change: ExportChange): void;
  /** Resolves when there is a backlog, or at the stop. */
  waitForBacklog(): Promise<void>;
}

async function run(running: RunningExporter): Promise<void> {
  const { store, collectorId, intervalMs } = running.settings;
  const { stopping, aborted, state, change } = running;
  const doneBatch = await withRetry(running, 'read the progress', () => readProgress(store, collectorId));
  change({ type: 'resumed', doneBatch });
  const batch = await withRetry(running, 'read the ledger', () => readLastBatch(store, collectorId));
  change({ type: 'announced', batch });
  while (!stopping.aborted) {
    await running.waitForBacklog();
    if (await exportNext(running)) continue;
    // New batches come several a second, and a look costs the store nearly the same for one as for many.
    await sleep(intervalMs, stopping);
  }
  // What was stored before the stop still goes out, as far as the grace allows.
  while (hasBacklog(state()) && !aborted.aborted) await exportNext(running);
}

/** Exports the next batches; true when there were more. */
async function exportNext(running: RunningExporter): Promise<boolean> {
  const { store, collectorId, windowRows } = running.settings;
  const { state, change } = running;
  const { lastBatch } = state();
  const windows = await withRetry(running, 'read the ledger', () =>
    nextWindows(store, collectorId, state().doneBatch, windowRows),
  );
  if (windows.length === 0) change({ type: 'exhausted' });
  for (const window of windows) await exportWindow(running, window);
  return windows.length > 0 && state().doneBatch < lastBatch;
}

async function exportWindow(running: RunningExporter, window: Window): Promise<void> {
  let spans = 0;
  for await (const part of readParts(running, window)) {
    spans += part.length;
    await sendPart(running, part);
  }
  running.change({ type: 'exported', to: window.to });
  if (spans > 0) await saveProgress(running);
}

/** The spans of a window, as requests have them. */
async function* readParts(running: RunningExporter, window: Window): AsyncGenerator<readonly SpanData[]> {
  const { store, collectorId, sampler, toSpans, batchSize } = running.settings;
  if (sampler !== null) {
    const spans = await readSampledSpans(running, window, sampler);
    for (let from = 0; from < spans.length; from += batchSize) yield spans.slice(from, from + batchSize);
    return;
  }
  const { events, settlements } = await withRetry(running, 'read rows', () =>
    readRows(store, collectorId, window),
  );
  for (let from = 0; from < events.count + settlements.count; from += batchSize) {
    const to = from + batchSize;
    const closed = settlements.slice(Math.max(0, from - events.count), Math.max(0, to - events.count));
    yield toSpans({ events: events.slice(from, to), settlements: closed }, null);
  }
}

async function readSampledSpans(
  running: RunningExporter,
  window: Window,
  sampler: Sampler,
): Promise<readonly SpanData[]> {
  const { store, collectorId, toSpans, instruments } = running.settings;
  const { groups, kept, leftOut } = await withRetry(running, 'read rows', () =>
    readSampledRows(store, collectorId, window, sampler),
  );
  if (kept > 0) instruments.tracesSampled.add(kept, { decision: 'kept' });
  if (leftOut > 0) instruments.tracesSampled.add(leftOut, { decision: 'left_out' });
  return groups.flatMap(({ rows, sampling }) => toSpans(rows, sampling));
}

async function sendPart(running: RunningExporter, part: readonly SpanData[]): Promise<void> {
  const { sender, instruments, log } = running.settings;
  let rejected = 0;
  const refused = await sendOrBisect(part, async (some) => {
    const answer = await withRetry(running, 'export spans', () => sender.send(some), isRefusal);
    rejected += Math.min(answer.rejected, some.length);
  });
  const accepted = part.length - refused.length - rejected;
  running.change({ type: 'sent', spans: accepted });
  instruments.spansExported.add(accepted);
  instruments.spansRefused.add(refused.length + rejected);
  // It does not say which.
  if (rejected > 0)
    log.warn(
      { rejected, of: part.length },
      'the receiver rejected some of the spans; they stay in the store',
    );
  for (const { traceId, spanId } of refused)
    log.warn({ traceId, spanId }, 'the receiver refused a span for good; it stays in the store');
}

async function saveProgress(running: RunningExporter): Promise<void> {
  const { store, collectorId } = running.settings;
  const { state, change } = running;
  if (!isProgressUnsaved(state())) return;
  const row = { job: JOBS.spans, part: collectorId, done_batch: state().doneBatch };
  await withRetry(running, 'save the progress', () => store.insert('jobs', [row]));
  change({ type: 'saved' });
}

/** Repeats `attempt` until it is answered, and logs failures and their end. */
async function withRetry<T>(
  { settings, aborted, state, change }: RunningExporter,
  what: string,
  attempt: () => Promise<T>,
  isFinal: (error: unknown) => boolean = () => false,
): Promise<T> {
  const { policy, instruments, log } = settings;
  const result = await untilAnswered(attempt, {
    policy,
    signal: aborted,
    isFinal,
    leastDelayMs: retryAfterMs,
    onFailure: (cause, failures) => {
      const error = messageOf(cause);
      change({ type: 'failed', error });
      if (what === 'export spans') instruments.spanExportFailures.add(1);
      if (failures === 1 || failures % 20 === 0) log.warn({ failures, error }, `cannot ${what}, repeating`);
    },
  });
  if (state().lastError !== null) log.info({ doneBatch: state().doneBatch }, 'span export works again');
  change({ type: 'answered' });
  return result;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : 'unknown error');
