import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sliceCondition } from '../../../alerts/count/slices.ts';
import type { Evaluation } from '../../../alerts/evaluate/evaluation.ts';
import { sentenceOf } from '../../../alerts/explain/sentence.ts';
import { SLOWNESS_RULES } from '../../../alerts/rules/slowness.ts';
import {
  type SeededStore,
  type SeedItem,
  type SeedOrder,
  startSeededStore,
} from '../../support/seed-store.ts';
import { type Evaluations, evaluationsOf } from '../support/evaluation.ts';
import { MINUTE, NOW } from '../traffic.ts';

/** How long orders take: four weeks of what is usual, an hour in which it is something else, and after it. */

const WEEK = 7 * 24 * 60 * MINUTE;
const SECOND = 1_000;
const A_MINUTE = 20;
const rules = SLOWNESS_RULES.filter(({ name }) => name !== 'GatewatchReadsSlow');

/** Seconds of the nth order: 20 in the middle, one in ten above 56, one in twenty above 79. */
function usualSeconds(n: number): number {
  const part = 0.001 + 0.998 * ((n * 0.618_034) % 1);
  return 20 * Math.exp((0.8 * Math.log(part / (1 - part))) / 1.7);
}

interface OrderShape {
  /** @default card */
  readonly channel?: string;
  /** @default a form, submitted after twenty seconds */
  readonly codes?: readonly string[];
  readonly seconds: number;
  /** @default paid */
  readonly last?: string;
}
type Shape = (n: number, isNow: boolean) => OrderShape;

const FORM = ['1.0.0.00', '2.1.1.00', '3.0.1.00', '3.1.1.55'];

function order(gateway: string, id: string, start: number, shape: OrderShape): SeedOrder {
  const { channel = 'card', codes = FORM, seconds, last = '4.1.3.00' } = shape;
  const items = codes.map((action, index): SeedItem => ({
    at: start + (action === '3.1.1.55' ? 20 : index) * SECOND,
    action,
  }));
  const from = items.find(({ action }) => action === '3.1.1.55')?.at ?? start;
  const all = [...items, { at: from + seconds * SECOND, action: last }].toSorted((a, b) => a.at - b.at);
  return {
    gateway,
    externalId: `${gateway}-${id}`,
    channel,
    items: all.map((item) => ({ ...item, observedAt: item.at + SECOND })),
  };
}

function stretch(
  gateway: string,
  [from, to]: readonly [number, number],
  aMinute: number,
  shapeOf: (n: number) => OrderShape,
): SeedOrder[] {
  const count = Math.round((aMinute * (to - from)) / MINUTE);
  return Array.from({ length: count }, (_, n) => {
    const start = from + Math.floor(((to - from) * n) / count);
    return order(gateway, `${from}-${n}`, start, shapeOf(n));
  });
}

/** From `NOW` on it is otherwise for an hour; of most gateways only the beginning matters. */
const months = (
  gateway: string,
  shape: Shape,
  {
    weeks = [1, 2, 3, 4],
    minutes = 16,
  }: { readonly weeks?: readonly number[]; readonly minutes?: number } = {},
): SeedOrder[] => [
  ...weeks.flatMap((week) => {
    const at = NOW - week * WEEK;
    return stretch(gateway, [at - 120 * MINUTE, at + 165 * MINUTE], 3, (n) => shape(n, false));
  }),
  ...stretch(gateway, [NOW - 20 * MINUTE, NOW], A_MINUTE, (n) => shape(n, false)),
  ...stretch(gateway, [NOW, NOW + minutes * MINUTE], A_MINUTE, (n) => shape(n, true)),
  ...(minutes < 60
    ? []
    : stretch(gateway, [NOW + 60 * MINUTE, NOW + 90 * MINUTE], A_MINUTE, (n) => shape(n, false))),
];

const slower =
  (times: number, more: (n: number, isNow: boolean) => Partial<OrderShape> = () => ({})): Shape =>
  (n, isNow) => ({ seconds: (isNow ? times : 1) * usualSeconds(n), ...more(n, isNow) });

