import type { ExponentialHistogram, Histogram } from '@opentelemetry/sdk-metrics';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type HistogramForm, paymentData } from '../../../collector/telemetry/payment-data.ts';
import { paymentSeries } from '../../../collector/telemetry/payment-series.ts';
import { BUCKETS, CLASSIC_BOUNDS, type PaymentTotal } from '../../../schemas/payment-metrics.ts';

/** The bucket of a duration, as the statement that sums works it out. */
const bucketOf = (seconds: number | null): number =>
  seconds === null
    ? BUCKETS.none
    : seconds <= 0
      ? BUCKETS.zero
      : Math.max(
          BUCKETS.least,
          Math.min(BUCKETS.most, Math.ceil(Math.log2(seconds) * BUCKETS.perDoubling) - 1),
        );

const decided = (durations: readonly (number | null)[]): PaymentTotal[] =>
  durations.map((seconds) => ({
    kind: 'outcome',
    gateway: 'acme-eu',
    orderType: 'Deposit',
    labels: ['succeeded', ''],
    bucket: bucketOf(seconds),
    counted: 1,
    seconds: seconds ?? 0,
    amount: 0,
    firstAt: 100,
    example: { traceId: 'e9aa68962ba7f508d810ef274ad7c745', seconds, countedAt: 200 },
  }));

function timeToFinal<T>(durations: readonly (number | null)[], form: HistogramForm): T {
  const data = paymentData(paymentSeries({ countedTo: 200, totals: decided(durations) }), form, 300);
  const metric = data.find(({ descriptor }) => descriptor.name.includes('time_to_final'));
  return metric?.dataPoints[0]?.value as T;
}

const seconds = fc.oneof(
  fc.double({ min: 0.25, max: 65_536, noNaN: true }),
  fc.constantFrom(...CLASSIC_BOUNDS),
);

describe('durations', () => {
  it('lie in the classic bucket whose bound they do not exceed', () => {
    fc.assert(
      fc.property(seconds, (duration) => {
        const { buckets } = timeToFinal<Histogram>([duration], 'classic');
        expect(buckets.counts.indexOf(1)).toBe(buckets.boundaries.findIndex((bound) => duration <= bound));
      }),
    );
  });

  it('lie in an exponential bucket around them', () => {
    fc.assert(
      fc.property(seconds, (duration) => {
        const { positive, scale } = timeToFinal<ExponentialHistogram>([duration], 'exponential');
        const base = 2 ** (2 ** -scale);
        expect(positive.bucketCounts).toEqual([1]);
        expect(base ** positive.offset).toBeLessThanOrEqual(duration * (1 + 1e-9));
        expect(base ** (positive.offset + 1)).toBeGreaterThanOrEqual(duration * (1 - 1e-9));
      }),
    );
  });

  it('say the same in both forms: counts up to each classic bound', () => {
    fc.assert(
      fc.property(fc.array(seconds, { minLength: 1, maxLength: 50 }), (durations) => {
        const { buckets, count, sum } = timeToFinal<Histogram>(durations, 'classic');
        const { positive, ...other } = timeToFinal<ExponentialHistogram>(durations, 'exponential');
        expect([other.count, other.sum]).toEqual([count, sum]);
        CLASSIC_BOUNDS.forEach((_, place) => {
          const upTo = buckets.counts.slice(0, place + 1).reduce((a, b) => a + b, 0);
          const end = (place - 2) * BUCKETS.perDoubling - positive.offset;
          expect(positive.bucketCounts.slice(0, Math.max(0, end)).reduce((a, b) => a + b, 0)).toBe(upTo);
        });
      }),
    );
  });

  it('of nothing, of no time, and beyond the bounds count where they belong', () => {
    const some = [null, 0, 0.01, 100_000, 1e9];
    const { count, buckets } = timeToFinal<Histogram>(some, 'classic');
    expect([count, buckets.counts[0], buckets.counts.at(-1)]).toEqual([4, 2, 2]);
    const { zeroCount, positive, ...other } = timeToFinal<ExponentialHistogram>(some, 'exponential');
    expect([other.count, zeroCount, positive.offset]).toEqual([4, 1, Math.ceil(Math.log2(0.01) * 8) - 1]);
  });
});
