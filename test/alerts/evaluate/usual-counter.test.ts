import { expect, it } from 'vitest';
import { calendarOf } from '../../../alerts/count/calendar.ts';
import { createUsualCounter } from '../../../alerts/evaluate/usual-counter.ts';
import { RULES } from '../../../alerts/rules/all.ts';
import type { CountingRule } from '../../../alerts/rules/rule.ts';

/** A Monday. */
const MONDAY = Date.UTC(2026, 10, 23, 12) / 1000;
const rules = RULES.filter((rule): rule is CountingRule => rule.kind !== 'gauge');
const shares = rules.filter(({ name }) => name === 'GatewatchApprovalDrop');

/** Gateways that are known up to an instant. */
const seen = (end: number, ...gateways: readonly string[]) => gateways.map((gateway) => ({ gateway, end }));

function counter() {
  const statements: string[] = [];
  const count = createUsualCounter(rules, (sql) => {
    statements.push(sql);
    return Promise.resolve([]);
  });
  return { statements, count };
}

it('asks once a quarter of an hour for shares, again for another gateway, and not at all without one', async () => {
  const { statements, count } = counter();
  await count(shares, [], MONDAY, new Map());
  expect(statements).toEqual([]);
  for (const seconds of [0, 60, 899])
    await count(shares, seen(MONDAY + seconds, 'acme-eu'), MONDAY + seconds, new Map());
  expect(statements).toHaveLength(1);
  await count(shares, seen(MONDAY + 899, 'acme-eu', 'blue-pay'), MONDAY + 899, new Map());
  await count(shares, seen(MONDAY + 900, 'acme-eu'), MONDAY + 900, new Map());
  expect(statements).toHaveLength(3);
});

it('asks for the hours at which a gateway was seen last, once, while we cannot see it', async () => {
  const { statements, count } = counter();
  const lost = MONDAY - 2 * 3_600;
  for (const seconds of [0, 900, 1_800]) {
    const ends = [...seen(MONDAY + seconds, 'acme-eu'), ...seen(lost, 'blue-pay')];
    await count(shares, ends, MONDAY + seconds, new Map());
  }
  const ofLost = statements.filter((sql) => sql.includes("gateway IN ('blue-pay')"));
  expect(statements).toHaveLength(4);
  expect(ofLost).toHaveLength(1);
  // Up to an hour and a quarter after it, a week before.
  expect(ofLost[0]).toContain(`toDateTime64(${lost - 7 * 86_400 + 4_500}, 6, 'UTC')`);
});

it('knows nothing usual where each of the days before is a holiday', async () => {
  const { statements, count } = counter();
  const before = [1, 2, 3, 7, 14, 21, 28].map((days) =>
    new Date((MONDAY - days * 86_400) * 1000).toISOString().slice(0, 10),
  );
  const usual = await count(
    shares,
    seen(MONDAY, 'acme-eu'),
    MONDAY,
    new Map([['acme-eu', calendarOf('UTC', before)]]),
  );
  expect(statements).toEqual([]);
  expect(usual.get('GatewatchApprovalDrop')).toEqual([]);
});