const GATEWAYS: Readonly<Record<string, Shape>> = {
  fivefold: slower(5),
  threefold: slower(3),
  usual: slower(1.25),
  // One order in eight goes by a channel of its own, and these take eight times as long.
  channel: (n, isNow) => ({
    channel: n % 8 === 0 ? 'p2p' : 'card',
    seconds: (isNow && n % 8 === 0 ? 8 : 1) * usualSeconds(n * 7),
  }),
  // Three in ten go by a channel that takes twenty times as long as the others, which are slow now.
  mixed: (n, isNow) => ({
    channel: n % 10 < 3 ? 'bank' : 'card',
    seconds: (n % 10 < 3 ? 20 : isNow ? 3 : 1) * usualSeconds(n * 7),
  }),
  // Everything takes five times as long, and of those who wait four in ten cancel.
  leaving: slower(5, (n, isNow) => ({ last: n % 100 < (isNow ? 40 : 5) ? '3.0.4.54' : '4.1.3.00' })),
  // As many cancel, and nothing takes longer.
  cancelling: slower(1, (n, isNow) => ({ last: n % 100 < (isNow ? 40 : 5) ? '3.0.4.54' : '4.1.3.00' })),
  // Forms that are never submitted and expire after half an hour; none takes longer than usual.
  expiring: slower(1, (n, isNow) =>
    n % 100 < (isNow ? 40 : 5) ? { codes: FORM.slice(0, 3), seconds: 1_800, last: '4.1.4.00' } : {},
  ),
  // The gateway's clock steps back for half of the orders: they are final before they were submitted.
  backwards: slower(1, (n, isNow) => (isNow && n % 2 === 0 ? { seconds: -600 } : {})),
  // No form: payouts, and shops that have one of their own.
  direct: slower(5, () => ({ codes: ['1.0.0.00', '2.1.1.00'] })),
};

let store: SeededStore;
let evaluations: Evaluations;
const rowsAt = new Map<number, readonly Evaluation[]>();
const MINUTES = [-1, 4, 8, 12, 15, 59, 89];
beforeAll(async () => {
  store = await startSeededStore();
  evaluations = evaluationsOf(store, rules);
  const all = {
    ...Object.fromEntries(Object.entries(GATEWAYS).map(([name, shape]) => [name, months(name, shape)])),
    fivefold: months('fivefold', slower(5), { minutes: 60 }),
    // Known since today.
    new: months('new', slower(5), { weeks: [] }),
    set: months('set', slower(5), { weeks: [] }),
  };
  for (const orders of Object.values(all))
    for (let from = 0; from < orders.length; from += 5_000)
      await store.seed({ orders: orders.slice(from, from + 5_000) });
  await store.seed({
    gatewayStatus: MINUTES.flatMap((minute) =>
      Object.keys(all).map((gateway) => {
        const at = NOW + minute * MINUTE - 5 * SECOND;
        return { gateway, reportedAt: at, watermarkAt: at };
      }),
    ),
    rows: {
      alertSettings: Object.entries({ slowerThanSeconds: 90, shareAbove: 0.2 }).map(([setting, value]) => ({
        gateway: 'set',
        rule: 'GatewatchSlow',
        setting,
        value,
        configured_at: '2026-02-01 00:00:00.000000',
      })),
    },
  });
  for (const minute of MINUTES) rowsAt.set(minute, await evaluations.rows(NOW + minute * MINUTE));
});
afterAll(() => store?.stop());

const of = (gateway: string, minute: number): Evaluation[] =>
  (rowsAt.get(minute) ?? []).filter((row) => row.gateway === gateway);
const alerts = (gateway: string, minute: number): string[] =>
  of(gateway, minute)
    .filter(({ breach }) => breach === 1)
    .map(({ rule, slice, label }) => [rule.replace('Gatewatch', ''), slice, label].join(' '));
const first = (gateway: string): number | undefined =>
  MINUTES.find((minute) => alerts(gateway, minute).length > 0);
