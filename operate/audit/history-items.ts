import { TABLES, VIEWS } from '../../schemas/names.ts';
import { WITHIN, withinParams, type LedgerBounds } from './ledger.ts';
import { SHOWN, type Identity, type Query } from './report.ts';

interface Totals {
  accepted: number;
  stored: number;
  rejected: number;
  difference: number;
  unacknowledged: number;
  offenders: string[];
}

/**
 * By order: the items that the latest accepted reply left it with (the union of all replies) are as many as
 * there are distinct rows. More rows than that are no fault: a crash came between the rows and the order's
 * state.
 *
 * Refused items have no identity that outlives the next reply: at least as many rejects as the reply with the
 * most of them had.
 */
const SQL = `SELECT
    sum(taken) AS accepted,
    sum(least(found, taken)) AS stored,
    sum(least(refused, taken - least(found, taken))) AS rejected,
    sum(greatest(taken - found - refused, 0)) AS difference,
    sumIf(greatest(found + refused - taken, 0), what = '') AS unacknowledged,
    arrayMap(
        o -> concat(o.1, ': accepted ', toString(o.2), ', stored ', toString(o.3), ', rejected ', toString(o.4)),
        arraySort(groupArrayIf(${SHOWN})((name, taken, found, refused), taken > found + refused))
    ) AS offenders
FROM
(
    SELECT
        what, concat(gateway, '|', order_type, '|', id, what) AS name,
        toInt64(sum(a)) AS taken, toInt64(sum(f)) AS found, toInt64(sum(r)) AS refused
    FROM
    (
        SELECT toString(gateway) AS gateway, toString(order_type) AS order_type, external_id AS id, '' AS what,
            history_items AS a, 0 AS f, 0 AS r
        FROM ${VIEWS.orders}
        WHERE created_at >= fromUnixTimestamp64Micro({since:Int64})
        UNION ALL
        SELECT toString(gateway), toString(order_type), external_id, '', 0, count(), 0
        FROM ${VIEWS.historyEvents}
        GROUP BY gateway, order_type, external_id
        HAVING min(event_time) >= fromUnixTimestamp64Micro({since:Int64})
        UNION ALL
        SELECT toString(gateway), toString(assumeNotNull(order_type)), assumeNotNull(order_id), '', 0, 0, uniqExact(reject_id)
        FROM ${TABLES.rejects}
        WHERE reason = 'row_refused_by_store' AND JSONExtractString(content, 'table') = '${TABLES.historyEvents}'
            AND order_id IS NOT NULL AND reject_id NOT IN (SELECT reject_id FROM ${TABLES.rejectResolutions})
        GROUP BY gateway, order_type, order_id
        UNION ALL
        SELECT toString(gateway), toString(order_type), order_id, ' (refused items)', max(refused_items), 0, 0
        FROM ${TABLES.polls}
        WHERE refused_items > 0 AND id_kind = 'external-id' AND started_at >= fromUnixTimestamp64Micro({pollsSince:Int64})
        GROUP BY gateway, order_type, order_id
        UNION ALL
        SELECT toString(gateway), toString(assumeNotNull(order_type)), assumeNotNull(order_id), ' (refused items)', 0, 0, uniqExact(reject_id)
        FROM ${TABLES.rejects}
        WHERE startsWith(reason, 'history_') AND order_id IS NOT NULL
        GROUP BY gateway, order_type, order_id
    )
    GROUP BY gateway, order_type, id, what
)`;

/** Every history item of a reply has one row, or a reject. */
export async function auditHistoryItems(
  query: Query,
  bounds: LedgerBounds,
  since: { readonly history: number; readonly replies: number },
): Promise<Identity> {
  const [totals] = await query<Totals>(
    SQL,
    { since: since.history, pollsSince: since.replies },
    { max_bytes_before_external_group_by: 400_000_000 },
  );
  const [seen] = await query<{ items: number }>(
    `SELECT sum(history_items) AS items FROM ${TABLES.ingestLedger} WHERE ${WITHIN}`,
    withinParams(bounds, since.history),
  );
  if (totals === undefined) throw new TypeError('an aggregate without GROUP BY gives one row');
  return {
    identity: 'history items',
    ...totals,
    repeats: Math.max((seen?.items ?? 0) - totals.accepted, 0),
  };
}
