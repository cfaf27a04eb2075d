import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../support/until.ts';
import type { Seed, SeedOrder } from '../../support/seed-store.ts';
import { drawnPanels, generatedDashboards } from '../generated.ts';
import { keepQuarters, KNOWN_ID, orders, seed, type Seeded, startSeeded } from '../seeded.ts';
import { MINUTE } from '../traffic.ts';

/** Numbers of the clock or of the disk. */
const NOT_OF_THE_ROWS = new Set(['Age of what we know, by gateway', 'Size of the store, by table']);

const panels = generatedDashboards().flatMap((board) =>
  drawnPanels(board)
    .filter(({ title, targets }) => targets !== undefined && !NOT_OF_THE_ROWS.has(title))
    .map((panel) => [`${board.title}: ${panel.title}`, panel.targets?.[0]?.rawSql ?? ''] as const),
);

/** Items of the orders that a condition on their place picks. */
const itemsOf = (picks: (place: number) => boolean): SeedOrder[] =>
  orders
    .map((order) => Object.assign({}, order, { items: order.items.filter((_, place) => picks(place)) }))
    .filter(({ items }) => items.length > 0);
const HEADS: Seed = { orders: itemsOf((place) => place % 3 === 0) };
const MIDDLES: Seed = { orders: itemsOf((place) => place % 3 === 1) };
const TAILS: Seed = { orders: itemsOf((place) => place % 3 === 2) };
const rest = (): Seed => ({ ...seed(), orders: [] });

const kept = async ({ store }: Seeded): Promise<{ rows: number; quarters: number }> => {
  const { data } = await store.queryAsWriter(
    'SELECT count() AS rows, uniqExact(quarter, order_number) AS quarters FROM gatewatch.order_quarters_store',
  );
  return { rows: Number(data[0]?.['rows']), quarters: Number(data[0]?.['quarters']) };
};

describe('whatever is kept of quarters, panels show the same:', () => {
  let none: Seeded;
  let pieced: Seeded;
  beforeAll(async () => {
    none = await startSeeded([rest(), HEADS, MIDDLES, TAILS], { keep: false });
    // Two thirds of the items come late: one for what is kept and kept too, one for what is kept already.
    pieced = await startSeeded([rest(), HEADS], { keep: false });
    await keepQuarters(pieced.store, Date.now() - 60 * MINUTE);
    await pieced.store.seed(MIDDLES);
    await until('the second to be over in which they were stored', isOver, Boolean);
    await keepQuarters(pieced.store);
    await pieced.store.seed(TAILS);
  });
  afterAll(() => Promise.all([none?.store.stop(), pieced?.store.stop()]));

  const isOver = async (): Promise<boolean> => {
    const { data } = await pieced.store.queryAsWriter(
      'SELECT max(stored_at) < now() - 1 AS is_over FROM gatewatch.history_events_by_time_store',
    );
    return Number(data[0]?.['is_over']) === 1;
  };

  it('with items that came late beside those that are kept', async () => {
    expect(await kept(none)).toEqual({ rows: 0, quarters: 0 });
    const { rows, quarters } = await kept(pieced);
    expect(quarters).toBeGreaterThan(1000);
    expect(rows).toBeGreaterThan(quarters);
  });

  it.each(panels)('%s', async (_, sql) => {
    const variables = { order_id: [KNOWN_ID] };
    const [expected, actual] = await Promise.all([none.run(sql, variables), pieced.run(sql, variables)]);
    expect(expected.data.length).toBeGreaterThan(0);
    expect(actual.data).toEqual(expected.data);
  });

  it.each(panels.filter(([, sql]) => sql.includes('poll_counts(')))('by quarters, %s', async (_, sql) => {
    const [expected, actual] = await Promise.all([none, pieced].map((one) => one.run(sql, {}, 15 * MINUTE)));
    expect(expected?.data.length).toBeGreaterThan(0);
    expect(actual?.data).toEqual(expected?.data);
  });
});

describe('items that come again from another place in the list change nothing', () => {
  it.each([
    ['of what is kept', true],
    ['of what is not kept', false],
  ] as const)('%s', async (_, keep) => {
    const { store, run } = await startSeeded([seed()], { keep });
    const ofQuarters = panels.filter(([, sql]) => sql.includes('order_quarters('));
    const answers = async () => {
      const all: (readonly [string, unknown])[] = [];
      for (const [panel, sql] of ofQuarters) all.push([panel, (await run(sql)).data]);
      return all;
    };
    try {
      const before = await answers();
      await store.command(`INSERT INTO gatewatch.history_events_store
        SELECT * REPLACE(list_position + 1 AS list_position, observed_at + 1 AS observed_at) FROM gatewatch.history_events_store`);
      expect(await answers()).toEqual(before);
      if (keep) await keepQuarters(store);
      expect(await answers()).toEqual(before);
    } finally {
      await store.stop();
    }
  });
});
