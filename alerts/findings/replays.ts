import { FINDING_TIMES } from '../../schemas/findings.ts';
import { ARRIVALS, DELIVERIES } from '../count/tables.ts';
import { evidenceSql } from './finding-rows.ts';
import {
  CALLBACK_ORDER,
  ofGateway,
  oldReach,
  type SweepScope,
  VERIFIED,
  within,
  youngOrders,
} from './sweep-scope.ts';

/**
 * SELECT of callbacks that were delivered again long after they had come, by whatever way: contents of one
 * body are one thing (`body_key`). A delivery that we read again ourselves has its own id once more and
 * counts once; its first arrival counts. Only orders that began long enough ago are looked at: deliveries
 * are sorted by content, and to look up each would be to read all weeks.
 */
export const replayedCallbacks = (scope: SweepScope): string => {
  const gateway = ofGateway(scope);
  const ofAnOrder = CALLBACK_ORDER.replace('AS order_type', 'AS own_type').replace(
    'AS external_id',
    'AS own_id',
  );
  const arrived = `SELECT content_hash, body_seal, own_id FROM (SELECT content_hash, body_seal, ${ofAnOrder} FROM ${ARRIVALS} WHERE ${gateway} AND ${VERIFIED} AND ${within('received_at', scope)})
        WHERE (own_type, own_id) NOT IN (${youngOrders(scope)})`;
  // Contents that may be of a body that arrived. With an id that is not null, the filter of ids is used.
  const alike = `SELECT content_hash FROM ${ARRIVALS}
        WHERE ${gateway} AND received_at >= ${oldReach(scope)} AND body_seal != 0 AND external_id IN (SELECT own_id FROM (${arrived}) WHERE body_seal != 0)`;
  return `SELECT order_type, external_id, 'REPLAYED' AS kind, concatWithSeparator(' ', said, lower(hex(substring(contents[1].2, 1, 8)))) AS subject, again_at AS found_at,
    'stranger' AS side, 'one delivery' AS expected, 'delivered again' AS received, ${evidenceSql([
      ['callback', 'times[1]', 'said'],
      ['callback', 'again_at', 'said'],
    ])} AS evidence, toDateTime64(0, 6, 'UTC') AS resolved_at
    FROM
    (
      SELECT any(claim.1) AS order_type, any(claim.2) AS external_id, any(claim.3) AS said, arraySort(groupArray((delivered_at, content_hash))) AS contents,
        contents.1 AS times, arrayFirst(t -> t >= times[1] + INTERVAL ${FINDING_TIMES.replayedSeconds} SECOND, times) AS again_at
      FROM
      (
        SELECT *, max(sealed) OVER (PARTITION BY content_hash) AS body
        FROM
        (
          SELECT content_hash, min(received_at) AS delivered_at, max((body_seal, body_key)) AS sealed,
            any((own_type, own_id, concatWithSeparator(' ', ifNull(status, ''), ifNull(amount, '')))) AS claim
          FROM
          (
            SELECT content_hash, delivery_id, received_at, status, amount, body_seal, body_key, ${ofAnOrder}
            FROM ${DELIVERIES}
            WHERE ${gateway} AND ${VERIFIED} AND content_hash IN (SELECT content_hash FROM (${arrived}) UNION DISTINCT ${alike})
          )
          GROUP BY content_hash, delivery_id
        )
      )
      GROUP BY claim.1, claim.2, if(body.1 = 0, toString(content_hash), toString(body))
    )
    WHERE again_at > toDateTime64(0, 6, 'UTC')`;
};
