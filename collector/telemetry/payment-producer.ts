import { emptyResource } from '@opentelemetry/resources';
import type { MetricProducer } from '@opentelemetry/sdk-metrics';
import { withDeadline } from '../../schemas/deadline.ts';
import type { PaymentTotals } from '../../schemas/payment-metrics.ts';
import { type HistogramForm, paymentData } from './payment-data.ts';
import { paymentSeries, type PaymentSeriesByMetric } from './payment-series.ts';

/** Where payment metrics come from. */
export interface PaymentSource {
  /** Reads what was counted so far. */
  readonly read: () => Promise<PaymentTotals>;
  readonly nowSeconds: () => number;
  readonly monotonicMs: () => number;
  /** Called once a metric, when it has more sets of labels than are shown. */
  readonly onFolded: (metric: string, sets: number) => void;
  /** Called when the source did not answer; what it said before is shown meanwhile. */
  readonly onError: (error: unknown) => void;
}

/** Metrics of payments, for readers that ask for them beside the collector's own. */
export interface PaymentProducer {
  /** For a reader of the SDK. */
  readonly as: (form: HistogramForm) => MetricProducer;
  /** There is something to read from now on. */
  readonly connect: (source: PaymentSource) => void;
}

/** Counting goes on once a minute: more often than this nothing is new. */
const READ_AGAIN_MS = 10_000;
/** A scrape waits this long at most, and shows what was known before. */
const DEADLINE_MS = 3_000;
const NOTHING: PaymentSeriesByMetric = new Map();

/** Reads when it is asked, so that nobody pays for metrics that nobody reads. */
export function createPaymentProducer(version: string): PaymentProducer {
  let source: PaymentSource | null = null;
  let series = NOTHING;
  let reading: Promise<void> | null = null;
  let readAtMs = -Infinity;
  const reported = new Set<string>();

  async function read(from: PaymentSource): Promise<void> {
    try {
      series = paymentSeries(await from.read());
      readAtMs = from.monotonicMs();
    } catch (error) {
      from.onError(error);
    } finally {
      reading = null;
    }
    for (const { labels, value } of series.get('foldedSeries') ?? []) {
      const metric = labels['metric'] ?? '';
      if (!reported.has(metric)) from.onFolded(metric, value);
      reported.add(metric);
    }
  }

  return {
    connect: (from) => void (source = from),
    as: (form) => ({
      async collect() {
        if (source !== null && source.monotonicMs() - readAtMs >= READ_AGAIN_MS)
          await withDeadline((reading ??= read(source)), DEADLINE_MS);
        const metrics = source === null ? [] : paymentData(series, form, source.nowSeconds());
        const scope = { name: 'gatewatch.payments', version };
        return {
          resourceMetrics: {
            resource: emptyResource(),
            scopeMetrics: metrics.length === 0 ? [] : [{ scope, metrics }],
          },
          errors: [],
        };
      },
    }),
  };
}
