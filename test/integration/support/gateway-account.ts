import type { Sandbox } from '../../../sandbox/server.ts';
import type { Queryable } from '../../support/collector-process.ts';
import { until } from '../../support/until.ts';
import { expectedItems } from './expected-spans.ts';

/** Orders that never end, as a payer leaves one in three hundred: they are read on and on. */
export const neverEnding = (sandbox: Sandbox): number =>
  sandbox.orders().filter(({ outcome }) => outcome === 'pending').length;

/** Waits until the gateway has shown all it will show, and every order that ends is settled in the view. */
export async function untilSettled(sandbox: Sandbox, store: Queryable): Promise<void> {
  const unsettled = () => {
    const { callbacksPending, watch } = sandbox.stats();
    const watchPending = watch.queued - watch.acknowledged - watch.failed;
    return callbacksPending + watchPending + sandbox.orders().filter((order) => !order.settled).length;
  };
  await until('the gateway to come to rest', unsettled, (count) => count === 0);
  const settled = async () => {
    const sql = 'SELECT countIf(settled_at IS NOT NULL) AS n FROM orders';
    return (await store.query<{ n: number }>(sql))[0]?.n;
  };
  const ending = sandbox.stats().orders.created - neverEnding(sandbox);
  await until(`${ending} settled orders`, settled, (count) => count === ending);
}

/**
 * The history of all orders as the gateway has it, one line an item: `type|id|time|action|occurrence`.
 * Sorted.
 */
export function historyOfGateway(sandbox: Sandbox, gateway: string): string[] {
  const lines = sandbox
    .orders()
    .flatMap((order) =>
      expectedItems(gateway, order).map(({ time, action, occurrence }) =>
        [order.orderType, order.externalId, time, action, occurrence].join('|'),
      ),
    );
  return lines.toSorted();
}

/** The same of the view `history_events`. */
export async function historyOfView(store: Queryable): Promise<string[]> {
  const rows = await store.query<{ line: string }>(
    `SELECT concat(order_type, '|', external_id, '|', formatDateTime(event_time, '%Y-%m-%dT%H:%i:%S.%fZ'), '|', action, '|',
       toString(occurrence)) AS line
     FROM history_events`,
  );
  return rows.map(({ line }) => line).toSorted();
}
