import type { OrderTruth } from '../../../sandbox/truth.ts';
import type { Query } from './check-history.ts';
import { blame, createTally, type Tally } from './tally.ts';

interface OrderRow {
  readonly order_type: string;
  readonly external_id: string;
  readonly status: string | null;
  readonly amount: number | null;
  readonly currency: string | null;
  readonly outcome: string | null;
  readonly settled: number;
}

/**
 * Lays every order beside the view `orders`: status, amount, currency and outcome as the gateway has them in
 * the end.
 */
export async function checkOrders(truth: readonly OrderTruth[], query: Query): Promise<Tally> {
  const tally = createTally('orders');
  tally.expected = truth.length;
  const rows = await query<OrderRow>(
    `SELECT order_type, external_id, status, toFloat64(amount) AS amount, currency, outcome,
settled_at IS NOT NULL AS settled FROM orders`,
  );
  tally.stored = rows.length;
  const stored = Map.groupBy(rows, (row) => `${row.order_type}|${row.external_id}`);
  for (const order of truth) {
    const key = `${order.orderType}|${order.externalId}`;
    const [row, ...more] = stored.get(key) ?? [];
    stored.delete(key);
    if (row === undefined) {
      blame(tally, 'lost', key);
      continue;
    }
    if (more.length > 0) blame(tally, 'duplicated', key, more.length);
    const expected: Omit<OrderRow, 'order_type' | 'external_id'> = {
      status: order.finalStatus,
      amount: order.finalAmount,
      currency: order.currency,
      outcome: order.outcome === 'pending' ? null : order.outcome,
      settled: isFinal(order) ? 1 : 0,
    };
    const wrong = Object.entries(expected).find(([field, value]) => row[field as keyof OrderRow] !== value);
    if (wrong !== undefined)
      blame(
        tally,
        'altered',
        `${key}: ${wrong[0]} is ${row[wrong[0] as keyof OrderRow]}, not ${String(wrong[1])}`,
      );
  }
  for (const [key, more] of stored) blame(tally, 'duplicated', `never was: ${key}`, more.length);
  return tally;
}

export const isFinal = (order: OrderTruth): boolean => ['Success', 'Failed'].includes(order.finalStatus);
