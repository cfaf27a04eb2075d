import type { OrderType } from '../../schemas/dictionary.ts';
import { TABLES, VIEWS } from '../../schemas/names.ts';
import type { EpochMicros } from '../../schemas/rows.ts';
import { inPieces } from '../../store/pieces.ts';

/** Runs a SELECT; parameters as `{name:Type}`. */
export type Query = <T>(sql: string, params?: Readonly<Record<string, unknown>>) => Promise<T[]>;

/** A reject that nothing has set right yet. */
export interface OpenReject {
  readonly gateway: string;
  readonly reason: string;
  readonly reject_id: string;
  readonly rejected_at: EpochMicros;
  /** Of a row that the store refused: the table it was for; else ''. */
  readonly refused_by: string;
  readonly topic: string;
  readonly partition: number | null;
  readonly offset: number | null;
  readonly order_type: OrderType | null;
  readonly order_id: string | null;
}

export interface RejectFilter {
  readonly reason?: string;
  readonly gateway?: string;
  /** Rejected since then, in microseconds since 1970. */
  readonly sinceMicros?: number;
  readonly limit?: number;
}

/** The open rejects, those of Kafka in the order in which they are read again. */
export async function readOpenRejects(query: Query, filter: RejectFilter): Promise<OpenReject[]> {
  const conditions = [
    'resolved_at IS NULL',
    ...(filter.reason === undefined ? [] : ['reason = {reason:String}']),
    ...(filter.gateway === undefined ? [] : ['gateway = {gateway:String}']),
    ...(filter.sinceMicros === undefined ? [] : ['r.rejected_at >= fromUnixTimestamp64Micro({since:Int64})']),
  ];
  return query<OpenReject>(
    `SELECT gateway, reason, reject_id, toUnixTimestamp64Micro(r.rejected_at) AS rejected_at,
    if(reason = 'row_refused_by_store', JSONExtractString(content, 'table'), '') AS refused_by,
    topic, kafka_partition AS partition, kafka_offset AS offset, order_type, order_id
FROM ${VIEWS.rejects} AS r
WHERE ${conditions.join(' AND ')}
ORDER BY topic, kafka_partition, kafka_offset, r.rejected_at
LIMIT {limit:UInt32}`,
    {
      reason: filter.reason,
      gateway: filter.gateway,
      since: filter.sinceMicros,
      limit: filter.limit ?? 1_000_000,
    },
  );
}

/** How a reject can be set right. */
export type Way = 'kafka' | 'read_again' | 'none';

/** Where a record lies, as text. */
export const placeText = (place: {
  readonly topic: string;
  readonly partition: number | null;
  readonly offset: number | string | null;
}): string => `${place.topic}/${place.partition}@${place.offset}`;

const OF_REPLIES = new Set([
  'reply_malformed',
  'reply_truncated',
  'reply_too_large',
  'id_mismatch',
  'field_unreadable',
  'reply_coding_unreadable',
  'history_item_malformed',
  'history_time_invalid',
  'history_in_the_future',
]);

export function wayOf(reject: OpenReject): Way {
  if (reject.topic !== '' && reject.partition !== null && reject.offset !== null) return 'kafka';
  if (reject.order_type === null || reject.order_id === null || reject.order_id === '') return 'none';
  return OF_REPLIES.has(reject.reason) || reject.refused_by === TABLES.historyEvents ? 'read_again' : 'none';
}

const ITEM = `JSONExtract(content, 'identity', 'Tuple(event_time UInt64, action String, occurrence UInt16)')`;

/**
 * Which of these rejects of replies a later reply has set right: the order's latest poll gave a reply without
 * fault, or the item that the store had refused is there.
 */
export async function readSetRight(query: Query, rejects: readonly OpenReject[]): Promise<Set<string>> {
  const right = new Set<string>();
  for (const some of inPieces(rejects, (reject) => [reject.reject_id, reject.order_id ?? ''])) {
    for (const id of await setRightOf(query, some)) right.add(id);
  }
  return right;
}

async function setRightOf(query: Query, rejects: readonly OpenReject[]): Promise<string[]> {
  const ids = rejects.map((reject) => reject.reject_id);
  const orders = [...new Set(rejects.map((reject) => reject.order_id))];
  const rows = await query<{ reject_id: string }>(
    `SELECT reject_id FROM
(
    SELECT gateway, reason, reject_id, rejected_at, toString(order_type) AS type, assumeNotNull(order_id) AS order_id
    FROM ${TABLES.rejects} FINAL
    WHERE reject_id IN {ids:Array(String)} AND reason != 'row_refused_by_store'
) AS r
INNER JOIN
(
    SELECT gateway, toString(order_type) AS type, order_id, max(started_at) AS last_at,
        argMax(outcome = 'ok', started_at) AS is_ok, argMax(refused_items, started_at) AS refused
    FROM ${TABLES.polls}
    WHERE order_id IN {orders:Array(String)}
    GROUP BY gateway, order_type, order_id
) AS p USING (gateway, type, order_id)
WHERE p.last_at > r.rejected_at AND p.is_ok AND (p.refused = 0 OR r.reason NOT LIKE 'history%')
UNION ALL
SELECT reject_id FROM ${TABLES.rejects} FINAL
WHERE reject_id IN {ids:Array(String)} AND reason = 'row_refused_by_store'
    AND (gateway, toString(order_type), order_id, ${ITEM}.1, ${ITEM}.2, ${ITEM}.3) IN
    (
        SELECT toString(gateway), toString(order_type), external_id, toUInt64(toUnixTimestamp64Micro(event_time)), action, occurrence
        FROM ${TABLES.historyEvents} WHERE external_id IN {orders:Array(String)}
    )`,
    { ids, orders },
  );
  return rows.map((row) => row.reject_id);
}
