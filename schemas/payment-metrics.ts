import type { InstrumentKind } from './metrics.ts';

/**
 * Metrics of payments, each named once. They are not what one collector did but what the store holds: every
 * collector shows the same numbers, which go on over restarts. Labels come from closed sets, the dictionary's
 * and the configuration's; identifiers of orders never are one.
 */

export interface PaymentMetricDefinition {
  readonly name: string;
  readonly kind: InstrumentKind;
  /** UCUM; '' for plain counts. */
  readonly unit: string;
  readonly description: string;
  readonly labels: readonly string[];
}

const ORDER = ['gateway', 'order_type'] as const;

export const PAYMENT_METRICS = {
  ordersStarted: {
    name: 'gatewatch.payment.orders_started',
    kind: 'counter',
    unit: '',
    description: 'Orders whose history became known',
    labels: [...ORDER],
  },
  orders: {
    name: 'gatewatch.payment.orders',
    kind: 'counter',
    unit: '',
    description: 'Orders that were decided, each once, by the outcome that was known first',
    labels: [...ORDER, 'outcome'],
  },
  outcomeChanges: {
    name: 'gatewatch.payment.outcome_changes',
    kind: 'counter',
    unit: '',
    description: 'Orders decided otherwise later: add those `to` an outcome and take away those `from` it',
    labels: [...ORDER, 'from', 'to'],
  },
  stageOrders: {
    name: 'gatewatch.payment.stage_orders',
    kind: 'counter',
    unit: '',
    description: 'Orders that came to a stage, each once a stage',
    labels: [...ORDER, 'stage'],
  },
  failures: {
    name: 'gatewatch.payment.failures',
    kind: 'counter',
    unit: '',
    description:
      'Orders with a failing item (its operation or the payment failed), each once a stage and reason',
    labels: [...ORDER, 'stage', 'reason_group', 'reason_detail'],
  },
  stageDuration: {
    name: 'gatewatch.payment.stage_duration_seconds',
    kind: 'histogram',
    unit: 's',
    description: 'From the item before to the first item of a stage: how long the step into the stage took',
    labels: [...ORDER, 'stage'],
  },
  timeToFinal: {
    name: 'gatewatch.payment.time_to_final_seconds',
    kind: 'histogram',
    unit: 's',
    description: "From an order's first item to the one that decided it",
    labels: [...ORDER, 'outcome'],
  },
  amount: {
    name: 'gatewatch.payment.amount',
    kind: 'counter',
    unit: '',
    description:
      'Amounts of decided orders, in units of the currency. Summed as decimals, shown as a float; never to be added over currencies',
    labels: [...ORDER, 'outcome', 'currency'],
  },
  ordersWithAmount: {
    name: 'gatewatch.payment.orders_with_amount',
    kind: 'counter',
    unit: '',
    description:
      'Orders in `amount`, each once; those of currencies beyond the bound are `other`, and in no amount',
    labels: [...ORDER, 'outcome', 'currency'],
  },
  callbacks: {
    name: 'gatewatch.payment.callbacks',
    kind: 'counter',
    unit: '',
    description: 'Callbacks of different content, by the verdict on their signature',
    labels: ['gateway', 'verdict'],
  },
  findings: {
    name: 'gatewatch.payment.findings',
    kind: 'counter',
    unit: '',
    description: 'Contradictions about an order that were found, by kind and by whose side the fault is on',
    labels: ['gateway', 'kind', 'side'],
  },
  countedTo: {
    name: 'gatewatch.payment.counted_to_timestamp_seconds',
    kind: 'gauge',
    unit: 's',
    description: 'Up to when payments are counted, as a time since 1970',
    labels: [],
  },
  foldedSeries: {
    name: 'gatewatch.payment.folded_series',
    kind: 'gauge',
    unit: '',
    description:
      'Sets of labels beyond the bound of a metric, which are counted together as `other`; shown when there are some',
    labels: ['metric'],
  },
} as const satisfies Readonly<Record<string, PaymentMetricDefinition>>;

export type PaymentMetricKey = keyof typeof PAYMENT_METRICS;

/** The name under which `/metrics` shows a payment metric, e.g. `gatewatch_payment_orders_total`. */
export function paymentName(key: PaymentMetricKey): string {
  const { name, kind } = PAYMENT_METRICS[key];
  return `${name.replaceAll('.', '_')}${kind === 'counter' ? '_total' : ''}`;
}

/** What stands for labels beyond a bound, and for codes that the dictionary does not have. */
export const OTHER = 'other';
/** Sets of labels that one metric has at most, beside `other`. The SDK's own bound is the same. */
export const MOST_SERIES = 2_000;
/** Currencies that one gateway has at most: those that came first. */
export const MOST_CURRENCIES = 20;

/**
 * Durations are kept in buckets whose bounds grow by the eighth root of two (scale 3 of OpenTelemetry's
 * exponential histograms): bucket i reaches from above 2 ** (i / 8) to 2 ** ((i + 1) / 8) seconds. Every
 * eighth bound is one of the classic histogram, so that both say the same.
 */
export const BUCKETS = {
  scale: 3,
  perDoubling: 8,
  /** Of an item without one before: it has no duration. */
  none: -32_768,
  /** Of a duration of 0. */
  zero: -32_767,
  /** About a millisecond, and 48 days: what is beyond counts there. */
  least: -80,
  most: 176,
} as const;

/** Bounds of the classic histograms in seconds: 0.25, 0.5, 1, 2 ... 65,536. */
export const CLASSIC_BOUNDS: readonly number[] = Array.from({ length: 19 }, (_, index) => 2 ** (index - 2));

/** What was counted of one kind: see `PaymentTotals`. */
export const PAYMENT_KINDS = [
  'started',
  'stage',
  'failure',
  'outcome',
  'amount',
  'change',
  'callback',
  'finding',
] as const;
export type PaymentKind = (typeof PAYMENT_KINDS)[number];

/** An order of a series, as its exemplar. */
export interface OrderExample {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** Null: counted, and not measured. */
  readonly seconds: number | null;
  /** Seconds since 1970. */
  readonly countedAt: number;
}

/** The sum of what was counted with the same labels. */
export interface PaymentTotal {
  readonly kind: PaymentKind;
  readonly gateway: string;
  readonly orderType: string;
  /**
   * By kind: stage; stage and reason code; outcome; outcome and currency; outcome before and after; verdict;
   * kind and side of a finding. Else ''.
   */
  readonly labels: readonly [string, string];
  /** See BUCKETS. */
  readonly bucket: number;
  readonly counted: number;
  /** Sum of the durations. */
  readonly seconds: number;
  /** Sum of the amounts. */
  readonly amount: number;
  /** Seconds since 1970. */
  readonly firstAt: number;
  readonly example: OrderExample | null;
}

export interface PaymentTotals {
  /** Seconds since 1970; null: nothing was counted yet. */
  readonly countedTo: number | null;
  readonly totals: readonly PaymentTotal[];
}