const everyAlert = (gateway: string): string[] => MINUTES.flatMap((minute) => alerts(gateway, minute));

describe('slow orders', () => {
  it('are an alert within a quarter of an hour, by the threshold that one order in ten usually exceeds', () => {
    expect(alerts('fivefold', 15)).toEqual(['Slow  1 min']);
    expect(first('fivefold')).toBeLessThanOrEqual(8);
    expect(alerts('threefold', 15)).toEqual(['Slow  1 min']);
    expect(first('threefold')).toBeLessThanOrEqual(12);
  });

  it('have one threshold at a gateway, with a row that says what is usual', () => {
    const [row, ...others] = of('usual', 15).filter(({ rule }) => rule === 'GatewatchSlow');
    expect(others).toEqual([]);
    expect((row?.expected ?? 0) / (row?.seen ?? 1)).toBeCloseTo(0.09, 1);
  });

  it('stay an alert for as long as it lasts, and no longer', () => {
    expect(alerts('fivefold', 59)).toEqual(['Slow  1 min']);
    expect(alerts('fivefold', 89)).toEqual([]);
  });

  it('of one channel are an alert of that channel', () => {
    expect(alerts('channel', 15)).toEqual([expect.stringMatching(/^Slow channel=p2p [12] min$/)]);
  });

  it('are found in a channel though others usually take longer than it takes now', () => {
    expect(alerts('mixed', 8)).toEqual(['Slow channel=card 1 min']);
  });

  it('without a form are timed from their first item', () => {
    expect(alerts('direct', 15)).toEqual(['Slow  1 min']);
  });

  it('are exactly the orders of the page, of the whole and of a slice', async () => {
    const found = [...of('fivefold', 15), ...of('channel', 15)].filter(({ breach }) => breach === 1);
    expect(found).toHaveLength(2);
    const at = (micros: number): string => `'${(micros / 1e6).toFixed(6)}'`;
    for (const row of found) {
      const { data } = await store.query(
        `SELECT count() AS orders FROM gatewatch.incident_orders(rule='${row.rule}', gateway='${row.gateway}', from=${at(row.window_from)}, to=${at(row.window_to)}, as_of=${at(row.as_of)}) WHERE label = '${row.label}' AND ${sliceCondition(row.slice)}`,
      );
      expect(Number(data[0]?.['orders'])).toBe(row.affected);
      expect(row.affected).toBeGreaterThanOrEqual(8);
    }
  });
});

describe('payers who give up', () => {
  it('are a critical alert, which speaks for the slow orders', () => {
    expect(alerts('leaving', 15)).toEqual(['PayersGiveUp  1 min']);
    expect(of('leaving', 15).map(({ rule, suppressed_by: cause }) => [rule, cause])).toContainEqual([
      'GatewatchSlow',
      'GatewatchPayersGiveUp',
    ]);
  });

  it('are none where payers cancel and nothing takes longer', () => {
    expect(alerts('cancelling', 15)).toEqual([]);
  });
});

describe('nothing is slow', () => {
  it('in an hour that takes a quarter longer than usual', () => {
    expect(everyAlert('usual')).toEqual([]);
  });

  it('where forms expire that nobody submitted', () => {
    expect(everyAlert('expiring')).toEqual([]);
  });

  it('where orders are final before they were submitted, by a clock that was set back', () => {
    expect(everyAlert('backwards')).toEqual([]);
  });

  it('as long as it is not known what is usual, and the row says so', () => {
    expect(everyAlert('new')).toEqual([]);
    const row = of('new', 15).find(({ rule }) => rule === 'GatewatchSlow');
    const rule = rules.find(({ name }) => name === 'GatewatchSlow');
    if (row === undefined || rule === undefined) return expect.fail('there is no row');
    expect(row.expected).toBeNull();
    expect(sentenceOf(rule, row)).toMatch(/; not judged until it is known what is usual\.$/);
  });

  it('unless the settings name a threshold and a share', () => {
    expect(alerts('set', 15)).toEqual(['Slow  2 min']);
  });
});
