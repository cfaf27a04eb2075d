import { createFindings } from '../../../alerts/findings/sweep.ts';
import { decode } from '../../../collector/decode/code.ts';
import type { DecodedCode } from '../../../schemas/code.ts';
import type { FindingKind } from '../../../schemas/findings.ts';
import type { OrderTruth } from '../../../sandbox/truth.ts';
import type { ExpectedCallback } from './accepted.ts';
import type { Query } from './check-history.ts';
import { isFinal } from './check-orders.ts';
import { blame, createTally, type Tally } from './tally.ts';

const PASSED_MS = 45 * 60_000;

/**
 * Lays the contradictions that are found beside those that are there, and no others, whatever was killed,
 * sent twice or in another order meanwhile. Compared as of three quarters of an hour later, when nothing more
 * is waited for.
 */
export async function checkFindings(
  gateway: string,
  truth: readonly OrderTruth[],
  callbacks: ReadonlyMap<string, ExpectedCallback>,
  query: Query,
): Promise<Tally> {
  const tally = createTally('findings');
  const later = Math.ceil((Date.now() + PASSED_MS) / 60_000) * 60_000;
  const command = async (sql: string): Promise<void> => void (await query(sql));
  const reported = `toDateTime64(${(later - 5_000) / 1000}, 6, 'UTC')`;
  await command(
    `INSERT INTO gateway_status_store (gateway, collector_id, reported_at, watermark_at) SELECT '${gateway}', 'later', ${reported}, ${reported}`,
  );
  const findings = createFindings({ query, command });
  while (await findings.sweep(later)) continue;
  const claimed = new Set(
    [...callbacks.values()]
      .filter(({ verdict }) => verdict === 'valid')
      .map(({ externalId, status }) => `${externalId} ${status}`),
  );
  const expected = new Set(
    truth.flatMap((order) => kindsOf(order, claimed).map((kind) => nameOf(order.externalId, kind))),
  );
  const rows = await query<{ external_id: string; kind: FindingKind; received: string }>(
    'SELECT external_id, kind, received FROM findings WHERE resolved_at IS NULL',
  );
  tally.expected = expected.size;
  tally.stored = rows.length;
  for (const { external_id, kind, received } of rows)
    if (!expected.delete(nameOf(external_id, kind)))
      blame(tally, 'altered', `${external_id}: ${kind}, ${received}`);
  for (const missing of expected) blame(tally, 'lost', missing);
  return tally;
}

/** @param claimed orders and statuses that a verified callback names */
function kindsOf(order: OrderTruth, claimed: ReadonlySet<string>): FindingKind[] {
  const items = order.items.map(({ action }) => decode(action));
  if (!isFinal(order)) return items.some(isInProcessing) ? ['STUCK_PROCESSING'] : [];
  const failed = items.findIndex(({ state }) => state === 'FAILED');
  const paid = items.findLastIndex(({ state }) => state === 'SUCCESS');
  return [
    ...(failed >= 0 && paid > failed ? (['SUCCESS_AFTER_FAILED'] as const) : []),
    ...(claimed.has(`${order.externalId} ${order.finalStatus}`) ? [] : (['CALLBACK_MISSING'] as const)),
  ];
}

const isInProcessing = ({ stage, state, reasonCode }: DecodedCode): boolean =>
  reasonCode === 55 || stage === 'CHECK' || stage === 'GATEWAY_CALLBACK' || state === 'PROCESSING';

const nameOf = (externalId: string, kind: FindingKind): string => `${externalId} ${kind}`;
