import type { Clock } from '../../schemas/clock.ts';
import type { EpochMicros } from '../../schemas/rows.ts';
import type { KafkaSource } from '../sources/kafka/port.ts';
import type { SpanExporter } from '../sinks/otlp/span-exporter.ts';
import type { RowSink } from '../sinks/port.ts';
import type { Poller } from '../orders/poller.ts';
import type { GaugeReaders } from './instruments.ts';

/** The running parts that reports and gauges look at. Parts that are not there (yet) are null. */
export interface Parts {
  readonly sink: RowSink;
  readonly poller: Poller;
  readonly kafka: KafkaSource | null;
  readonly exporter: () => SpanExporter | null;
  /** When something was last acknowledged. */
  readonly lastProgressAt: () => EpochMicros;
}

export function gaugeReaders(parts: Parts, clock: Clock): GaugeReaders {
  const { sink, poller, kafka, exporter, lastProgressAt } = parts;
  const perGateway = (pick: 'watched' | 'circuitsOpen') => () =>
    [...poller.status()].map(([gateway, status]) => ({ value: status[pick], labels: { gateway } }));
  return {
    sinkBacklogRows: () => sink.status().backlogRows,
    consumerLag: () => lagByTopic(kafka),
    lastProgressAge: () => (clock.now() - lastProgressAt()) / 1e6,
    watchedOrders: perGateway('watched'),
    circuitsOpen: perGateway('circuitsOpen'),
    spanBacklog: () => exporter()?.status().backlogBatches ?? 0,
  };
}

function lagByTopic(kafka: KafkaSource | null) {
  const lags = new Map<string, number>();
  for (const { topic, lag } of kafka?.status().partitions ?? [])
    lags.set(topic, (lags.get(topic) ?? 0) + (lag ?? 0));
  return [...lags].map(([topic, value]) => ({ value, labels: { topic } }));
}
