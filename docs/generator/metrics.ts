import { METRICS, prometheusName, type MetricDefinition, type MetricKey } from '../../schemas/metrics.ts';
import { code, GENERATED, page, table } from './markdown.ts';

const UNITS: Readonly<Record<string, string>> = { '': '', s: 'seconds', ms: 'milliseconds', By: 'bytes' };

/** docs/reference/metrics.md: the collector's own instruments. */
export function metricsPage(): string {
  const rows = (Object.keys(METRICS) as MetricKey[]).map((key) => {
    const metric: MetricDefinition = METRICS[key];
    return [
      code(prometheusName(key)),
      code(metric.name),
      metric.kind,
      UNITS[metric.unit] ?? metric.unit,
      metric.labels.map(code).join(', '),
      metric.description,
    ];
  });
  return page(
    '# Metrics of the collector',
    GENERATED,
    'What the collector tells about itself, at `GET /metrics` for Prometheus and over OTLP when the standard `OTEL_*` variables ' +
      'name a receiver. Both show the same instruments. What it tells about payments is in the [views](views.md).',
    table(['Prometheus', 'OTLP', 'Kind', 'Unit', 'Labels', 'Meaning'], rows),
    'Labels come from closed sets; no label ever carries the id of an order. A counter shows with its first count: one that is not there ' +
      'stands at 0.',
  );
}
