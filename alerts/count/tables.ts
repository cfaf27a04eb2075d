import { groupOfReason, view } from '../../schemas/measures.ts';
import { DATABASE, FINDING_TABLES, PAYMENT_COUNT_TABLES, TABLES } from '../../schemas/names.ts';

/**
 * Tables that the evaluation reads beneath the views: it knows of itself which rows count once, and folding
 * them first costs more than all the rest.
 */
export const ITEMS = `${DATABASE}.${TABLES.historyEvents}`;
export const POLLS = `${DATABASE}.${TABLES.polls}`;
export const DELIVERIES = `${DATABASE}.${TABLES.callbackDeliveries}`;
export const ARRIVALS = `${DATABASE}.callback_arrivals_store`;
/**
 * The items of single orders, in the columns of ITEMS: of those that began long ago, whose items by time lie
 * far apart. @param where condition on orders
 */
export const itemsOfOrders = (where: string): string => `(
        SELECT gateway, order_type, external_id, event_time, action, list_position, seen_at AS observed_at, stage, result, state, code AS reason_code,
          ${groupOfReason('code')} AS reason_group, if(stage IS NULL, 'unrecognized', 'v2') AS code_format
        FROM ${view('orders')}
        ARRAY JOIN history.time AS event_time, history.action AS action, history.list_position AS list_position, history.observed_at AS seen_at,
          history.stage AS stage, history.result AS result, history.state AS state, history.reason_code AS code
        WHERE ${where}
      )`;
/** What replies and watch messages claimed, by time. */
export const CLAIMS = `${DATABASE}.order_claims_store`;
/** What the comparison of sources keeps for itself. */
export const FINDINGS = `${DATABASE}.${FINDING_TABLES.findings}`;
export const MOVES = `${DATABASE}.${FINDING_TABLES.moves}`;
/** What payment metrics keep for themselves. */
export const COUNTS = `${DATABASE}.${PAYMENT_COUNT_TABLES.counts}`;
export const TOTALS = `${DATABASE}.${PAYMENT_COUNT_TABLES.totals}`;
