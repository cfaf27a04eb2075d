import { FINDING_TIMES } from '../../schemas/findings.ts';
import { ARRIVALS, DELIVERIES } from '../count/tables.ts';
import { evidenceSql } from './finding-rows.ts';
import { CALLBACK_ORDER, ofGateway, type SweepScope, VERIFIED, within, youngOrders } from './sweep-scope.ts';

/**
 * SELECT of callbacks that were delivered again long after they had come. A delivery that we read again
 * ourselves has its own id once more and counts once; its first arrival counts. Only orders that began long
 * enough ago are looked at: deliveries are sorted by content, and to look up each would be to read all weeks.
 */
export const replayedCallbacks = (scope: SweepScope): string => {
  const gateway = ofGateway(scope);
  const arrived = `SELECT content_hash FROM (SELECT content_hash, ${CALLBACK_ORDER} FROM ${ARRIVALS} WHERE ${gateway} AND ${VERIFIED} AND ${within('received_at', scope)})
        WHERE (order_type, external_id) NOT IN (${youngOrders(scope)})`;
  return `SELECT order_type, external_id, 'REPLAYED' AS kind, concatWithSeparator(' ', said, lower(hex(substring(content_hash, 1, 8)))) AS subject, again_at AS found_at,
    'stranger' AS side, 'one delivery' AS expected, 'delivered again' AS received, ${evidenceSql([
      ['callback', 'times[1]', 'said'],
      ['callback', 'again_at', 'said'],
    ])} AS evidence, toDateTime64(0, 6, 'UTC') AS resolved_at
    FROM
    (
      SELECT content_hash, any(told.1) AS order_type, any(told.2) AS external_id, any(told.3) AS said, arraySort(groupArray(delivered_at)) AS times,
        arrayFirst(t -> t >= times[1] + INTERVAL ${FINDING_TIMES.replayedSeconds} SECOND, times) AS again_at
      FROM
      (
        SELECT content_hash, min(received_at) AS delivered_at, any((own_type, own_id, concatWithSeparator(' ', ifNull(status, ''), ifNull(amount, '')))) AS told
        FROM
        (
          SELECT content_hash, delivery_id, received_at, status, amount, ${CALLBACK_ORDER.replace('AS order_type', 'AS own_type').replace('AS external_id', 'AS own_id')}
          FROM ${DELIVERIES}
          WHERE ${gateway} AND ${VERIFIED} AND content_hash IN (${arrived})
        )
        GROUP BY content_hash, delivery_id
      )
      GROUP BY content_hash
    )
    WHERE again_at > toDateTime64(0, 6, 'UTC')`;
};
