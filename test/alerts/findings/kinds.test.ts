import { afterAll, beforeAll, expect, it } from 'vitest';
import { FINDING_TIMES } from '../../../schemas/findings.ts';
import { type SeededStore, startSeededStore } from '../../support/seed-store.ts';
import { merge, SCENARIOS } from '../scenarios.ts';
import { MINUTE, NOW } from '../traffic.ts';
import { findingsOf, sweepAll, watching } from './support/scene.ts';

/**
 * Findings and the alert rules that speak of the same orders must not be two truths. A callback that the
 * history has and that did not come to us is one of the merchant's side: the rule does not see it.
 */
const AGREE = [
  ['GatewatchSuccessAfterFailed', '', ['SUCCESS_AFTER_FAILED']],
  ['GatewatchStuckProcessing', '', ['STUCK_PROCESSING']],
  ['GatewatchMerchantCallbackMissing', 'SUCCESS', ['CALLBACK_MISSING', 'CALLBACK_WITHOUT_HISTORY']],
] as const;
const gatewayOf = (rule: string): string => rule.replace('Gatewatch', '').toLowerCase();
/** Long enough before now for late items to have come, and within the hour that the page names. */
const UNTIL = NOW - (FINDING_TIMES.lateItemsSeconds / 60 + 2) * MINUTE;

let store: SeededStore;
beforeAll(async () => {
  store = await startSeededStore();
  await store.seed(
    merge(
      AGREE.flatMap(([rule]) => {
        const scenario = SCENARIOS.find((one) => one.rule === rule);
        if (scenario === undefined) throw new Error(`no scenario for ${rule}`);
        const gateway = gatewayOf(rule);
        return [
          scenario.seed(gateway, 20, 30, UNTIL),
          watching(gateway),
          // Of another order: this gateway sends callbacks.
          {
            callbacks: [{ gateway, externalId: 'other', receivedAt: UNTIL, verdict: 'valid' as const }],
          },
        ];
      }),
    ),
  );
  await sweepAll(findingsOf(store));
});
afterAll(() => store?.stop());

const idsOf = async (sql: string): Promise<string[]> =>
  (await store.query(sql)).data.map((row) => String(row['external_id']));

it.each(AGREE)('names the orders of %s (%s)', async (rule, label, kinds) => {
  const gateway = gatewayOf(rule);
  const time = (ms: number): string => `'${new Date(ms).toISOString().replace('T', ' ').replace('Z', '')}'`;
  const ofPage = await idsOf(
    `SELECT DISTINCT external_id FROM gatewatch.incident_orders(rule='${rule}', gateway='${gateway}', from=${time(NOW - 90 * MINUTE)}, to=${time(NOW)}, as_of=${time(NOW)}) WHERE label = '${label}' ORDER BY external_id`,
  );
  expect(ofPage).toHaveLength(20);
  expect(
    await idsOf(
      `SELECT DISTINCT external_id FROM gatewatch.findings WHERE gateway = '${gateway}' AND kind IN ('${kinds.join("', '")}') AND side IN ('gateway', 'provider') ORDER BY external_id`,
    ),
  ).toEqual(ofPage);
});
