import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Clocks, WindowEnds } from '../../../alerts/count/clocks.ts';
import { conditionsOf } from '../../../alerts/count/order-count.ts';
import { WHOLE } from '../../../alerts/count/slices.ts';
import { lengthsOf } from '../../../alerts/count/windows.ts';
import { createOrderCounter } from '../../../alerts/evaluate/order-counter.ts';
import { RULES } from '../../../alerts/rules/all.ts';
import type { CountingRule } from '../../../alerts/rules/rule.ts';
import { CATALOGUE } from '../../../schemas/dictionary.ts';
import { outcome } from '../../../schemas/measures.ts';
import { type SeededStore, type SeedOrder, startSeededStore } from '../../support/seed-store.ts';
import { MINUTE, NOW } from '../traffic.ts';

const HOUR = 60 * MINUTE;
const ofKind = (...kinds: string[]): CountingRule[] =>
  RULES.filter((rule) => rule.kind !== 'gauge').filter(({ count }) => kinds.includes(count.from.kind));
const rules = ofKind('items', 'finished');
const CODES = [...CATALOGUE.map(({ action }) => action), '2.2.4.99', 'legacy.code'];
const CLOCKS: Clocks = { watermarks: new Map(), settings: new Map(), calendars: new Map(), overrides: {} };

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

const end = (gateway: string, at: number, behind = 30): WindowEnds => ({
  gateway,
  end: at / 1000 - behind,
  lateEnd: at / 1000 - behind - 60,
});
const endsAt = (at: number) => [end('one', at), end('two', at, 90), end('behind', NOW - 3 * HOUR)];

let store: SeededStore;
beforeAll(async () => {
  store = await startSeededStore();
  await store.seed({
    orders: [...orders('one', 700, 1), ...orders('two', 500, 2), ...orders('behind', 300, 3)],
  });
});
afterAll(() => store?.stop());

const query = async <T>(sql: string): Promise<T[]> => (await store.queryAsWriter(sql)).data as T[];

interface Place {
  readonly rule: CountingRule;
  readonly label: string;
  readonly gateway: string;
  readonly windowSeconds: number;
  readonly end: number;
}

const placesOf = (ends: readonly WindowEnds[]): Place[] =>
  rules.flatMap((rule) =>
    ends.flatMap(({ gateway, end, lateEnd }) =>
      rule.count.counts.flatMap(({ label }) =>
        lengthsOf(rule).map((windowSeconds) => ({
          rule,
          label,
          gateway,
          windowSeconds,
          end: rule.count.clock === 'late' ? lateEnd : end,
        })),
      ),
    ),
  );
const nameOf = ({ rule, label, gateway, windowSeconds }: Place): string =>
  [rule.name, label, gateway, windowSeconds].join(' ');

/** Every count of every rule, label, gateway and window at an instant, as the product counts. */
async function counts(at: number, ends = endsAt(at), count = createOrderCounter(query)) {
  const found = await count(rules, ends, CLOCKS, at / 1000);
  return new Map(
    placesOf(ends).map((place) => {
      const { seen, hit } = found.of({
        rule: place.rule.name,
        gateway: place.gateway,
        slice: WHOLE,
        label: place.label,
      });
      return [nameOf(place), [seen(place.windowSeconds), hit(place.windowSeconds)]];
    }),
  );
}

