import { VIEWS } from '../../schemas/names.ts';
import type { Store } from '../../store/store.ts';
import { ok, warn, type Finding } from './check.ts';

const DAYS = 7;

/** Texts that were stored as fingerprints, by the field in which they came. */
const MASKED = `SELECT field, count() AS texts FROM (
  SELECT 'action' AS field FROM ${VIEWS.historyEvents}
  WHERE event_time > now() - INTERVAL ${DAYS} DAY AND startsWith(action, '~')
  UNION ALL SELECT 'orderStatus' FROM ${VIEWS.orders}
  WHERE first_seen_at > now() - INTERVAL ${DAYS} DAY AND startsWith(ifNull(status, ''), '~')
  UNION ALL SELECT 'callback status' FROM ${VIEWS.callbacks}
  WHERE last_received_at > now() - INTERVAL ${DAYS} DAY AND startsWith(ifNull(status, ''), '~')
  UNION ALL SELECT 'callback externalId' FROM ${VIEWS.callbacks}
  WHERE last_received_at > now() - INTERVAL ${DAYS} DAY AND startsWith(ifNull(external_id, ''), '~')
) GROUP BY field ORDER BY field`;

/**
 * Does a gateway send texts that are not what their fields are for: card numbers, names, or words we should
 * know?
 */
export async function maskedFinding(store: Store): Promise<Finding> {
  const check = 'store: texts';
  const rows = await store.query<{ field: string; texts: number }>(MASKED);
  if (rows.length === 0) return ok(check, `No text of the last ${DAYS} days had to be hidden.`);
  const fields = rows.map(({ field, texts }) => `${field} ${texts}`).join(', ');
  return warn(
    check,
    `Texts of the last ${DAYS} days that fit no grammar were stored as fingerprints (~shape:length:hash): ${fields}.`,
    'Ask who sends them what they are: card data in such a field is an incident of theirs.',
  );
}
