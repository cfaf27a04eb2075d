import { type HrTime, ValueType } from '@opentelemetry/api';
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type ExponentialHistogram,
  type Histogram,
  type MetricData,
} from '@opentelemetry/sdk-metrics';
import {
  BUCKETS,
  CLASSIC_BOUNDS,
  type OrderExample,
  PAYMENT_METRICS,
  type PaymentMetricDefinition,
  type PaymentMetricKey,
} from '../../schemas/payment-metrics.ts';
import { type Bucket, newer, type PaymentSeries, type PaymentSeriesByMetric } from './payment-series.ts';

/** How durations are shown: `classic` has fixed bounds, `exponential` finer ones that need no choice. */
export type HistogramForm = 'classic' | 'exponential';

/**
 * A data point with orders as its examples, which the SDK does not know: one of a counter, or one a bucket of
 * a classic histogram.
 */
export interface ExemplifiedPoint<T> extends DataPoint<T> {
  readonly examples: readonly (OrderExample | null)[];
}

/** Series as the SDK's data, all of them cumulative. @param nowSeconds since 1970 */
export function paymentData(
  series: PaymentSeriesByMetric,
  form: HistogramForm,
  nowSeconds: number,
): MetricData[] {
  // One start for all: a series that comes later has stood at 0 until then.
  const began = Math.min(
    nowSeconds,
    ...[...series.values()].flat().flatMap(({ firstAt }) => (firstAt > 0 ? [firstAt] : [])),
  );
  const times = { startTime: hrTime(began), endTime: hrTime(nowSeconds) };
  return [...series].map(([key, some]) => metricData(key, some, form, times));
}

interface Times {
  readonly startTime: HrTime;
  readonly endTime: HrTime;
}

const hrTime = (seconds: number): HrTime => [
  Math.floor(seconds),
  Math.round((seconds - Math.floor(seconds)) * 1e9),
];

function metricData(
  key: PaymentMetricKey,
  series: readonly PaymentSeries[],
  form: HistogramForm,
  times: Times,
): MetricData {
  const { name, kind, unit, description }: PaymentMetricDefinition = PAYMENT_METRICS[key];
  const base = {
    descriptor: { name, unit, description, valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  const points = <T>(
    read: (one: PaymentSeries) => { value: T; examples: ExemplifiedPoint<T>['examples'] },
  ): ExemplifiedPoint<T>[] =>
    series.map((one) => ({ ...times, attributes: { ...one.labels }, ...read(one) }));
  if (kind !== 'histogram') {
    // An example of a counter stands for one: of an amount it would stand for one unit of money.
    const dataPoints = points(({ value, example }) => ({
      value,
      examples: key === 'amount' ? [] : [example],
    }));
    return kind === 'gauge'
      ? { ...base, dataPointType: DataPointType.GAUGE, dataPoints }
      : { ...base, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints };
  }
  return form === 'classic'
    ? { ...base, dataPointType: DataPointType.HISTOGRAM, dataPoints: points(classic) }
    : { ...base, dataPointType: DataPointType.EXPONENTIAL_HISTOGRAM, dataPoints: points(exponential) };
}

/** Those that have a duration. */
const measured = ({ buckets }: PaymentSeries): [number, Bucket][] =>
  [...buckets].filter(([index]) => index !== BUCKETS.none);
const countOf = (some: readonly [number, Bucket][]): number =>
  some.reduce((sum, [, { counted }]) => sum + counted, 0);

/** The place of a bucket among the classic bounds: those bounds are bounds of buckets. */
function placeOf(index: number): number {
  const [lowest = 1] = CLASSIC_BOUNDS;
  const place = Math.floor(index / BUCKETS.perDoubling) + 1 - Math.log2(lowest);
  return index === BUCKETS.zero ? 0 : Math.min(Math.max(place, 0), CLASSIC_BOUNDS.length);
}

function classic(series: PaymentSeries): { value: Histogram; examples: (OrderExample | null)[] } {
  const some = measured(series);
  const counts = Array.from({ length: CLASSIC_BOUNDS.length + 1 }, () => 0);
  const examples = counts.map((): OrderExample | null => null);
  for (const [index, { counted, example }] of some) {
    const place = placeOf(index);
    counts[place] = (counts[place] ?? 0) + counted;
    examples[place] = newer(examples[place] ?? null, example);
  }
  return {
    value: { count: countOf(some), sum: series.value, buckets: { boundaries: [...CLASSIC_BOUNDS], counts } },
    examples,
  };
}

function exponential(series: PaymentSeries): { value: ExponentialHistogram; examples: [] } {
  const some = measured(series);
  const positive = some.filter(([index]) => index !== BUCKETS.zero);
  const indexes = positive.map(([index]) => index);
  const offset = positive.length === 0 ? 0 : Math.min(...indexes);
  const length = positive.length === 0 ? 0 : Math.max(...indexes) - offset + 1;
  const bucketCounts = Array.from({ length }, () => 0);
  for (const [index, { counted }] of positive) bucketCounts[index - offset] = counted;
  return {
    value: {
      count: countOf(some),
      sum: series.value,
      scale: BUCKETS.scale,
      zeroCount: countOf(some) - countOf(positive),
      positive: { offset, bucketCounts },
      negative: { offset: 0, bucketCounts: [] },
    },
    examples: [],
  };
}
