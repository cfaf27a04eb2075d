import { createTotalsReader } from '../../alerts/metrics/totals.ts';
import type { OpenedStore } from '../../store/open.ts';
import type { Base } from './base.ts';

/** Payment metrics are the store's: every collector shows the same ones. */
export function showPayments({ clock, log, telemetry }: Base, store: OpenedStore['store']): void {
  telemetry.showPayments({
    read: createTotalsReader((sql) => store.query(sql)),
    nowSeconds: () => clock.now() / 1e6,
    monotonicMs: clock.monotonicMs,
    onFolded: (metric, sets) =>
      log.warn(
        { metric, sets },
        'a payment metric has too many sets of labels: the newest are one as `other`',
      ),
    onError: (error) =>
      log.warn({ err: error }, 'payment metrics could not be read; the last ones are shown'),
  });
}
