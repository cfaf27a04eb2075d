import type { OrderTruth } from '../../../sandbox/truth.ts';
import { expectedItems } from '../../integration/support/expected-spans.ts';
import { blame, createTally, type Tally } from './tally.ts';

export type Query = <T>(sql: string) => Promise<T[]>;

interface HistoryRow {
  readonly order_type: string;
  readonly external_id: string;
  readonly time: string;
  readonly action: string;
  readonly occurrence: number;
  readonly external_transaction_id: string;
  readonly channel: string;
  readonly code_format: string;
  readonly stage: string | null;
  readonly result: string | null;
  readonly state: string | null;
  readonly reason_code: number | null;
}

const PAGES = 8;

/**
 * Lays every history item that the gateway shows beside the view `history_events`. A late item of the same
 * instant that was put in front of another has its place in the list, and was seen later.
 */
export async function checkHistory(
  gateway: string,
  truth: readonly OrderTruth[],
  query: Query,
): Promise<Tally> {
  const tally = createTally('history items');
  const orders = new Map(truth.map((order) => [`${order.orderType}|${order.externalId}`, order]));
  for (const order of truth) tally.expected += order.items.length;
  const seen = new Set<string>();
  for (let page = 0; page < PAGES; page += 1) {
    const rows = await query<HistoryRow>(
      `SELECT order_type, external_id, formatDateTime(event_time, '%Y-%m-%dT%H:%i:%S.%fZ') AS time, action, occurrence,
external_transaction_id, channel, code_format, stage, result, state, reason_code
FROM history_events WHERE gateway = '${gateway}' AND cityHash64(external_id) % ${PAGES} = ${page}
ORDER BY order_type, external_id, event_time, list_position, observed_at DESC`,
    );
    tally.stored += rows.length;
    for (const [key, own] of Map.groupBy(rows, (row) => `${row.order_type}|${row.external_id}`)) {
      seen.add(key);
      const order = orders.get(key);
      if (order === undefined)
        blame(tally, 'duplicated', `rows of an order that never was: ${key}`, own.length);
      else checkOrder(gateway, order, own, tally);
    }
  }
  for (const [key, order] of orders) {
    if (!seen.has(key))
      blame(tally, 'lost', `the whole order ${key} (${order.scenario})`, order.items.length);
  }
  return tally;
}

function checkOrder(gateway: string, order: OrderTruth, rows: readonly HistoryRow[], tally: Tally): void {
  const expected = expectedItems(gateway, order).map(
    ({ time, action, occurrence }) => `${time} ${action} ${occurrence}`,
  );
  const stored = rows.map(({ time, action, occurrence }) => `${time} ${action} ${occurrence}`);
  const left = new Set(expected);
  let isComplete = true;
  for (const item of stored) {
    if (left.delete(item)) continue;
    isComplete = false;
    blame(tally, 'duplicated', `${order.externalId} ${item}`);
  }
  for (const item of left) {
    isComplete = false;
    blame(tally, 'lost', `${order.externalId} ${item}`);
  }
  if (isComplete && stored.join() !== expected.join())
    blame(tally, 'outOfOrder', `${order.externalId}: ${stored.join(', ')} for ${expected.join(', ')}`);
  for (const row of rows) {
    const wrong = alteredField(order, row);
    if (wrong !== null) blame(tally, 'altered', `${order.externalId} ${row.action}: ${wrong}`);
  }
}

const STAGES = [
  '',
  'INTERNAL',
  'GATEWAY_CREATE',
  'PAYFORM',
  'CHECK',
  'GATEWAY_CALLBACK',
  'MERCHANT_CALLBACK',
];
const RESULTS = ['INFO', 'SUCCESS', 'FAILURE'];
const STATES = ['INIT', 'CREATED', 'PROCESSING', 'SUCCESS', 'FAILED'];

/** What section 2.4 says of the code, worked out anew. */
function alteredField(order: OrderTruth, row: HistoryRow): string | null {
  const [a = '', c = '', b = '', rr = ''] = row.action.split('.');
  const known = /^[1-6]\.[0-2]\.[0-4]\.\d\d$/.test(row.action);
  const expected: Record<string, unknown> = {
    external_transaction_id: order.externalTransactionId,
    stage: known ? STAGES[Number(a)] : null,
    result: known ? RESULTS[Number(c)] : null,
    state: known ? STATES[Number(b)] : null,
    reason_code: known ? Number(rr) : null,
  };
  for (const [field, value] of Object.entries(expected)) {
    const stored = (row as unknown as Record<string, unknown>)[field];
    if (stored !== value) return `${field} is ${String(stored)}, not ${String(value)}`;
  }
  return row.channel === '' || row.channel === order.channel ? null : `channel is ${row.channel}`;
}
