import { PAYMENT_METRICS, paymentName, type PaymentMetricKey } from '../../schemas/payment-metrics.ts';

/**
 * Recording rules over payment metrics. Every collector shows the same totals, and one that was not asked for
 * a minute is behind: the largest is the newest. Totals go on over restarts, so that the difference of two is
 * the exact number between them, where `increase` would extrapolate.
 */
export interface RecordingRule {
  readonly record: string;
  readonly expr: string;
}

/** The counters, each once for all collectors: `gatewatch:payment_orders_total:max`. */
export const totalName = (key: PaymentMetricKey): string =>
  `gatewatch:${paymentName(key).replace(/^gatewatch_/, '')}:max`;

const COUNTERS = (Object.keys(PAYMENT_METRICS) as PaymentMetricKey[]).filter(
  (key) => PAYMENT_METRICS[key].kind === 'counter',
);
const HISTOGRAMS = (Object.keys(PAYMENT_METRICS) as PaymentMetricKey[]).filter(
  (key) => PAYMENT_METRICS[key].kind === 'histogram',
);
const COUNTED_TO = `gatewatch:payment_counted_to_timestamp_seconds:max`;

/** By the labels of the metric alone: what a target adds, e.g. its pod, is another one at each collector. */
const largest = (key: PaymentMetricKey, part = ''): string => {
  const labels = [...PAYMENT_METRICS[key].labels, ...(part === '_bucket' ? ['le'] : [])];
  return `max by (${labels.join(', ')}) (${paymentName(key)}${part})`;
};

export const totals = (): RecordingRule[] => [
  { record: COUNTED_TO, expr: `max(${paymentName('countedTo')})` },
  ...COUNTERS.map((key) => ({ record: totalName(key), expr: largest(key) })),
  ...HISTOGRAMS.flatMap((key) =>
    ['_bucket', '_sum', '_count'].map((part) => ({
      record: totalName(key).replace(/:max$/, `${part}:max`),
      expr: largest(key, part),
    })),
  ),
];

/** Counting goes on once a minute: a shorter window would now hold one count and now none. */
const SHORTEST_SECONDS = 120;
const windowLength = (seconds: number): number => Math.max(seconds, SHORTEST_SECONDS);
const lengthText = (seconds: number): string =>
  seconds % 3_600 === 0 ? `${seconds / 3_600}h` : `${seconds / 60}m`;

/** Orders of a counter, by some of its labels. */
export interface CountedOrders {
  /** Recorded as `gatewatch:NAME:5m`. */
  readonly name: string;
  readonly metric: PaymentMetricKey;
  /** Which series, as in `{...}`; '': all of them. */
  readonly where: string;
  /** @default gateway and stage: of deposits and withdrawals together */
  readonly by?: string;
}

/** Those that came to a stage. */
export const SEEN: CountedOrders = { name: 'stage_orders', metric: 'stageOrders', where: '' };

/** Those that were decided, for whoever looks. */
export const DECIDED: CountedOrders & { readonly lengths: readonly number[] } = {
  name: 'payment_orders',
  metric: 'orders',
  where: '',
  by: 'gateway, order_type, outcome',
  lengths: [300, 3_600, 86_400],
};

/** The name of how many there were in a window. */
export const windowName = ({ name }: CountedOrders, seconds: number): string =>
  `gatewatch:${name}:${lengthText(windowLength(seconds))}`;

/**
 * How many there were in windows. A series that was not there when the window began stood at 0, provided that
 * totals were there at all: otherwise nobody knows what it stood at, and the window has no value.
 */
export const windows = (orders: CountedOrders, lengths: readonly number[]): RecordingRule[] =>
  [...new Set(lengths.map(windowLength))].map((seconds) => {
    const length = lengthText(seconds);
    const series = `${totalName(orders.metric)}${orders.where === '' ? '' : `{${orders.where}}`}`;
    const by = orders.by ?? 'gateway, stage';
    const total = `sum by (${by}) (${series})`;
    const before = `sum by (${by}) (${series} offset ${length})`;
    return {
      record: windowName(orders, seconds),
      expr: `clamp_min(${total} - (${before} or ${total} * 0), 0)\n  and on () ${COUNTED_TO} offset ${length}`,
    };
  });