/** The same from the items themselves, each window asked for itself. */
async function countsOfItems(at: number, ends = endsAt(at)) {
  const time = (seconds: number): string => `toDateTime64(${seconds}, 6, 'UTC')`;
  const statements = placesOf(ends).map((place) => {
    const { rule, label, gateway, windowSeconds } = place;
    const { seen, hit } = conditionsOf(
      rule.count,
      rule.count.counts.find((one) => one.label === label) ?? expect.fail('no label'),
    );
    const within = `event_time >= ${time(place.end - windowSeconds)} AND event_time < ${time(place.end)}`;
    const known = `gateway = '${gateway}' AND observed_at <= ${time(at / 1000)}`;
    const items = `SELECT * FROM
          (
            SELECT *, row_number() OVER (PARTITION BY order_type, external_id, stage ORDER BY event_time DESC, list_position DESC, action DESC) = 1 AS is_last
            FROM gatewatch.history_events WHERE ${known} AND event_time < ${time(place.end)}
          )
          WHERE ${within}`;
    // The deciding item of all that had happened by the end; it has to lie in the window.
    const isDeciding = `h.state IN ('SUCCESS', 'FAILED')`;
    const decided = `SELECT order_type, external_id, maxIf(h.event_time, ${isDeciding}) AS decided_at, argMaxIf(tuple(h.state, h.reason_code, h.reason_group), (h.event_time, h.list_position, h.action), ${isDeciding}) AS item,
            countIf(h.action = '3.1.1.55') > 0 AS was_submitted, if(was_submitted, minIf(h.event_time, h.action = '3.1.1.55'), min(h.event_time)) AS waits_from,
            if(countIf(h.stage = 'PAYFORM') > 0 AND NOT was_submitted, NULL, dateDiff('millisecond', waits_from, decided_at) / 1000) AS took_seconds, item.1 AS state, item.2 AS reason_code, item.3 AS reason_group, ${outcome('item.1', 'item.3')} AS outcome
          FROM gatewatch.history_events AS h WHERE ${known} AND h.event_time < ${time(place.end)} GROUP BY order_type, external_id HAVING countIf(${isDeciding}) > 0 AND ${within.replaceAll('event_time', 'decided_at')}`;
    return `SELECT '${nameOf(place)}' AS name, uniqExactIf((order_type, external_id), ifNull(${seen}, 0)) AS seen, uniqExactIf((order_type, external_id), ifNull(${hit}, 0)) AS hit
          FROM (${rule.count.from.kind === 'items' ? items : decided})`;
  });
  // Some at a time: the engine bounds the length of a statement.
  const rows: { name: string; seen: number; hit: number }[] = [];
  for (let from = 0; from < statements.length; from += 30)
    rows.push(...(await query<(typeof rows)[0]>(statements.slice(from, from + 30).join(' UNION ALL '))));
  return new Map(rows.map(({ name, seen, hit }) => [name, [Number(seen), Number(hit)]]));
}

it('counts what the items say, late ones and repetitions included', async () => {
  // Items go on to come meanwhile.
  for (const at of [NOW - 77 * MINUTE, NOW - 28 * MINUTE, NOW]) {
    const found = await counts(at);
    expect(found).toEqual(await countsOfItems(at));
    expect([...found.values()].filter(([, hit = 0]) => hit > 0).length).toBeGreaterThan(50);
  }
});

it('counts a gateway that is behind anew when it is heard again, and what comes late within ten minutes', async () => {
  const counter = createOrderCounter(query);
  const later = NOW + 3 * HOUR;
  const before = await counts(later, [end('two', NOW)], counter);
  await store.seed({
    orders: Array.from({ length: 20 }, (_, n) => ({
      gateway: 'two',
      externalId: `late-${n}`,
      items: [{ at: NOW - 5 * MINUTE, action: '9.9.9.99', observedAt: later - MINUTE }],
    })),
  });
  const key = 'GatewatchUnknownCodes  two 900';
  const added = async (at: number, ends: WindowEnds[]) =>
    ((await counts(at, ends, counter)).get(key)?.[1] ?? 0) - (before.get(key)?.[1] ?? 0);
  expect(await added(later + 5 * MINUTE, [end('two', NOW)])).toBe(0);
  expect(await added(later + 11 * MINUTE, [end('two', NOW)])).toBe(20);
  expect(await counts(later + 12 * MINUTE, [end('two', NOW + MINUTE)], counter)).toEqual(
    await counts(later + 12 * MINUTE, [end('two', NOW + MINUTE)]),
  );
});

it('counts others as before when a gateway sends thousands of codes', async () => {
  const ends = [end('one', NOW)];
  const before = await counts(NOW, ends);
  await store.seed({
    orders: Array.from({ length: 4_000 }, (_, n) => ({
      gateway: 'hostile',
      externalId: `code-${n}`,
      items: [{ at: NOW - HOUR / 2, action: `7.${n}.${'9'.repeat(40)}`, observedAt: NOW - HOUR / 2 }],
    })),
  });
  const statements: string[] = [];
  const counter = createOrderCounter(async <T>(sql: string) => {
    statements.push(sql);
    return (await store.queryAsWriter(sql)).data as T[];
  });
  const after = await counts(NOW, [...ends, end('hostile', NOW)], counter);
  for (const [name, numbers] of before) expect([name, after.get(name)]).toEqual([name, numbers]);
  expect(after.get('GatewatchUnknownCodes  hostile 3600')).toEqual([4_000, 4_000]);
  expect(Math.max(...statements.map(({ length }) => length))).toBeLessThan(64_000);
});
