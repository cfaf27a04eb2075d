import type { Clock } from '../../schemas/clock.ts';
import type { EpochMicros, RowBundle } from '../../schemas/rows.ts';
import type { PollerStatus } from '../../schemas/polling.ts';
import type { Parts } from './gauges.ts';
import type { ReportCounters } from './report-counters.ts';

export interface ReportOptions extends Parts {
  readonly collectorId: string;
  readonly version: string;
  readonly clock: Clock;
  readonly stamp: () => EpochMicros;
  readonly counters: ReportCounters;
  readonly memoryBytes: () => number;
  /** Called when the process should be started anew. */
  readonly fail: (reason: string) => void;
}

const INTERVAL_MS = 15_000;
/** What a rate is measured over at least. */
const LEAST_MS = INTERVAL_MS / 2;

/**
 * Reports the collector and its gateways at once and then every 15 seconds; watches for a stalled consumer.
 */
export function startReports(options: ReportOptions): () => Promise<void> {
  const startedAt = options.clock.now();
  const rates = createRequestRates(options.clock);
  let cancel = () => {};
  let busy = false;
  const tick = () => {
    cancel = options.clock.after(INTERVAL_MS, tick);
    watchOver(options);
    // While the store is away the report before waits; one is enough.
    if (busy) return;
    busy = true;
    void options.sink
      .write(statusReport(options, startedAt, options.stamp(), rates))
      .catch(() => undefined)
      .finally(() => (busy = false));
  };
  tick();
  return async () => cancel();
}

function watchOver({ kafka, fail }: ReportOptions): void {
  const status = kafka?.status();
  if (status === undefined) return;
  if (status.stalled) fail('Kafka: no progress although there are records; to be started anew');
  if (status.fatal !== null) fail(`Kafka: ${status.fatal.message}`);
}

/** The rows of one report: the collector's own, and one a gateway with its watermark. */
export function statusReport(
  options: ReportOptions,
  startedAt: EpochMicros,
  now: EpochMicros,
  rates: RequestRates,
): RowBundle {
  const { collectorId, version, counters, sink, kafka } = options;
  const pollers = [...options.orders.status()];
  const exported = options.spans.status();
  const sum = (pick: (status: PollerStatus) => number) =>
    pollers.reduce((total, [, status]) => total + pick(status), 0);
  return {
    collectorStatus: [
      {
        collector_id: collectorId,
        reported_at: now,
        version,
        started_at: startedAt,
        consumer_lag: kafka?.status().lag ?? 0,
        transaction_open_seconds: (kafka?.status().uncommittedMs ?? 0) / 1000,
        last_progress_at: options.lastProgressAt(),
        watched_orders: sum((status) => status.watched),
        due_orders: sum((status) => status.due),
        circuits_open: sum((status) => status.circuitsOpen),
        ...counters.totals(),
        retries_total: sink.status().retries,
        spans_exported_total: exported?.spansExported ?? 0,
        span_backlog: exported?.backlogBatches ?? 0,
        memory_bytes: options.memoryBytes(),
      },
    ],
    gatewayStatus: pollers.map(([gateway, status]) => ({
      gateway,
      collector_id: collectorId,
      reported_at: now,
      watermark_at: status.watermarkAt,
      watched_orders: status.watched,
      due_orders: status.due,
      circuits_open: status.circuitsOpen,
      last_reply_at: status.lastReplyAt,
      clock_skew_seconds: status.clockSkewSeconds,
      requests_per_second: rates(gateway, status.requests),
      requests_per_second_limit: status.requestsPerSecondLimit,
      requests_in_flight: status.inFlight,
      concurrency_limit: status.concurrencyLimit,
    })),
  };
}

/** Requests a second to a gateway since it was asked about before, or since the process started. */
export type RequestRates = (gateway: string, requestsSoFar: number) => number;

/** Measured on the monotonic clock: a wall clock that is set must not change what was used of a budget. */
export function createRequestRates(clock: Clock): RequestRates {
  const startedMs = clock.monotonicMs();
  const last = new Map<string, { requests: number; ms: number }>();
  return (gateway, requests) => {
    const before = last.get(gateway) ?? { requests: 0, ms: startedMs };
    const ms = clock.monotonicMs();
    // A few requests in the first milliseconds of a process are no rate: they count with the next report.
    if (ms - before.ms < LEAST_MS) return 0;
    last.set(gateway, { requests, ms });
    return ((requests - before.requests) * 1000) / (ms - before.ms);
  };
}
