import { REASON_GROUPS, REASONS } from '../../schemas/dictionary.ts';
import {
  MOST_CURRENCIES,
  MOST_SERIES,
  type OrderExample,
  OTHER,
  PAYMENT_METRICS,
  type PaymentMetricKey,
  type PaymentTotal,
  type PaymentTotals,
} from '../../schemas/payment-metrics.ts';

/** What one bucket of a duration holds: see BUCKETS. */
export interface Bucket {
  readonly counted: number;
  readonly example: OrderExample | null;
}

/** One set of labels of a payment metric. */
export interface PaymentSeries {
  readonly labels: Readonly<Record<string, string>>;
  /** Seconds since 1970: when it began. */
  readonly firstAt: number;
  /** A counter's value, or a histogram's sum in seconds. */
  readonly value: number;
  /** Of a counter: one of the newest orders. */
  readonly example: OrderExample | null;
  /** Of a histogram, by bucket. */
  readonly buckets: ReadonlyMap<number, Bucket>;
}

export type PaymentSeriesByMetric = ReadonlyMap<PaymentMetricKey, readonly PaymentSeries[]>;

interface Part {
  readonly metric: PaymentMetricKey;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  readonly total: PaymentTotal;
}

/** Sorts sums into the series of the metrics. Labels beyond a metric's bound are counted as `other`. */
export function paymentSeries({ countedTo, totals }: PaymentTotals): PaymentSeriesByMetric {
  const parts = totals.flatMap(partsOf(admittedCurrencies(totals)));
  const series = new Map<PaymentMetricKey, PaymentSeries[]>();
  const folded: PaymentSeries[] = [];
  for (const [metric, some] of Map.groupBy(parts, (part) => part.metric)) {
    const all = [...Map.groupBy(some, (part) => textOf(part.labels)).values()].map(summed).toSorted(byAge);
    const rest = all.slice(MOST_SERIES);
    series.set(metric, [...all.slice(0, MOST_SERIES), ...foldedInto(metric, rest)]);
    if (rest.length > 0) folded.push(gauge({ metric: PAYMENT_METRICS[metric].name }, rest.length));
  }
  if (folded.length > 0) series.set('foldedSeries', folded);
  if (countedTo !== null) series.set('countedTo', [gauge({}, countedTo)]);
  return series;
}

/** Amounts are the one thing that must not be added over what their labels say: those beyond are left out. */
const foldedInto = (metric: PaymentMetricKey, rest: readonly PaymentSeries[]): PaymentSeries[] => {
  const [first] = rest;
  if (first === undefined || metric === 'amount') return [];
  const labels = Object.fromEntries(Object.keys(first.labels).map((label) => [label, OTHER]));
  return [united(labels, rest)];
};

/** The oldest first, so that a series which was there is never the one that is folded. */
const byAge = (a: PaymentSeries, b: PaymentSeries): number =>
  a.firstAt - b.firstAt || (textOf(a.labels) < textOf(b.labels) ? -1 : 1);
const textOf = (labels: Readonly<Record<string, string>>): string => JSON.stringify(labels);

const gauge = (labels: PaymentSeries['labels'], value: number): PaymentSeries => ({
  labels,
  value,
  firstAt: 0,
  example: null,
  buckets: new Map(),
});

/** The currencies that came first at each gateway. */
function admittedCurrencies(totals: readonly PaymentTotal[]): ReadonlySet<string> {
  const firstAt = new Map<string, Map<string, number>>();
  for (const { kind, gateway, labels, firstAt: at } of totals) {
    if (kind !== 'amount') continue;
    const known = firstAt.get(gateway) ?? new Map<string, number>();
    known.set(labels[1], Math.min(known.get(labels[1]) ?? Infinity, at));
    firstAt.set(gateway, known);
  }
  return new Set(
    [...firstAt].flatMap(([gateway, known]) =>
      [...known]
        .toSorted(([a, atA], [b, atB]) => atA - atB || (a < b ? -1 : 1))
        .slice(0, MOST_CURRENCIES)
        .map(([currency]) => `${gateway}|${currency}`),
    ),
  );
}

const DETAILS = new Map<number, string>(REASONS.map(({ code, detail }) => [code, detail]));
const groupOf = (code: number): string =>
  REASON_GROUPS.find(({ from, to }) => from <= code && code <= to)?.name ?? OTHER;

/** What a sum says to which metrics. */
function partsOf(currencies: ReadonlySet<string>): (total: PaymentTotal) => Part[] {
  return (total) => {
    const { kind, gateway, orderType, counted, seconds } = total;
    const [first, second] = total.labels;
    const order = { gateway, order_type: orderType };
    const part = (metric: PaymentMetricKey, labels: Part['labels'], value = counted): Part[] =>
      value === 0 && metric !== 'stageDuration' && metric !== 'timeToFinal'
        ? []
        : [{ metric, labels, value, total }];
    switch (kind) {
      case 'started':
        return part('ordersStarted', order);
      case 'stage': {
        const labels = { ...order, stage: first };
        return [...part('stageOrders', labels), ...part('stageDuration', labels, seconds)];
      }
      case 'failure': {
        const reason = Number(second);
        const detail = DETAILS.get(reason) ?? OTHER;
        return part('failures', {
          ...order,
          stage: first,
          reason_group: groupOf(reason),
          reason_detail: detail,
        });
      }
      case 'outcome': {
        const labels = { ...order, outcome: first };
        return [...part('orders', labels), ...part('timeToFinal', labels, seconds)];
      }
      case 'amount': {
        const labels = { ...order, outcome: first };
        if (!currencies.has(`${gateway}|${second}`))
          return part('ordersWithAmount', { ...labels, currency: OTHER });
        const currency = { ...labels, currency: second };
        return [...part('ordersWithAmount', currency), ...part('amount', currency, total.amount)];
      }
      case 'change':
        return part('outcomeChanges', { ...order, from: first, to: second });
      case 'callback':
        return part('callbacks', { gateway, verdict: first });
      case 'finding':
        return part('findings', { gateway, kind: first, side: second });
    }
  };
}

/** Parts of the same labels. */
function summed(parts: readonly Part[]): PaymentSeries {
  const labels = parts[0]?.labels ?? {};
  return united(
    labels,
    parts.map(({ value, total: { firstAt, example, bucket, counted } }) => ({
      labels,
      firstAt,
      value,
      example,
      buckets: new Map([[bucket, { counted, example }]]),
    })),
  );
}

function united(labels: PaymentSeries['labels'], some: readonly PaymentSeries[]): PaymentSeries {
  const buckets = new Map<number, Bucket>();
  for (const [index, bucket] of some.flatMap((one) => [...one.buckets])) {
    const known = buckets.get(index);
    buckets.set(index, {
      counted: (known?.counted ?? 0) + bucket.counted,
      example: newer(known?.example ?? null, bucket.example),
    });
  }
  return {
    labels,
    firstAt: Math.min(...some.map(({ firstAt }) => firstAt)),
    value: some.reduce((sum, { value }) => sum + value, 0),
    example: some.reduce<OrderExample | null>((best, { example }) => newer(best, example), null),
    buckets,
  };
}

export const newer = (a: OrderExample | null, b: OrderExample | null): OrderExample | null =>
  a === null || (b !== null && b.countedAt > a.countedAt) ? b : a;
