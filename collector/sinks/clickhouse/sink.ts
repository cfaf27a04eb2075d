import type { EpochMicros } from '../../../schemas/rows.ts';
import type { Instruments } from '../../telemetry/instruments.ts';
import { noInstruments } from '../../telemetry/instruments.ts';
import type { RowSink } from '../../../schemas/sink.ts';
import { createPendingWrite, createQueue, createPendingWrites } from './write-queue.ts';
import type { Gathered, Queue, PendingWrites } from './write-queue.ts';
import type { DeliveryReport, FrozenBatch } from './deliver.ts';
import { belongsInLedger, deliverBatch, freezeBatch } from './deliver.ts';
import type { RetryPolicy } from '../retry.ts';
import { DEFAULT_RETRY, stoppedError } from '../retry.ts';
import { loadBatchSeq } from './batch-seq.ts';
import type { RetryingStore } from './retrying-store.ts';
import { createRetryingStore } from './retrying-store.ts';
import type { SinkChange, SinkState, Takes } from './sink-state.ts';
import { batchSeqAfter, INITIAL_STATE, nextState, nextStep, stalledMs } from './sink-state.ts';
import type { Store } from '../../../store/store.ts';

export interface ClickHouseSinkOptions {
  store: Store;
  /** Stays the same over restarts: batch numbers and the progress of span export belong to it. */
  collectorId: string;
  /** A batch is sent when it has as many rows. @default 75000 */
  maxBatchRows?: number;
  /**
   * While batches follow each other, the least time between the starts of two. Idle, rows go at once.
   * @default 250
   */
  maxAgeMs?: number;
  /**
   * The same while only few rows wait; a third of it for those of them for which a sender waits. None below
   * maxAgeMs counts.
   * @default maxAgeMs
   */
  quietAgeMs?: number;
  /** @default DEFAULT_RETRY */
  retry?: Partial<RetryPolicy>;
  /** @default none are recorded */
  instruments?: Instruments;
  /** Receives failed attempts and numbers of refused rows, never row content. @default silent */
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
   * Completes batches that the last run left half-written and loads the last batch number; repeated until the
   * store answers. The first `write` does it if nobody did.
   *
   * @throws GatewatchError `stopped`
   */
  recover(): Promise<void>;
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
 * calls, but that what somebody waits for may go first; the next one is encoded meanwhile.
 */
export function createClickHouseSink(options: ClickHouseSinkOptions): ClickHouseSink {
  const settings = withDefaults(options);
  const { monotonicMs } = settings;
  const abort = new AbortController();
  let state = INITIAL_STATE;
  const sink: RunningSink = {
    settings,
    queue: createQueue(),
    pending: createPendingWrites(),
    retryingStore: createRetryingStore({ ...settings, signal: abort.signal }),
    state: () => state,
    change: (what) => void (state = nextState(state, what)),
    recovering: null,
    prepared: null,
  };
  const { queue, pending, retryingStore, change } = sink;
  const schedule = createSchedule(sink);
  const giveUp = (): void => {
    change({ type: 'stopped' });
    abort.abort();
  };

  return {
    recover: () => recover(sink),
    async write(bundle, provenance) {
      if (state.phase !== 'open') throw stoppedError();
      const { write, done } = createPendingWrite(bundle, provenance, monotonicMs());
      pending.add(write);
      queue.add(write);
      schedule.pump();
      return done;
    },
    status: () => ({
      ...retryingStore.status(),
      backlogRows: pending.rows(),
      stalledMs: stalledMs(state, pending.oldestSinceMs(), monotonicMs()),
      inFlight: state.isSending ? 1 : 0,
      lastAckAt: state.lastAckAt,
    }),
    async stop(graceMs) {
      change({ type: 'closing' });
      schedule.pump();
      const deadline = setTimeout(giveUp, graceMs);
      await schedule.idle();
      clearTimeout(deadline);
      giveUp();
      // Nothing is under way any more: reject the writes that are still pending.
      pending.resolve([...(sink.prepared?.gathered.writes ?? []), ...queue.clear()], stoppedError());
      sink.prepared = null;
    },
  };
}

/** What the steps of a sink share. */
interface RunningSink {
  readonly settings: Settings;
  readonly queue: Queue;
  readonly pending: PendingWrites;
  readonly retryingStore: RetryingStore;
  state(): SinkState;
  change(change: SinkChange): void;
  recovering: Promise<void> | null;
  /** Frozen while another batch is under way. */
  prepared: ReadyBatch | null;
}

/** Runs the steps of a sink when they are due, one batch at a time. */
function createSchedule(sink: RunningSink) {
  const { queue, settings, change } = sink;
  let sending: Promise<void> | null = null;
  let timer: NodeJS.Timeout | undefined;
  let timerAtMs = Infinity;

  /** Starts what is due, or sees to it that it is started later. */
  function pump(): void {
    const waiting = { rows: queue.rows(), isEmpty: queue.isEmpty(), isAwaited: queue.isAwaited() };
    const nowMs = settings.monotonicMs();
    const step = nextStep(sink.state(), waiting, settings, nowMs);
    if (step.do === 'prepare') prepare(sink);
    else if (step.do === 'wait') wakeAt(nowMs + step.ms, step.ms);
    else if (step.do === 'send') send(step.takes);
  }

  /** What comes meanwhile can be due sooner, never later. */
  function wakeAt(atMs: number, inMs: number): void {
    if (atMs >= timerAtMs) return;
    clearTimeout(timer);
    timerAtMs = atMs;
    timer = setTimeout(onTimer, inMs);
  }

  function onTimer(): void {
    timerAtMs = Infinity;
    pump();
  }

  function send(takes: Takes): void {
    clearTimeout(timer);
    timerAtMs = Infinity;
    change({ type: 'started', nowMs: settings.monotonicMs(), takes });
    sending = deliverNext(sink, takes).finally(() => {
      sending = null;
      change({ type: 'ended' });
      pump();
    });
  }

  return {
    pump,
    /** Resolves when nothing is under way. */
    async idle(): Promise<void> {
      for (let flight = sending; flight !== null; flight = sending) await flight;
    },
  };
}

function recover(sink: RunningSink): Promise<void> {
  const { store, collectorId } = sink.settings;
  sink.recovering ??= sink.retryingStore
    .ask(() => loadBatchSeq(store, collectorId))
    .then((lastSeq) => sink.change({ type: 'recovered', lastSeq }));
  return sink.recovering;
}

function prepare(sink: RunningSink): void {
  sink.prepared = freezeNext(sink, 'all');
  if (sink.prepared !== null) sink.change({ type: 'prepared' });
}

async function deliverNext(sink: RunningSink, takes: Takes): Promise<void> {
  // What arrives in the same turn of the event loop travels together.
  await new Promise(setImmediate);
  try {
    await recover(sink);
  } catch (error) {
    sink.pending.resolve(sink.queue.clear(), error);
    return;
  }
  const ready = sink.prepared ?? freezeNext(sink, takes);
  sink.prepared = null;
  sink.change({ type: 'prepared_taken' });
  if (ready !== null) await deliver(ready, sink);
}

/** Takes rows from the queue and freezes them. Only called once the number of the last batch is known. */
function freezeNext(
  { queue, pending, state, change, settings }: RunningSink,
  takes: Takes,
): ReadyBatch | null {
  const { collectorId, maxBatchRows } = settings;
  const gathered = queue.take(maxBatchRows, takes);
  if (gathered === null) return null;
  try {
    const batchSeq = batchSeqAfter(state(), belongsInLedger(gathered));
    const frozen = freezeBatch(gathered, { collectorId, batchSeq }, maxBatchRows);
    change({ type: 'frozen', batchSeq });
    return { gathered, frozen };
  } catch (error) {
    pending.resolve(gathered.writes, error);
    return null;
  }
}

async function deliver({ gathered, frozen }: ReadyBatch, sink: RunningSink): Promise<void> {
  const { settings, pending, retryingStore, change } = sink;
  const { nowMicros, monotonicMs, onAcknowledged } = settings;
  const startedMs = monotonicMs();
  try {
    const report = await deliverBatch(frozen, { send: retryingStore.insert, nowMicros });
    change({ type: 'acknowledged', at: nowMicros(), nowMs: monotonicMs() });
    reportDelivery(report, frozen, monotonicMs() - startedMs, settings);
    pending.resolve(gathered.writes);
    if (frozen.inLedger) onAcknowledged(frozen.stamp.batchSeq);
  } catch (error) {
    pending.resolve(gathered.writes, error);
  }
}

type Settings = ReturnType<typeof withDefaults>;

function withDefaults(options: ClickHouseSinkOptions) {
  return {
    store: options.store,
    collectorId: options.collectorId,
    maxBatchRows: options.maxBatchRows ?? 75_000,
    maxAgeMs: options.maxAgeMs ?? 250,
    quietAgeMs: options.quietAgeMs ?? options.maxAgeMs ?? 250,
    policy: { ...DEFAULT_RETRY, ...options.retry },
    instruments: options.instruments ?? noInstruments(),
    log: options.log ?? { info: () => undefined, warn: () => undefined },
    onAcknowledged: options.onAcknowledged ?? (() => undefined),
    nowMicros: options.nowMicros ?? (() => Date.now() * 1000),
    monotonicMs: options.monotonicMs ?? (() => performance.now()),
  };
}

function reportDelivery(
  { stored, refused }: DeliveryReport,
  { rowCount, stamp }: FrozenBatch,
  durationMs: number,
  { instruments, log }: Pick<Settings, 'instruments' | 'log'>,
): void {
  instruments.batchRows.record(rowCount);
  instruments.batchDuration.record(durationMs / 1000);
  for (const [table, rows] of stored) instruments.stored.add(rows, { table });
  if (refused === 0) return;
  instruments.rejects.add(refused, { reason: 'row_refused_by_store' });
  log.warn({ rows: refused, batchSeq: stamp.batchSeq }, 'rows refused by the store went to rejects');
}
