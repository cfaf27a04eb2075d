import { uniqueName } from '../support/kafka-topics.ts';
import {
  CALLBACKS_AN_ORDER,
  consumeOurs,
  fillTopic,
  type FilledTopic,
  withBrokers,
} from './callback-pipeline.ts';
import { cpuBetween, cpuTimes, untilIdle, type CpuTimes } from './cpu.ts';
import { buildOtelcol, startOtelcol } from '../support/otelcol.ts';
import { withSink, type BenchSink } from './pipeline-sink.ts';
import { type BenchResult, median, ratioOf, type SkippedBench } from './result.ts';

const ORDERS = 35_000;
const RECORDS = ORDERS * CALLBACKS_AN_ORDER;
const ROUNDS = 3;
/** As many rows as our own sink puts into an insert at most. */
const BATCH_ROWS = 10_000;
/** The exporter makes it, with its own statement. */
const DATABASE = 'otel';
const PATIENCE_MS = 60_000;

/** What a callback cost in one round. */
interface Measured {
  /** Callbacks a second. */
  readonly rate: number;
  /** Processor time a callback, in microseconds. */
  readonly collector: number;
  readonly store: number;
  /** 0 for a broker that is not ours to look at (`KAFKA_BROKERS`). */
  readonly broker: number;
}

/**
 * What a signed callback costs from Kafka into the embedded store: our own pipeline, which verifies it,
 * decodes it and stores it exactly once, against an OpenTelemetry Collector that stores its text, unverified
 * and with batches in memory that a crash loses. The same records on one broker into one store, in turns
 * within one run, in processor time of all processes: where they share cores, rates show who waits for whom.
 */
export async function run(): Promise<BenchResult | SkippedBench> {
  if (cpuTimes().size === 0)
    return { skipped: 'Processor times of processes are read from /proc: no Linux.' };
  const otelcol = await buildOtelcol();
  if ('reason' in otelcol) return { skipped: otelcol.reason };
  return withBrokers(async (brokers) => {
    // All that runs so far beside this process is the broker's.
    const brokerPids = new Set(cpuTimes().keys());
    brokerPids.delete(process.pid);
    const ours: Measured[] = [];
    const theirs: Measured[] = [];
    await withSink(async (sink) => {
      for (let round = 0; round <= ROUNDS; round += 1) {
        const filled = await fillTopic(brokers, ORDERS, round);
        await untilIdle(sink.embedded.store.pid);
        const theirRound = await measureTheirs(otelcol.path, filled, sink, brokerPids);
        const ourRound = await measureOurs(filled, sink, brokerPids);
        // The first one warms up all that has a compiler.
        if (round === 0) continue;
        theirs.push(theirRound);
        ours.push(ourRound);
      }
    });
    return resultOf(ours, theirs);
  });
}

async function measureOurs(
  filled: FilledTopic,
  sink: BenchSink,
  broker: ReadonlySet<number>,
): Promise<Measured> {
  const before = cpuTimes();
  const rate = await consumeOurs(filled, sink);
  const ended = cpuTimes();
  // What the store merges afterwards is part of the price.
  await untilIdle(sink.embedded.store.pid);
  return {
    ...costs(before, cpuTimes(), sink, broker),
    rate,
    collector: eachInUs(cpuBetween(before, ended, (pid) => pid === process.pid)),
  };
}

/**
 * From the moment that its parts have started: what the start of a process costs is left out. It does not
 * show what it has stored, and questions in between would cost the store: rows are counted once it rests.
 */
async function measureTheirs(
  path: string,
  filled: FilledTopic,
  sink: BenchSink,
  broker: ReadonlySet<number>,
): Promise<Measured> {
  const otelcol = await startOtelcol(path, configOf(filled, sink));
  try {
    const start = performance.now();
    const before = cpuTimes();
    for (;;) {
      const lastAt = await untilIdle(otelcol.pid);
      await untilIdle(sink.embedded.store.pid);
      const after = cpuTimes();
      const stored = await countRows(filled, sink);
      if (stored < filled.records && performance.now() - start < PATIENCE_MS) continue;
      if (stored < filled.records) throw new Error(`${stored} of ${filled.records} rows: ${otelcol.log()}`);
      return {
        ...costs(before, after, sink, broker),
        rate: (filled.records * 1000) / (lastAt - start),
        collector: eachInUs(cpuBetween(before, after, (pid) => pid === otelcol.pid)),
      };
    }
  } finally {
    await otelcol.stop();
  }
}

/** The exporter's own table, made by itself; of a round's own, so that its rows can be counted. */
function configOf({ brokers, topic }: FilledTopic, { embedded }: BenchSink): object {
  return {
    receivers: {
      kafka: {
        brokers,
        group_id: uniqueName('otelcol'),
        initial_offset: 'earliest',
        logs: { topics: [topic], encoding: 'text' },
      },
    },
    processors: { batch: { send_batch_size: BATCH_ROWS } },
    exporters: {
      clickhouse: {
        endpoint: embedded.url,
        ...embedded.writer,
        database: DATABASE,
        logs_table_name: topic,
        // Our server does not speak ClickHouse's own compression; on loopback, none costs least.
        compress: 'none',
      },
    },
    service: {
      pipelines: { logs: { receivers: ['kafka'], processors: ['batch'], exporters: ['clickhouse'] } },
      telemetry: { metrics: { level: 'none' } },
    },
  };
}

async function countRows({ topic }: FilledTopic, { store }: BenchSink): Promise<number> {
  const [row] = await store.query<{ rows: number }>(`SELECT count() AS rows FROM ${DATABASE}."${topic}"`);
  return row?.rows ?? 0;
}

function costs(
  before: CpuTimes,
  after: CpuTimes,
  { embedded }: BenchSink,
  broker: ReadonlySet<number>,
): Pick<Measured, 'store' | 'broker'> {
  return {
    store: eachInUs(cpuBetween(before, after, (pid) => pid === embedded.store.pid)),
    broker: eachInUs(cpuBetween(before, after, (pid) => broker.has(pid))),
  };
}

const eachInUs = (ms: number): number => (ms * 1000) / RECORDS;

function resultOf(ours: readonly Measured[], theirs: readonly Measured[]): BenchResult {
  return {
    name: 'otel-collector: a signed callback from Kafka to the store against an OpenTelemetry Collector',
    unit: 'callbacks per processor second',
    ours: median(ours.map(aProcessorSecond)),
    baseline: median(theirs.map(aProcessorSecond)),
    aim: 1.5,
    note:
      `${RECORDS} callbacks in batches of ${BATCH_ROWS}, medians of ${ROUNDS}; ` +
      `${noteOf('ours, verified and exactly once', ours)}; ${noteOf('OpenTelemetry Collector', theirs)}`,
  };
}

const aProcessorSecond = ({ collector, store, broker }: Measured): number =>
  1_000_000 / (collector + store + broker);

function noteOf(name: string, rounds: readonly Measured[]): string {
  const of = (key: keyof Measured): string => median(rounds.map((round) => round[key])).toFixed(1);
  const thousands = (median(rounds.map(({ rate }) => rate)) / 1000).toFixed(1);
  return `${name}: CPU us a callback ${of('collector')} collector, ${of('store')} store, ${of('broker')} broker, ${thousands}k/s`;
}

if (import.meta.main) {
  const result = await run();
  console.log('skipped' in result ? result : { ...result, ratio: ratioOf(result) });
}
