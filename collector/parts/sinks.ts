import type { OpenedStore } from '../../store/open.ts';
import { VERSION } from '../../store/package-files.ts';
import { createBackpressure } from '../backpressure.ts';
import { createSampler, markSampled } from '../decode/sampling.ts';
import { itemSpans, rootSpan } from '../decode/spans.ts';
import { countedWrite } from '../orders/counting.ts';
import { createClickHouseSink } from '../sinks/clickhouse/sink.ts';
import { createSpanExport } from '../sinks/otlp/span-export.ts';
import { isOtlpWanted, readProtocol } from '../telemetry/otel-env.ts';
import { tracedInserts } from '../telemetry/traced-ports.ts';
import { DRAIN_MS, STOP_MS, type Base } from './base.ts';

/** What the steps after the export of spans need: the embedded store and the telemetry. */
const LAST_STEPS_MS = 3_000;

export type Sinks = ReturnType<typeof startSinks>;

/** Rows into ClickHouse, spans from what is stored there. */
export function startSinks(
  { config, collectorId, env, log, clock, life, counters, instruments }: Base,
  opened: OpenedStore,
) {
  const { store } = opened;
  const spans = createSpanExport({
    store,
    collectorId,
    version: VERSION,
    isWanted: isOtlpWanted(env, 'TRACES'),
    protocol: readProtocol(env, 'TRACES'),
    toSpans({ events, settlements }, sampling) {
      const all = [...itemSpans(events), ...settlements.map(rootSpan)];
      return sampling === null ? all : markSampled(all, sampling);
    },
    sampler: config.traces.sampling.share === 1 ? null : createSampler(config.traces.sampling),
    instruments,
    log,
  });
  // Spans of what was stored last still go out, as far as the steps before have left time; the next run sends
  // the others.
  const spansMs = () => Math.max(1_000, STOP_MS - LAST_STEPS_MS - life.endingForMs());
  life.onStop(() => spans.stop(Math.min(DRAIN_MS, spansMs())));
  const sink = createClickHouseSink({
    store: tracedInserts(store),
    collectorId,
    maxBatchRows: config.batch.maxRows,
    maxAgeMs: config.batch.maxAgeMs,
    quietAgeMs: config.batch.quietAgeMs,
    instruments,
    log,
    nowMicros: clock.now,
    onAcknowledged: (batchSeq) => spans.notify(batchSeq),
  });
  life.onStop(() => sink.stop(DRAIN_MS));
  return {
    sink,
    spans,
    write: countedWrite(sink, instruments, counters),
    checkBackpressure: createBackpressure(sink, clock.monotonicMs),
  };
}
