import type { Store } from '../../../store/store.ts';

const PASSED_MS = 45 * 60_000;

/**
 * Lets three quarters of an hour pass, for whoever compares sources: a report of then says that nothing else
 * happened. Returns the instant in epoch milliseconds, a whole minute, as the rules are evaluated.
 */
export async function reportedLater(store: Store, gateway: string): Promise<number> {
  const laterMs = Math.ceil((Date.now() + PASSED_MS) / 60_000) * 60_000;
  const reported = (laterMs - 5_000) * 1000;
  await store.insert('gatewayStatus', [
    {
      gateway,
      collector_id: 'later',
      reported_at: reported,
      watermark_at: reported,
      watched_orders: 0,
      due_orders: 0,
      circuits_open: 0,
      last_reply_at: null,
      clock_skew_seconds: null,
      requests_per_second: 0,
      requests_per_second_limit: 0,
      requests_in_flight: 0,
      concurrency_limit: 0,
    },
  ]);
  return laterMs;
}
