import { statfsSync } from 'node:fs';
import type { Clock } from '../../schemas/clock.ts';
import type { EvaluatorStatus } from '../../schemas/evaluator.ts';
import type { EpochMicros } from '../../schemas/rows.ts';
import type { KafkaSourceStatus, PartitionStatus } from '../../schemas/kafka.ts';
import type { PollerStatus } from '../../schemas/polling.ts';
import type { RowSink, SpanExporterStatus } from '../../schemas/sink.ts';
import type { GaugeReaders, GaugeReading } from './instruments.ts';

/** The running parts that reports and gauges look at. Parts that are not there (yet) are null. */
export interface Parts {
  readonly sink: RowSink;
  readonly orders: { status(): ReadonlyMap<string, PollerStatus> };
  readonly kafka: { status(): KafkaSourceStatus } | null;
  readonly spans: { status(): SpanExporterStatus | null };
  /** When something was last acknowledged. */
  readonly lastProgressAt: () => EpochMicros;
  /** The embedded store; null with a server. */
  readonly engine: {
    readonly restarts: number;
    readonly readers: () => { readonly stuckStatements: number };
  } | null;
}

export function gaugeReaders(parts: Parts, clock: Clock): GaugeReaders {
  const { sink, orders, kafka, spans, lastProgressAt, engine } = parts;
  const perGateway = (pick: 'watched' | 'circuitsOpen') => () =>
    [...orders.status()].map(([gateway, status]) => ({ value: status[pick], labels: { gateway } }));
  return {
    sinkBacklogRows: () => sink.status().backlogRows,
    consumerLag: () => byTopic(kafka, (one) => one.lag ?? 0),
    consumerUncommitted: () => byTopic(kafka, (one) => one.uncommitted),
    transactionOpen: () => (kafka?.status().uncommittedMs ?? 0) / 1000,
    lastProgressAge: () => (clock.now() - lastProgressAt()) / 1e6,
    watchedOrders: perGateway('watched'),
    circuitsOpen: perGateway('circuitsOpen'),
    engineRestarts: () => (engine === null ? [] : restartsByCause(engine)),
    spanBacklog: () => spans.status()?.backlogBatches ?? 0,
  };
}

/** What the process says of itself. */
export interface ProcessReadings {
  readonly nodeVersion: string;
  /** Resident memory. */
  memoryBytes(): number;
  /** Since the start. */
  cpuSeconds(): number;
}

/** The process and the disk that it writes to. */
export const processGauges = (
  self: ProcessReadings,
  version: string,
  startedAt: EpochMicros,
  dataDir: string,
): GaugeReaders => ({
  buildInfo: () => [{ value: 1, labels: { version, node: self.nodeVersion } }],
  processCpu: () => self.cpuSeconds(),
  processMemory: () => self.memoryBytes(),
  processStart: () => startedAt / 1e6,
  diskFree: () => freeBytes(dataDir),
});

function freeBytes(folder: string): readonly GaugeReading[] {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return [{ value: bavail * bsize }];
  } catch {
    // Without an embedded store there may be no such folder.
    return [];
  }
}

/** How the alert rules are evaluated. */
export const evaluatorGauges = (status: () => EvaluatorStatus): GaugeReaders => ({
  evaluationAge: () => status().ageSeconds,
  jobsLeaseHeld: () => Number(status().holdsLease),
  alertsFiring: () =>
    Object.entries(status().firing).map(([severity, value]) => ({ value, labels: { severity } })),
});

function restartsByCause({ restarts, readers }: NonNullable<Parts['engine']>) {
  const { stuckStatements } = readers();
  return [
    { value: Math.max(0, restarts - stuckStatements), labels: { cause: 'ended' } },
    { value: stuckStatements, labels: { cause: 'stuck_statement' } },
  ];
}

function byTopic(kafka: Parts['kafka'], count: (partition: PartitionStatus) => number) {
  const sums = new Map<string, number>();
  for (const partition of kafka?.status().partitions ?? [])
    sums.set(partition.topic, (sums.get(partition.topic) ?? 0) + count(partition));
  return [...sums].map(([topic, value]) => ({ value, labels: { topic } }));
}
