import type { AcceptedRecord, ExpectedCallback } from './accepted.ts';
import type { Query } from './check-history.ts';
import { blame, createTally, type Tally } from './tally.ts';

interface CallbackRow {
  readonly content_hash: string;
  readonly verdict: string;
  readonly external_id: string | null;
  readonly status: string | null;
  readonly amount: string | null;
  readonly order_type: string | null;
  readonly deliveries: number;
}

const PAGES = 4;

/** Lays every content of the callback topic beside the view `callbacks`, with how often it was delivered. */
export async function checkCallbacks(
  expected: ReadonlyMap<string, ExpectedCallback>,
  query: Query,
): Promise<Tally> {
  const tally = createTally('callback deliveries');
  for (const { deliveries } of expected.values()) tally.expected += deliveries.size;
  const left = new Map(expected);
  for (let page = 0; page < PAGES; page += 1) {
    const rows = await query<CallbackRow>(
      `SELECT content_hash, verdict, external_id, status, amount, order_type, deliveries FROM callbacks
WHERE cityHash64(content_hash) % ${PAGES} = ${page}`,
    );
    for (const row of rows) {
      tally.stored += row.deliveries;
      const one = left.get(row.content_hash);
      left.delete(row.content_hash);
      const name = `${row.external_id ?? '?'} ${row.status ?? '?'} ${row.content_hash.slice(0, 8)}`;
      if (one === undefined) {
        blame(tally, 'duplicated', `never was, or a second row: ${name}`, row.deliveries);
        continue;
      }
      const difference = row.deliveries - one.deliveries.size;
      if (difference > 0) blame(tally, 'duplicated', `${name}: ${difference} too many`, difference);
      if (difference < 0) blame(tally, 'lost', `${name}: ${-difference} too few`, -difference);
      const fields: [string, unknown, unknown][] = [
        ['verdict', row.verdict, one.verdict],
        ['external_id', row.external_id, one.externalId],
        ['status', row.status, one.status],
        ['amount', row.amount, one.amount],
        ['order_type', row.order_type, one.orderType],
      ];
      const wrong = fields.find(([, stored, value]) => stored !== value);
      if (wrong !== undefined)
        blame(tally, 'altered', `${name}: ${wrong[0]} is ${String(wrong[1])}, not ${String(wrong[2])}`);
    }
  }
  for (const [hash, { externalId, status, deliveries, verdict }] of left)
    blame(
      tally,
      'lost',
      `${externalId ?? '?'} ${status ?? '?'} (${verdict}) ${hash.slice(0, 8)}`,
      deliveries.size,
    );
  return tally;
}

interface RejectRow {
  readonly reason: string;
  readonly delivery_id: string;
  readonly order_id: string | null;
}

/**
 * Reasons that follow from faulty replies of the gateway: which reads met them is not the oracle's to know.
 */
const OF_REPLIES = new Set(['reply_truncated', 'id_mismatch']);

/** Poison that fits no other row must be in `rejects` once; nothing else may be there but faulty replies. */
export async function checkRejects(
  fromCallbacks: ReadonlySet<string>,
  watchPoison: readonly AcceptedRecord[],
  query: Query,
): Promise<{ tally: Tally; ofReplies: number }> {
  const tally = createTally('rejected records');
  const left = new Set(fromCallbacks);
  for (const { deliveryId } of watchPoison) left.add(deliveryId);
  tally.expected = left.size;
  let ofReplies = 0;
  for (const { reason, delivery_id: id } of await query<RejectRow>(
    'SELECT reason, delivery_id, order_id FROM rejects',
  )) {
    if (OF_REPLIES.has(reason)) {
      ofReplies += 1;
      continue;
    }
    tally.stored += 1;
    if (!left.delete(id)) blame(tally, 'duplicated', `${reason} ${id}`);
  }
  for (const id of left) blame(tally, 'lost', id);
  return { tally, ofReplies };
}
