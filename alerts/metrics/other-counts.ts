import { ARRIVALS, COUNTS, FINDINGS } from '../count/tables.ts';
import { type CountScope, instant, lately, oldReach } from './count-scope.ts';

const INSERT = `INSERT INTO ${COUNTS} (about, counted_at, gateway, order_type, id, kind, subject, first_label, second_label, micros, amount)`;

/**
 * A callback whose content comes again within this time is the same one. Its content could be looked for
 * among all that ever came, but hashes lie anywhere in a table: at 2,000 orders a minute that reads most of
 * it.
 */
const SAME_CALLBACK_SECONDS = 6 * 3_600;

const CONTENT_ID = 'toFixedString(substring(content_hash, 1, 16), 16)';

/** The statement that counts callbacks by their content: see `countOrders`. */
export const countCallbacks = (scope: Omit<CountScope, 'old'>): string =>
  `${INSERT}
SELECT 'callback', ${instant(scope.now)}, gateway, '', id, 'callback', '', toString(verdict), '', NULL, NULL
FROM
(
  SELECT gateway, ${CONTENT_ID} AS id, argMin(verdict, received_at) AS verdict
  FROM ${ARRIVALS}
  WHERE ${lately('received_at', scope)}
  GROUP BY gateway, id
)
WHERE (gateway, id) NOT IN
(
  SELECT gateway, id FROM ${COUNTS}
  WHERE about = 'callback' AND counted_at >= ${instant(scope.now - SAME_CALLBACK_SECONDS * 1e6)}
    AND id IN (SELECT ${CONTENT_ID} FROM ${ARRIVALS} WHERE ${lately('received_at', scope)})
)`;

/** The statement that counts findings: see `countOrders`. */
export const countFindings = (scope: Omit<CountScope, 'old'>): string =>
  `${INSERT}
SELECT 'finding', ${instant(scope.now)}, gateway, toString(order_type), id, 'finding', '', kind, side, NULL, NULL
FROM
(
  SELECT gateway, order_type, toFixedString(substring(SHA256(concat(gateway, '|', toString(order_type), '|', external_id, '|', kind, '|', subject)), 1, 16), 16) AS id, kind, argMax(f.side, f.judged_at) AS side
  FROM ${FINDINGS} AS f
  WHERE found_at >= ${oldReach(scope)} AND judged_at >= ${oldReach(scope)}
  GROUP BY gateway, order_type, external_id, kind, subject
)
WHERE id NOT IN (SELECT id FROM ${COUNTS} WHERE about = 'finding')`;
