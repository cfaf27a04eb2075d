import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { UNKNOWN_CODE_BIT } from '../../../alerts/count/code-bits.ts';
import type { GatewayEnd } from '../../../alerts/count/item-counts.ts';
import { NO_FRONTIER } from '../../../alerts/count/marks.ts';
import { MARKS_KEPT_HOURS } from '../../../alerts/count/tables.ts';
import { createItemCounter, nextFrontier } from '../../../alerts/evaluate/item-counter.ts';
import { RULES } from '../../../alerts/rules/all.ts';
import { CATALOGUE } from '../../../schemas/dictionary.ts';
import { type SeededStore, type SeedOrder, startSeededStore } from '../../support/seed-store.ts';
import { MINUTE, NOW } from '../traffic.ts';

const HOUR = 60 * MINUTE;
const rules = RULES.filter((rule) => rule.kind !== 'gauge');
const CODES = [...CATALOGUE.map(({ action }) => action), '2.2.4.99', 'legacy.code'];

/** Numbers of 0 to 1 in an order of their own, the same in every run. */
function sequence(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Orders of nine hours: some live for hours, and some items are seen long after they happened. */
function orders(gateway: string, count: number, seed: number): SeedOrder[] {
  const random = sequence(seed);
  return Array.from({ length: count }, (_, n) => {
    const start = NOW - 9 * HOUR + random() * 9 * HOUR;
    const spread = random() < 0.1 ? 4 * HOUR : 4 * MINUTE;
    const items = Array.from({ length: 1 + Math.floor(random() * 8) }, () => {
      const at = Math.floor(Math.min(start + random() * spread, NOW - 1));
      const late = random() < 0.15 ? random() * 3 * HOUR : random() * 20_000;
      const action = CODES[Math.floor(random() * CODES.length)] ?? '';
      return { at, action, observedAt: at + late };
    });
    return { gateway, externalId: `${gateway}-${n}`, items };
  });
}

const end = (gateway: string, at: number, behind = 30): GatewayEnd => ({
  gateway,
  end: at / 1000 - behind,
  lateEnd: at / 1000 - behind - 60,
});
const endsAt = (at: number) => [end('one', at), end('two', at, 90), end('blind', NOW - 3 * HOUR)];

let store: SeededStore;
beforeAll(async () => {
  store = await startSeededStore();
  await store.seed({
    orders: [...orders('one', 700, 1), ...orders('two', 500, 2), ...orders('blind', 300, 3)],
  });
});
afterAll(() => store?.stop());

const query = async <T>(sql: string): Promise<T[]> => (await store.queryAsWriter(sql)).data as T[];
const newCounter = () => createItemCounter({ rules, query });

/** Every count of every rule, label, gateway and window at an instant. */
async function counts(counter: ReturnType<typeof newCounter>, at: number, ends = endsAt(at)) {
  const found = new Map<string, [seen: number, hit: number]>();
  await counter.count(rules, ends, at / 1000, ({ rule, label, gateway, windowSeconds }, seen, hit) => {
    const key = [rule, label, gateway, windowSeconds].join(' ');
    const [before, hitBefore] = found.get(key) ?? [0, 0];
    found.set(key, [before + seen, hitBefore + hit]);
  });
  return found;
}

it('counts the same from marks that are kept as from the items, late ones and repetitions included', async () => {
  const keeping = newCounter();
  // A minute's keeping at a time, as a collector does it; items go on to come meanwhile.
  const instants = Array.from({ length: 12 }, (_, n) => NOW - (11 - n) * 7 * MINUTE);
  for (const at of instants) {
    const kept = await counts(keeping, at);
    expect(kept).toEqual(await counts(newCounter(), at));
    expect([...kept.values()].filter(([, hit]) => hit > 0).length).toBeGreaterThan(50);
    for (let step = 0; step < 3; step++) await keeping.keep(at / 1000, store.command);
  }
  expect(await query('SELECT count() AS n FROM gatewatch.order_marks_store')).not.toEqual([{ n: 0 }]);
  // What was written down before is found by another one, and what is kept twice counts once.
  await store.command('INSERT INTO gatewatch.order_marks_store SELECT * FROM gatewatch.order_marks_store');
  const other = newCounter();
  expect(await counts(other, NOW + 5 * MINUTE)).toEqual(await counts(keeping, NOW + 5 * MINUTE));
});

it('sees a code that is new since it learned the codes', async () => {
  const counter = newCounter();
  const before = await counts(counter, NOW + 10 * MINUTE);
  await store.seed({
    orders: Array.from({ length: 20 }, (_, n) => ({
      gateway: 'one',
      externalId: `new-${n}`,
      items: [{ at: NOW + 5 * MINUTE, action: '9.9.9.99', observedAt: NOW + 5 * MINUTE }],
    })),
  });
  const key = 'GatewatchUnknownCodes  one 900';
  const after = await counts(counter, NOW + 10 * MINUTE);
  expect((after.get(key)?.[1] ?? 0) - (before.get(key)?.[1] ?? 0)).toBe(20);
});

it('counts a gateway that is not heard for half a day as it was, though marks are kept for hours only', async () => {
  const counter = newCounter();
  const ends = [end('one', NOW)];
  // All that came late has come.
  const before = await counts(newCounter(), NOW + 3.5 * HOUR, ends);
  const later = NOW + 10 * HOUR;
  for (let step = 0; step < 20 && (await counter.keep(later / 1000, store.command)); step++);
  // What the store does by itself, at a time of its own.
  const old = `slot < toDateTime(${later / 1000 - 12 * 3600})`;
  await store.command(
    `ALTER TABLE gatewatch.order_marks_store DELETE WHERE keep_long = 0 AND ${old} SETTINGS mutations_sync = 1`,
  );
  expect(await counts(counter, later, ends)).toEqual(before);
  expect([...before.values()].filter(([, hit]) => hit > 0).length).toBeGreaterThan(20);
});

it('learns a code that no pass has seen before it keeps its items', async () => {
  const counter = newCounter();
  const at = NOW + 40 * MINUTE;
  const ends = [end('one', NOW)];
  await counts(counter, at, ends);
  await store.seed({
    orders: [
      {
        gateway: 'one',
        externalId: 'unseen',
        items: [{ at: NOW + MINUTE, action: '8.8.8.88', observedAt: NOW + MINUTE }],
      },
    ],
  });
  for (let step = 0; step < 20 && (await counter.keep((at + 30 * MINUTE) / 1000, store.command)); step++);
  expect(
    await query(
      `SELECT count() AS n FROM gatewatch.order_marks_store WHERE bitTest(marks, ${UNKNOWN_CODE_BIT}) AND slot >= toDateTime(${NOW / 1000})`,
    ),
  ).toEqual([{ n: 0 }]);
});

it('goes on counting when a gateway sends more codes than can be looked up', async () => {
  const ends = [end('one', NOW)];
  const looked = await counts(newCounter(), NOW, ends);
  await store.seed({
    orders: Array.from({ length: 4_000 }, (_, n) => ({
      gateway: 'hostile',
      externalId: `code-${n}`,
      items: [{ at: NOW - HOUR, action: `7.${n}.${'9'.repeat(40)}`, observedAt: NOW - HOUR }],
    })),
  });
  const statements: string[] = [];
  const counter = createItemCounter({
    rules,
    async query<T>(sql: string) {
      statements.push(sql);
      return (await store.queryAsWriter(sql)).data as T[];
    },
  });
  const asked = await counts(counter, NOW, ends);
  expect(asked).toEqual(looked);
  expect(Math.max(...statements.map(({ length }) => length))).toBeLessThan(64_000);
  const others = await counts(counter, NOW, [...ends, end('hostile', NOW)]);
  expect(
    others.get('GatewatchUnknownCodes  hostile 3600') ?? others.get('GatewatchUnknownCodes  hostile 900'),
  ).toBeDefined();
});

it('keeps newest first, then backwards a stretch at a time, and begins anew after a long rest', () => {
  const asOf = NOW / 1000;
  let frontier = nextFrontier(NO_FRONTIER, asOf) ?? NO_FRONTIER;
  const { to } = frontier;
  expect(asOf - to).toBeGreaterThanOrEqual(1_200);
  for (let steps = 0; steps < 100; steps++) {
    const next = nextFrontier(frontier, asOf);
    if (next === null) break;
    expect(next).toMatchObject({ to, knownUs: frontier.knownUs });
    expect(next.from).toBeLessThan(frontier.from);
    frontier = next;
  }
  expect(to - frontier.from).toBeGreaterThan(72 * 3_600);
  expect(nextFrontier(frontier, asOf)).toBeNull();
  expect(nextFrontier(frontier, asOf + 600)).toMatchObject({ from: frontier.from, to: to + 600 });
  expect(nextFrontier(frontier, asOf + 86_400)?.from).toBeGreaterThan(frontier.to);
});

it('goes by the time for which the store keeps marks', async () => {
  // Seeded stores keep everything: what holds is what the table's file says.
  const file = new URL('../../../schemas/tables/order_marks_store.sql', import.meta.url);
  const sql = await readFile(file, 'utf8');
  const { short, long } = MARKS_KEPT_HOURS;
  const kept = `TTL slot + toIntervalHour(${short}) WHERE keep_long = 0, slot + toIntervalDay(${long / 24})`;
  expect(sql).toContain(kept);
});
