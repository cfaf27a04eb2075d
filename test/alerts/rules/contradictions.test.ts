import { afterAll, beforeAll, expect, it } from 'vitest';
import { CONTRADICTION_RULES } from '../../../alerts/rules/contradictions.ts';
import { FINDING_KINDS, type FindingKind } from '../../../schemas/findings.ts';
import { dateTime64, type SeededStore, startSeededStore } from '../../support/seed-store.ts';
import { evaluationsOf } from '../support/evaluation.ts';
import { MINUTE, NOW } from '../traffic.ts';

/** How many orders have a contradiction, by kind; found when, and resolved when. */
interface Found {
  readonly gateway: string;
  readonly kind: FindingKind;
  readonly side: string;
  readonly orders: number;
  readonly at?: number;
  readonly resolvedAt?: number;
}

const FOUND: readonly Found[] = [
  { gateway: 'wrong', kind: 'AMOUNT_DISAGREES', side: 'gateway', orders: 1 },
  { gateway: 'wrong', kind: 'CALLBACK_MISSING', side: 'merchant', orders: 6 },
  { gateway: 'wrong', kind: 'SIGNATURE_CONFLICT', side: 'stranger', orders: 2 },
  { gateway: 'few', kind: 'CALLBACK_MISSING', side: 'merchant', orders: 5 },
  { gateway: 'few', kind: 'CALLBACK_MISSING', side: 'gateway', orders: 50 },
  { gateway: 'few', kind: 'FIRST_SEEN_TRANSITION', side: 'gateway', orders: 1 },
  { gateway: 'over', kind: 'STATUS_DISAGREES', side: 'gateway', orders: 3, at: NOW - 61 * MINUTE },
  { gateway: 'over', kind: 'HISTORY_REWRITTEN', side: 'gateway', orders: 3, resolvedAt: NOW - MINUTE },
];

let store: SeededStore;
beforeAll(async () => {
  store = await startSeededStore();
  for (const { gateway, kind, side, orders, at = NOW - 10 * MINUTE, resolvedAt } of FOUND)
    await store.command(
      `INSERT INTO gatewatch.findings_store SELECT '${gateway}', 'Deposit', concat('${side}-${kind}-', toString(number)), '${kind}', '', toDateTime64('${dateTime64(at)}', 6, 'UTC'), '${side}', '', '', [], ${resolvedAt === undefined ? 'NULL' : `toDateTime64('${dateTime64(resolvedAt)}', 6, 'UTC')`}, now64(6) FROM numbers(${orders})`,
    );
  await store.seed({
    gatewayStatus: ['wrong', 'few', 'over', 'fine'].map((gateway) => ({
      gateway,
      reportedAt: NOW - 5_000,
      watermarkAt: NOW - 5_000,
    })),
  });
});
afterAll(() => store?.stop());

it('fires for a side whose orders contradict, and for no other gateway', async () => {
  const rows = (await evaluationsOf(store, CONTRADICTION_RULES).rows(NOW)).filter(
    ({ breach }) => breach === 1,
  );
  expect(
    rows.map(({ rule, gateway, label, number }) => `${rule} ${gateway} ${label} ${number}`).toSorted(),
  ).toEqual([
    'GatewatchFindingsGateway wrong AMOUNT_DISAGREES 1',
    'GatewatchFindingsMerchant wrong CALLBACK_MISSING 6',
    'GatewatchFindingsStranger wrong SIGNATURE_CONFLICT 2',
  ]);
});

it('has a row for every kind of every gateway that is reported on, so that an alert can end', async () => {
  const rows = await evaluationsOf(store, CONTRADICTION_RULES).rows(NOW + MINUTE);
  const fine = rows.filter(({ gateway }) => gateway === 'fine');
  expect(fine.map(({ number }) => number)).toEqual(fine.map(() => 0));
  expect(new Set(fine.map(({ rule, label }) => `${rule} ${label}`)).size).toBe(10);
});

it('leaves no side of a finding without a rule', () => {
  const sides = new Set(Object.values(FINDING_KINDS).flatMap(({ sides: some }): readonly string[] => some));
  // Orders that are stuck have a rule of their own.
  const spoken = new Set<string>([...CONTRADICTION_RULES.map(({ side }) => side), 'provider']);
  expect([...sides].filter((side) => !spoken.has(side))).toEqual([]);
});
