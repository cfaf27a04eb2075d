import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { ROOT_CONTEXT, trace, type Tracer } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { itemSpans, rootSpan } from '../../collector/decode/spans.ts';
import { createOtlpSender, type SpanSender } from '../../collector/sinks/otlp/sender.ts';
import { createSpanExporter } from '../../collector/sinks/otlp/span-exporter.ts';
import { withSpan } from '../../collector/telemetry/own-spans.ts';
import type { HistoryEventRow } from '../../schemas/rows.ts';
import type { SpanData } from '../../schemas/span.ts';
import { historyEvent, NOON } from '../collector/sinks/support/rows.ts';
import { until } from '../support/until.ts';
import { cpuBetween, cpuTimes, untilIdle } from './cpu.ts';
import { type BenchSink, withSink } from './pipeline-sink.ts';
import { readOurs, TOTAL } from './polls.ts';
import { type BenchResult, median, ratioOf, type SkippedBench } from './result.ts';

const BATCH = 500;
/** Of an order, as `status-server.ts` has it. */
const ITEMS = 9;
/** Batches in a round. */
const BATCHES = 40;
const ROUNDS = 15;
const WARM_UP = 5;

/**
 * Spans per processor second of this process, from stored rows (as read) to a request that the receiver has
 * taken, against `startSpan` and `end` with a BatchSpanProcessor whose queue holds them all. The same
 * attributes, the same receiver, in turns within one run. Beside it: what the export of spans is of the whole
 * pipeline's processor time, and what a span of the collector's own costs, recorded and not.
 */
export async function run(): Promise<BenchResult | SkippedBench> {
  if (cpuTimes().size === 0)
    return { skipped: 'Processor times of processes are read from /proc: no Linux.' };
  const receiver = fork(fileURLToPath(new URL('./null-receiver.ts', import.meta.url)));
  const [port] = (await once(receiver, 'message')) as [number];
  const endpoint = `http://127.0.0.1:${port}`;
  const sender = createOtlpSender({ version: '1', endpoint });
  const provider = new TracerProvider({
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: new OTLPTraceExporter({ url: `${endpoint}/v1/traces` }),
        maxQueueSize: 2 * BATCH,
        maxExportBatchSize: BATCH,
      }),
    ],
  });
  try {
    const { ours, baseline } = await compare(sender, provider, ITEMS);
    const alone = await compare(sender, provider, 1);
    const share = await withSink((sink) => shareOfPipeline(sink, sender));
    return {
      name: 'spans: from rows to an OTLP receiver against startSpan/end with BatchSpanProcessor',
      unit: 'spans per processor second',
      ours,
      baseline,
      aim: 0.8,
      note:
        `batches of ${BATCH}, ${ITEMS} items an order (one each: ${(alone.ours / alone.baseline).toFixed(1)}x), ` +
        `medians of ${ROUNDS}; export, the store's part included, is ${share} of the pipeline's ` +
        `processor time; a span of the collector's own: ${await ownSpanNs()} ns where nobody records it, ` +
        `${await recordedNs(provider)} ns recorded and exported`,
    };
  } finally {
    await Promise.all([sender.close(), provider.shutdown()]);
    receiver.disconnect();
  }
}

async function compare(sender: SpanSender, provider: TracerProvider, itemsAnOrder: number) {
  const rows = ordersOf(itemsAnOrder);
  const spans = itemSpans(rows);
  const tracer = provider.getTracer('bench');
  const ours: number[] = [];
  const baseline: number[] = [];
  for (let round = 0; round < ROUNDS + WARM_UP; round += 1) {
    const ourRate = await rateOf(async () => void (await sender.send(itemSpans(rows))));
    const theirRate = await rateOf(async () => {
      for (const span of spans) record(tracer, span);
      await provider.forceFlush();
    });
    if (round < WARM_UP) continue;
    ours.push(ourRate);
    baseline.push(theirRate);
  }
  return { ours: median(ours), baseline: median(baseline) };
}

/** A batch of items; orders end with an error. */
function ordersOf(itemsAnOrder: number): HistoryEventRow[] {
  return Array.from({ length: BATCH }, (_, index) => {
    const at = index % itemsAnOrder;
    const order = {
      external_id: `bench-${Math.floor(index / itemsAnOrder)}`,
      event_time: NOON + 250_000 + at * 1_000_000,
    };
    const isLast = at === itemsAnOrder - 1;
    return historyEvent(isLast ? order : { ...order, ...UNDER_WAY[at % UNDER_WAY.length] });
  });
}

