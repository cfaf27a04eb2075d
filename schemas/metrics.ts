/**
 * The collector's own instruments, each named once: OTLP sends them under `name`, `/metrics` shows them under
 * the name that Prometheus makes of it (dots become underscores, counters end in `_total`). Labels come from
 * closed sets; identifiers of orders never are one.
 */

/** `reading`: a total that is read where it is kept; shown as a counter. */
export type InstrumentKind = 'counter' | 'reading' | 'gauge' | 'histogram';

export interface MetricDefinition {
  readonly name: string;
  readonly kind: InstrumentKind;
  /** UCUM; '' for plain counts. */
  readonly unit: string;
  readonly description: string;
  readonly labels: readonly string[];
  /** Upper bounds of a histogram's buckets, in `unit`. */
  readonly buckets?: readonly number[];
}

const DURATION_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const JOB_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];
const LATENESS_BUCKETS = [0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600];
const ROW_BUCKETS = [1, 10, 50, 100, 500, 1000, 2500, 5000, 10_000, 25_000, 75_000];

export const METRICS = {
  buildInfo: {
    name: 'gatewatch.build_info',
    kind: 'gauge',
    unit: '',
    description: '1, with the version that runs',
    labels: ['version', 'node'],
  },
  processCpu: {
    name: 'process.cpu_seconds',
    kind: 'reading',
    unit: 's',
    description: 'Processor time of the collector, without the embedded engine',
    labels: [],
  },
  processMemory: {
    name: 'process.resident_memory_bytes',
    kind: 'gauge',
    unit: 'By',
    description: 'Memory of the collector, without the embedded engine',
    labels: [],
  },
  processStart: {
    name: 'process.start_time_seconds',
    kind: 'gauge',
    unit: 's',
    description: 'When the collector was started, in seconds since 1970',
    labels: [],
  },
  diskFree: {
    name: 'gatewatch.disk_free_bytes',
    kind: 'gauge',
    unit: 'By',
    description: 'Room that is left on the disk of the data folder',
    labels: [],
  },
  alertsFiring: {
    name: 'gatewatch.alerts_firing',
    kind: 'gauge',
    unit: '',
    description: 'Alerts that fire, as the collector that evaluates the rules knows them',
    labels: ['severity'],
  },
  received: {
    name: 'gatewatch.received',
    kind: 'counter',
    unit: '',
    description: 'Messages and replies taken in',
    labels: ['source'],
  },
  tombstones: {
    name: 'gatewatch.kafka_tombstones',
    kind: 'counter',
    unit: '',
    description: 'Kafka records without a value, as compacted topics have them, which say nothing',
    labels: ['topic'],
  },
  refused: {
    name: 'gatewatch.http_refused',
    kind: 'counter',
    unit: '',
    description: 'Requests and connections that a listener turned back unread, by reason',
    labels: ['reason'],
  },
  decoded: {
    name: 'gatewatch.decoded',
    kind: 'counter',
    unit: '',
    description: 'History codes decoded, by the form they had',
    labels: ['format'],
  },
  stored: {
    name: 'gatewatch.stored',
    kind: 'counter',
    unit: '',
    description: 'Rows that the store acknowledged',
    labels: ['table'],
  },
  rejects: {
    name: 'gatewatch.rejects',
    kind: 'counter',
    unit: '',
    description: 'Things that fitted no row, by reason',
    labels: ['reason'],
  },
  maskedTexts: {
    name: 'gatewatch.masked_texts',
    kind: 'counter',
    unit: '',
    description: 'Texts stored as fingerprints, since they fitted no grammar or looked like a card number',
    labels: ['field'],
  },
  duplicatesAbsorbed: {
    name: 'gatewatch.duplicates_absorbed',
    kind: 'counter',
    unit: '',
    description: 'Repetitions that were recognized and caused no second row',
    labels: [],
  },
  insertRetries: {
    name: 'gatewatch.insert_retries',
    kind: 'counter',
    unit: '',
    description: 'Insert attempts that had to be repeated',
    labels: ['code'],
  },
  ambiguousInserts: {
    name: 'gatewatch.ambiguous_inserts',
    kind: 'counter',
    unit: '',
    description: 'Insert attempts without an answer, repeated under the same token',
    labels: [],
  },
  batchRows: {
    name: 'gatewatch.batch_rows',
    kind: 'histogram',
    unit: '',
    description: 'Rows of one acknowledged batch',
    labels: [],
    buckets: ROW_BUCKETS,
  },
  batchDuration: {
    name: 'gatewatch.batch_duration_seconds',
    kind: 'histogram',
    unit: 's',
    description: 'From the first insert of a batch to its acknowledgement, retries included',
    labels: [],
    buckets: DURATION_BUCKETS,
  },
  sinkBacklogRows: {
    name: 'gatewatch.sink_backlog_rows',
    kind: 'gauge',
    unit: '',
    description: 'Rows handed over and not yet acknowledged',
    labels: [],
  },
  consumerLag: {
    name: 'gatewatch.consumer_lag',
    kind: 'gauge',
    unit: '',
    description: 'Kafka records not yet consumed, over all assigned partitions',
    labels: ['topic'],
  },
  consumerUncommitted: {
    name: 'gatewatch.consumer_uncommitted',
    kind: 'gauge',
    unit: '',
    description: 'Kafka records, of those not yet consumed, that wait for a transaction to end',
    labels: ['topic'],
  },
  transactionOpen: {
    name: 'gatewatch.transaction_open_seconds',
    kind: 'gauge',
    unit: 's',
    description: 'How long the oldest transaction that records wait for has been open; 0: none do',
    labels: [],
  },
  lastProgressAge: {
    name: 'gatewatch.last_progress_age_seconds',
    kind: 'gauge',
    unit: 's',
    description: 'Time since an input was last taken to its acknowledgement',
    labels: [],
  },
  polls: {
    name: 'gatewatch.polls',
    kind: 'counter',
    unit: '',
    description: 'Status requests, by how they ended',
    labels: ['gateway', 'outcome'],
  },
  reads: {
    name: 'gatewatch.reads',
    kind: 'counter',
    unit: '',
    description: 'Status requests, by why they were made and what they found',
    labels: ['gateway', 'cause', 'news'],
  },
  pollLateness: {
    name: 'gatewatch.poll_lateness_seconds',
    kind: 'histogram',
    unit: 's',
    description: 'How much later than planned a status request began',
    labels: ['gateway'],
    buckets: LATENESS_BUCKETS,
  },
  pollDuration: {
    name: 'gatewatch.poll_duration_seconds',
    kind: 'histogram',
    unit: 's',
    description: 'Time a status request took, body included',
    labels: ['gateway'],
    buckets: DURATION_BUCKETS,
  },
  cascadeChecks: {
    name: 'gatewatch.cascade_checks',
    kind: 'counter',
    unit: '',
    description: 'Questions whether an order may be cascaded, by the answer and by what decided it',
    labels: ['gateway', 'verdict', 'rule'],
  },
  cascadeCheckDuration: {
    name: 'gatewatch.cascade_check_duration_seconds',
    kind: 'histogram',
    unit: 's',
    description: 'Time that the answer to such a question took',
    labels: ['gateway'],
    buckets: DURATION_BUCKETS,
  },
  engineRestarts: {
    name: 'gatewatch.engine_restarts',
    kind: 'gauge',
    unit: '',
    description:
      "Times that the embedded store's process was replaced since the start, by cause: it ended, or a statement of a reader did not",
    labels: ['cause'],
  },
  watchedOrders: {
    name: 'gatewatch.watched_orders',
    kind: 'gauge',
    unit: '',
    description: 'Orders being polled',
    labels: ['gateway'],
  },
  circuitsOpen: {
    name: 'gatewatch.circuits_open',
    kind: 'gauge',
    unit: '',
    description: 'Credentials and endpoints that polling currently spares',
    labels: ['gateway'],
  },
  callbacks: {
    name: 'gatewatch.callbacks',
    kind: 'counter',
    unit: '',
    description: 'Callbacks received, by the verdict on their signature',
    labels: ['verdict'],
  },
  signatureCauses: {
    name: 'gatewatch.signature_causes',
    kind: 'counter',
    unit: '',
    description: 'Callbacks with the verdict mismatch, by what would make their signature verify',
    labels: ['gateway', 'cause'],
  },
  alertNotifications: {
    name: 'gatewatch.alert_notifications',
    kind: 'counter',
    unit: '',
    description:
      'Requests with alerts, by receiver and by how they ended: accepted, refused for good, or failed',
    labels: ['target', 'outcome'],
  },
  evaluationAge: {
    name: 'gatewatch.evaluation_age_seconds',
    kind: 'gauge',
    unit: 's',
    description: 'Since the newest evaluation of the alert rules that is stored, whichever collector made it',
    labels: [],
  },
  evaluationsMissed: {
    name: 'gatewatch.evaluations_missed',
    kind: 'counter',
    unit: '',
    description: 'Minutes for which the alert rules were not evaluated, since they were too long ago',
    labels: [],
  },
  jobsLeaseHeld: {
    name: 'gatewatch.jobs_lease_held',
    kind: 'gauge',
    unit: '',
    description: '1 on the collector that evaluates the alert rules and runs the other jobs, 0 on the others',
    labels: [],
  },
  jobRuns: {
    name: 'gatewatch.job_runs',
    kind: 'counter',
    unit: '',
    description:
      'Runs of jobs in the background, by how they ended: done, failed, or late (unfinished after their deadline)',
    labels: ['job', 'outcome'],
  },
  jobDuration: {
    name: 'gatewatch.job_duration_seconds',
    kind: 'histogram',
    unit: 's',
    description: 'Time that one run of a job took',
    labels: ['job'],
    buckets: JOB_BUCKETS,
  },
  jobSuccessAge: {
    name: 'gatewatch.job_last_success_age_seconds',
    kind: 'gauge',
    unit: 's',
    description: 'Since a job was done last, on the collector that runs the jobs',
    labels: ['job'],
  },
  spansExported: {
    name: 'gatewatch.spans_exported',
    kind: 'counter',
    unit: '',
    description: 'Payment spans that the OTLP receiver accepted',
    labels: [],
  },
  spanExportFailures: {
    name: 'gatewatch.span_export_failures',
    kind: 'counter',
    unit: '',
    description: 'Exports of payment spans that failed and are offered again',
    labels: [],
  },
  spansRefused: {
    name: 'gatewatch.spans_refused',
    kind: 'counter',
    unit: '',
    description: 'Payment spans that the OTLP receiver refused for good, and that are not offered again',
    labels: [],
  },
  tracesSampled: {
    name: 'gatewatch.traces_sampled',
    kind: 'counter',
    unit: '',
    description: 'Traces of settled orders by what `traces.sampling` decided: kept or left_out',
    labels: ['decision'],
  },
  spanBacklog: {
    name: 'gatewatch.span_backlog',
    kind: 'gauge',
    unit: '',
    description: 'Batches whose payment spans are not exported yet',
    labels: [],
  },
} as const satisfies Readonly<Record<string, MetricDefinition>>;

export type MetricKey = keyof typeof METRICS;
type KeyOfKind<Kind extends InstrumentKind> = {
  [K in MetricKey]: (typeof METRICS)[K]['kind'] extends Kind ? K : never;
}[MetricKey];
export type CounterKey = KeyOfKind<'counter'>;
export type GaugeKey = KeyOfKind<'gauge' | 'reading'>;
export type HistogramKey = KeyOfKind<'histogram'>;

/** The name under which `/metrics` shows an instrument, e.g. `gatewatch_received_total`. */
export function prometheusName(key: MetricKey): string {
  const { name, kind } = METRICS[key];
  return `${name.replaceAll('.', '_')}${kind === 'counter' || kind === 'reading' ? '_total' : ''}`;
}
