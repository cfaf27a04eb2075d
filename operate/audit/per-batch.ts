import { TABLES } from '../../schemas/names.ts';
import { WITHIN, withinParams, type LedgerBounds } from './ledger.ts';
import { SHOWN, type Identity, type Query } from './report.ts';

/** What is counted in the ledger, and which rows stand for it. */
interface BatchCount {
  readonly identity: Identity['identity'];
  /** Column of the ledger. */
  readonly counted: string;
  readonly stored: {
    readonly table: string;
    readonly id: string;
    readonly at: string;
    readonly where: string;
  };
  /** Condition on `rejects_store`. */
  readonly rejected: string;
}

const refusedBy = (table: string) =>
  `(reason = 'row_refused_by_store' AND JSONExtractString(content, 'table') = '${table}')`;

export const INTAKE: BatchCount = {
  identity: 'intake callbacks',
  counted: 'http_deliveries',
  stored: { table: TABLES.callbackDeliveries, id: 'delivery_id', at: 'received_at', where: `topic = ''` },
  rejected: `topic = '' AND ${refusedBy(TABLES.callbackDeliveries)}`,
};

export const WATCH_REQUESTS: BatchCount = {
  identity: 'watch requests',
  counted: 'watch_requests',
  stored: { table: TABLES.watchRequests, id: 'request_id', at: 'received_at', where: `topic = ''` },
  rejected: `topic = '' AND (reason IN ('watch_message_malformed', 'unknown_gateway') OR ${refusedBy(TABLES.watchRequests)})`,
};

export const REPLIES: BatchCount = {
  identity: 'replies',
  counted: 'replies',
  stored: { table: TABLES.polls, id: 'poll_id', at: 'started_at', where: '1' },
  rejected: refusedBy(TABLES.polls),
};

/** Rows of a batch may be older than its acknowledgement by as long as the store was away. */
const LONGEST_WAIT_MICROS = 48 * 3600 * 1_000_000;

interface Totals {
  accepted: number;
  stored: number;
  rejected: number;
  repeats: number;
  difference: number;
  unacknowledged: number;
  offenders: string[];
}

/**
 * The rows of each acknowledged batch are as many as the ledger says it took in. A number is given to one
 * batch only, also when a crash cuts that batch off, so that rows of unacknowledged batches cannot stand in
 * for missing ones.
 */
export async function auditPerBatch(
  query: Query,
  count: BatchCount,
  bounds: LedgerBounds,
  sinceMicros: number,
): Promise<Identity> {
  const { counted, stored, rejected } = count;
  const sql = `SELECT
    sumIf(taken, acknowledged) AS accepted,
    sumIf(least(found, taken), acknowledged) AS stored,
    sumIf(refused, acknowledged) AS rejected,
    sumIf(total - found, acknowledged) AS repeats,
    sumIf(toInt64(taken) - found - refused, acknowledged) AS difference,
    sumIf(found, NOT acknowledged) AS unacknowledged,
    arrayMap(
        b -> concat(b.1, ' batch ', toString(b.2), ': accepted ', toString(b.3), ', stored ', toString(b.4), ', rejected ', toString(b.5)),
        arraySort(groupArrayIf(${SHOWN})((collector, batch_seq, taken, found, refused), acknowledged AND taken != found + refused))
    ) AS offenders
FROM
(
    SELECT
        toString(collector_id) AS collector, batch_seq,
        max(kind = 0) AS acknowledged, max(number) AS taken, countIf(kind = 1) AS total,
        uniqExactIf(id, kind = 1) AS found, uniqExactIf(id, kind = 2) AS refused
    FROM
    (
        SELECT collector_id, batch_seq, 0 AS kind, toInt64(${counted}) AS number, '' AS id
        FROM ${TABLES.ingestLedger} WHERE ${WITHIN}
        UNION ALL
        SELECT collector_id, batch_seq, 1, 0, concat(gateway, '|', ${stored.id})
        FROM ${stored.table} WHERE ${stored.at} >= fromUnixTimestamp64Micro({rowsSince:Int64}) AND ${stored.where}
        UNION ALL
        SELECT collector_id, batch_seq, 2, 0, concat(gateway, '|', reason, '|', reject_id)
        FROM ${TABLES.rejects} WHERE rejected_at >= fromUnixTimestamp64Micro({rowsSince:Int64}) AND ${rejected}
    )
    GROUP BY collector_id, batch_seq
    -- A batch from before the window has rows in it, and its row in the ledger is not looked at.
    HAVING acknowledged OR (collector_id, batch_seq) NOT IN
    (
        SELECT collector_id, batch_seq FROM ${TABLES.ingestLedger}
        WHERE acknowledged_at < fromUnixTimestamp64Micro({since:Int64})
            AND acknowledged_at >= fromUnixTimestamp64Micro({rowsSince:Int64})
    )
)`;
  const [totals] = await query<Totals>(sql, {
    ...withinParams(bounds, sinceMicros),
    rowsSince: Math.max(sinceMicros - LONGEST_WAIT_MICROS, 0),
  });
  if (totals === undefined) throw new TypeError('an aggregate without GROUP BY gives one row');
  return { identity: count.identity, ...totals };
}