const UNDER_WAY: readonly Partial<HistoryEventRow>[] = [
  { action: '1.0.0.00', stage: 'INTERNAL', result: 'INFO', state: 'INIT' },
  { action: '2.1.1.00', stage: 'GATEWAY_CREATE', result: 'SUCCESS', state: 'CREATED' },
  { action: '4.2.1.00', stage: 'CHECK', result: 'SUCCESS', state: 'PROCESSING' },
].map((decoded) => ({ ...decoded, reason_code: 0, reason_group: 'NONE', reason_detail: 'UNSPECIFIED' }));

function record(tracer: Tracer, { name, attributes, start, end }: SpanData): void {
  tracer.startSpan(name, { startTime: start / 1000, attributes }, ROOT_CONTEXT).end(end / 1000);
}

async function rateOf(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  for (let batch = 0; batch < BATCHES; batch += 1) await work();
  const { user, system } = process.cpuUsage(before);
  return (BATCHES * BATCH * 1_000_000) / (user + system);
}

/** Processor time of exporting what reads have stored, in percent of both together. */
async function shareOfPipeline({ embedded, store, write }: BenchSink, sender: SpanSender): Promise<string> {
  const gateway = fork(fileURLToPath(new URL('./status-server.ts', import.meta.url)), {
    execArgv: ['--no-warnings'],
  });
  const [port] = (await once(gateway, 'message')) as [number];
  const isOurs = (pid: number): boolean => pid === process.pid || pid === embedded.store.pid;
  const costOf = async (work: () => Promise<unknown>): Promise<number> => {
    const before = cpuTimes();
    await work();
    // What the store merges afterwards is part of the price.
    await untilIdle(embedded.store.pid);
    return cpuBetween(before, cpuTimes(), isOurs);
  };
  const query = (sql: string, params?: Record<string, unknown>) => store.query(sql, params);
  try {
    const pipeline = await costOf(() =>
      readOurs(`http://127.0.0.1:${port}`, 0, query as Parameters<typeof readOurs>[2], write),
    );
    const exported = await costOf(async () => {
      const exporter = createSpanExporter({
        store,
        sender,
        collectorId: 'bench',
        toSpans: ({ events, settlements }) => [...itemSpans(events), ...settlements.map(rootSpan)],
      });
      await until(
        'all spans to be exported',
        () => exporter.status(),
        ({ doneBatch, backlogBatches }) => doneBatch > 0 && backlogBatches === 0,
      );
      await exporter.stop(1_000);
    });
    const each = (cpuMs: number): string => ((cpuMs * 1000) / TOTAL).toFixed(0);
    const share = ((exported * 100) / (pipeline + exported)).toFixed(0);
    return `${share} % (CPU us a read: ${each(pipeline)} and ${each(exported)})`;
  } finally {
    gateway.disconnect();
  }
}

/** With a provider in place, as `OTEL_TRACES_SAMPLER=always_on` has it. */
async function recordedNs(provider: TracerProvider): Promise<string> {
  trace.setGlobalTracerProvider(provider);
  try {
    return await ownSpanNs(20_000, async (call) => {
      if (call % BATCH === BATCH - 1) await provider.forceFlush();
    });
  } finally {
    trace.disable();
  }
}

async function ownSpanNs(
  calls = 200_000,
  afterEach: (call: number) => Promise<void> | void = () => undefined,
): Promise<string> {
  const nothing = async (): Promise<void> => undefined;
  const spend = async (work: () => Promise<void>): Promise<number> => {
    const before = process.cpuUsage();
    for (let call = 0; call < calls; call += 1) {
      await work();
      await afterEach(call);
    }
    const { user, system } = process.cpuUsage(before);
    return ((user + system) * 1000) / calls;
  };
  await spend(() => withSpan('insert', { rows: 1 }, nothing));
  const within = await spend(() => withSpan('insert', { rows: 1 }, nothing));
  return Math.max(0, within - (await spend(nothing))).toFixed(0);
}

if (import.meta.main) {
  const result = await run();
  console.log('skipped' in result ? result : { ...result, ratio: ratioOf(result) });
}
