import { METRICS, prometheusName, type MetricDefinition, type MetricKey } from '../../schemas/metrics.ts';
import {
  MOST_CURRENCIES,
  MOST_SERIES,
  PAYMENT_METRICS,
  type PaymentMetricDefinition,
  type PaymentMetricKey,
  paymentName,
} from '../../schemas/payment-metrics.ts';
import { code, GENERATED, page, table } from './markdown.ts';

const UNITS: Readonly<Record<string, string>> = { '': '', s: 'seconds', ms: 'milliseconds', By: 'bytes' };

const HEAD = ['Prometheus', 'OTLP', 'Kind', 'Unit', 'Labels', 'Meaning'];

function row(shown: string, metric: MetricDefinition | PaymentMetricDefinition): string[] {
  const { name, kind, unit, labels, description } = metric;
  return [
    code(shown),
    code(name),
    kind,
    UNITS[unit] ?? unit,
    labels.map(code).join(', '),
    description.replaceAll('|', '\\|'),
  ];
}

/** docs/reference/metrics.md: the collector's own instruments, and the metrics of payments. */
export function metricsPage(): string {
  const own = (Object.keys(METRICS) as MetricKey[]).map((key) => row(prometheusName(key), METRICS[key]));
  const payments = (Object.keys(PAYMENT_METRICS) as PaymentMetricKey[]).map((key) =>
    row(paymentName(key), PAYMENT_METRICS[key]),
  );
  return page(
    '# Metrics',
    GENERATED,
    'What the collector reports at `GET /metrics` for Prometheus and over OTLP when the standard `OTEL_*` variables name a receiver. ' +
      'Both show the same. Labels come from closed sets; no label ever carries the id of an order. A counter shows with its first ' +
      'count: one that is not there stands at 0.',
    '## The collector itself',
    table(HEAD, own),
    '## Payments',
    ...PAYMENTS_TEXT,
    table(HEAD, payments),
  );
}

const PAYMENTS_TEXT = [
  'Counted from what is stored, each order once: not how often it was read. Every collector shows **the same numbers**, so take the ' +
    'largest of them and never their sum, as the recording rules in `alerts/out/prometheus/gatewatch-recording.yaml` do: ' +
    '`max by (gateway, order_type, outcome) (gatewatch_payment_orders_total)`. They go on over restarts and kills, so that `rate()` sees no reset. Counting ' +
    'goes on once a minute, at the collector that runs the jobs.',
  'What is counted stays: an order that is decided otherwise later is in `gatewatch_payment_outcome_changes_total` as well, so that ' +
    '`orders` + changes `to` an outcome - changes `from` it is what the view `orders` says. An amount is the one that the order has when its decision is counted. An order is counted for 7 days after its ' +
    'first item. An order whose failing items have two reasons at one stage is in both; a callback that comes again is the same one ' +
    'within six hours. Orders whose rows were last written more than an hour before the first count are not counted.',
  'Durations have the bounds 0.25 s, 0.5 s, 1 s, 2 s ... 65,536 s at `/metrics`, and as exponential histograms (scale 3) over OTLP ' +
    'with `OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION=base2_exponential_bucket_histogram`, which Prometheus keeps as native ones. ' +
    "Exemplars come with OpenMetrics, which Prometheus asks for: `trace_id` is the order's trace.",
  `A metric has at most ${MOST_SERIES.toLocaleString('en')} sets of labels, and a gateway ${MOST_CURRENCIES} currencies, those that came first: what is beyond counts ` +
    'as `other`, and its amounts are left out, since they would be of several currencies. `gatewatch_payment_folded_series` and a line of the log report it. ' +
    'A reason that the dictionary does not have is `other` too.',
];
