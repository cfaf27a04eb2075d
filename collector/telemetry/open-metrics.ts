import {
  type DataPoint,
  DataPointType,
  type MetricData,
  type ResourceMetrics,
} from '@opentelemetry/sdk-metrics';
import type { Attributes } from '@opentelemetry/api';
import type { OrderExample } from '../../schemas/payment-metrics.ts';
import type { ExemplifiedPoint } from './payment-data.ts';

export const OPEN_METRICS_TYPE = 'application/openmetrics-text; version=1.0.0; charset=utf-8';

/** Does a scrape ask for OpenMetrics? Prometheus does. */
export const asksForOpenMetrics = (accept: string | undefined): boolean =>
  accept?.includes('application/openmetrics-text') ?? false;

/**
 * Metrics in the text format of OpenMetrics 1.0, which is Prometheus' own with exemplars: the SDK's
 * serializer knows neither. An example is an order, and leads to its trace:
 *
 *     # TYPE gatewatch_payment_orders counter
 *     gatewatch_payment_orders_total{gateway="acme-eu"} 17 # {trace_id="e9aa..."} 1 1795406760
 *     # EOF
 *
 * Bounds of buckets are written as the other format has them, so that a series keeps its name.
 */
export function openMetricsText({ scopeMetrics }: ResourceMetrics): string {
  const families = scopeMetrics.flatMap(({ metrics }) => metrics).map(family);
  return `${families.join('')}# EOF\n`;
}

const TYPES = {
  [DataPointType.SUM]: 'counter',
  [DataPointType.GAUGE]: 'gauge',
  [DataPointType.HISTOGRAM]: 'histogram',
  [DataPointType.EXPONENTIAL_HISTOGRAM]: 'unknown',
} as const;

function family(metric: MetricData): string {
  const { name, description } = metric.descriptor;
  const known = name.replaceAll(/[^a-zA-Z0-9_:]/g, '_').replace(/_total$/, '');
  const isCounter = metric.dataPointType === DataPointType.SUM && metric.isMonotonic;
  const type =
    metric.dataPointType === DataPointType.SUM && !isCounter ? 'gauge' : TYPES[metric.dataPointType];
  return `# HELP ${known} ${escaped(description)}\n# TYPE ${known} ${type}\n${samples(metric, known, isCounter)}`;
}

function samples(metric: MetricData, name: string, isCounter: boolean): string {
  switch (metric.dataPointType) {
    case DataPointType.SUM:
    case DataPointType.GAUGE:
      return metric.dataPoints
        .map((point) => {
          const example = isCounter ? exemplar(examplesOf(point)[0], () => 1) : '';
          return `${name}${isCounter ? '_total' : ''}${labels(point.attributes)} ${number(point.value)}${example}\n`;
        })
        .join('');
    case DataPointType.HISTOGRAM:
      return metric.dataPoints
        .map((point) => {
          const { count, sum, buckets } = point.value;
          const examples = examplesOf(point);
          let counted = 0;
          const lines = buckets.counts.map((inBucket, place) => {
            counted += inBucket;
            const le = number(buckets.boundaries[place] ?? Infinity);
            const example = exemplar(examples[place], ({ seconds }) => seconds ?? 0);
            return `${name}_bucket${labels({ ...point.attributes, le })} ${counted}${example}\n`;
          });
          const shown = labels(point.attributes);
          return `${lines.join('')}${name}_sum${shown} ${number(sum ?? 0)}\n${name}_count${shown} ${count}\n`;
        })
        .join('');
    case DataPointType.EXPONENTIAL_HISTOGRAM:
      return '';
  }
}

const examplesOf = (point: DataPoint<unknown>): ExemplifiedPoint<unknown>['examples'] =>
  'examples' in point ? (point as ExemplifiedPoint<unknown>).examples : [];

function exemplar(
  example: OrderExample | null | undefined,
  value: (example: OrderExample) => number,
): string {
  if (example === null || example === undefined) return '';
  return ` # {trace_id="${example.traceId}"} ${number(value(example))} ${number(example.countedAt)}`;
}

const number = (value: number): string =>
  value === Infinity ? '+Inf' : value === -Infinity ? '-Inf' : String(value);

function labels(attributes: Attributes): string {
  const all = Object.entries(attributes).map(
    ([name, value]) => `${name.replaceAll(/[^a-zA-Z0-9_]/g, '_')}="${escaped(String(value))}"`,
  );
  return all.length === 0 ? '' : `{${all.join(',')}}`;
}

const escaped = (text: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
