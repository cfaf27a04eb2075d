import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createQuarterKeeper } from '../../../alerts/evaluate/quarter-keeper.ts';
import type { QuarterKind } from '../../../schemas/kept-quarters.ts';
import { ORDER_QUARTERS_KEPT } from '../../../schemas/order-quarters.ts';
import { POLL_QUARTERS_KEPT } from '../../../schemas/poll-quarters.ts';
import { until } from '../../support/until.ts';
import {
  type SeededStore,
  type SeedOrder,
  type SeedPoll,
  startSeededStore,
} from '../../support/seed-store.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** A quarter began here. */
const NOON = Date.UTC(2026, 2, 2, 12);
const ASKED = { from: NOON - 24 * HOUR, to: NOON + HOUR };

const paid = (externalId: string, at: number): SeedOrder => ({
  gateway: 'acme-eu',
  externalId,
  items: [
    { at, action: '1.0.0.00' },
    { at: at + MINUTE, action: '4.1.3.00' },
  ],
});

const poll = (startedAt: number, more: Partial<SeedPoll> = {}): SeedPoll => ({
  gateway: 'acme-eu',
  orderId: `order-${startedAt}`,
  startedAt,
  outcome: 'ok',
  durationMs: 100 + ((startedAt / MINUTE) % 60),
  latenessMs: (startedAt / MINUTE) % 7,
  ...more,
});

interface Row {
  readonly quarter: string;
  readonly external_id: string;
  readonly length: number;
}

let store: SeededStore;
beforeAll(async () => {
  store = await startSeededStore();
});
afterAll(() => store?.stop());
beforeEach(async () => {
  for (const table of [
    'order_quarters_store',
    'order_quarters_frontier',
    'history_events_store',
    'history_events_by_time_store',
    'poll_quarters_store',
    'polls_store',
  ])
    await store.command(`TRUNCATE TABLE gatewatch.${table}`);
});

const rowsOf = async <T>(sql: string): Promise<T[]> => (await store.queryAsWriter(sql)).data as T[];
/** What is kept, as the table has it: `quarter order items`. */
const kept = async (): Promise<string[]> =>
  (
    await rowsOf<Row>(
      "SELECT formatDateTime(quarter, '%H:%i') AS quarter, external_id, length(items) AS length FROM gatewatch.order_quarters_store ORDER BY quarter, external_id, length",
    )
  ).map(({ quarter, external_id, length }) => `${quarter} ${external_id} ${length}`);
/** What readers see of it, each order once. */
const seen = async (): Promise<string[]> =>
  (
    await rowsOf<Row>(
      `SELECT '' AS quarter, external_id, length(arrayDistinct(groupArrayArray(items))) AS length
      FROM gatewatch.order_quarters(from = fromUnixTimestamp64Milli(${ASKED.from}), to = fromUnixTimestamp64Milli(${ASKED.to}))
      GROUP BY external_id ORDER BY external_id`,
    )
  ).map(({ external_id, length }) => `${external_id} ${length}`);

/** All that is stored is there at once; what is stored within the same second may be kept twice, or not. */
const keeperWith = (
  command: (sql: string) => Promise<void> = store.command,
  visibleAfterSeconds = 0,
  kind: QuarterKind = ORDER_QUARTERS_KEPT,
) => createQuarterKeeper({ kind, query: rowsOf, command, visibleAfterSeconds });

describe('the keeper of quarters', () => {
  it('keeps those that are over for five minutes, the past too, and nothing twice', async () => {
    await store.seed({
      orders: [
        paid('old', NOON - 9 * HOUR),
        paid('past', NOON - 10 * MINUTE),
        paid('new', NOON + 2 * MINUTE),
      ],
    });
    const keeper = keeperWith();
    await keeper.keep(NOON + 4 * MINUTE);
    expect(await kept()).toEqual(['03:00 old 2']);
    await keeper.keep(NOON + 5 * MINUTE);
    const sofar = ['03:00 old 2', '11:45 past 2'];
    expect(await kept()).toEqual(sofar);
    await keeper.keep(NOON + 19 * MINUTE);
    expect(await kept()).toEqual(sofar);
    await keeperWith().keep(NOON + 20 * MINUTE);
    expect(await kept()).toEqual([...sofar, '12:00 new 2']);
    expect(await seen()).toEqual(['new 2', 'old 2', 'past 2']);
  });

  it('adds what comes late for a quarter, however late it was observed', async () => {
    await store.seed({ orders: [paid('first', NOON - 20 * MINUTE)] });
    const keeper = keeperWith(store.command, 1);
    await keeper.keep(NOON + 5 * MINUTE);
    const late = { at: NOON - 18 * MINUTE, action: '6.1.1.00' };
    await store.seed({
      orders: [
        { ...paid('first', NOON - 20 * MINUTE), items: [...paid('first', NOON - 20 * MINUTE).items, late] },
        // Observed long ago by a collector that could not reach the store.
        paid('second', NOON - 3 * HOUR),
      ],
    });
    // Seen before it is kept.
    expect(await seen()).toEqual(['first 3', 'second 2']);
    let quarters = 0;
    await until(
      'the item that came late is kept',
      async () => {
        quarters += 1;
        await keeper.keep(NOON + (5 + 15 * quarters) * MINUTE);
        return kept();
      },
      (rows) => rows.includes('09:00 second 2'),
    );
    expect(await seen()).toEqual(['first 3', 'second 2']);
  });

  it('says the same when it was killed between the rows and how far they go', async () => {
    await store.seed({ orders: [paid('one', NOON - 20 * MINUTE), paid('two', NOON - 5 * HOUR)] });
    let statements = 0;
    const dies = keeperWith(async (sql) => {
      statements += 1;
      if (statements === 2) throw new Error('killed');
      await store.command(sql);
    });
    await expect(dies.keep(NOON + 5 * MINUTE)).rejects.toThrow('killed');
    expect(await seen()).toEqual(['one 2', 'two 2']);
    await keeperWith().keep(NOON + 5 * MINUTE);
    expect(await kept()).toEqual(['07:00 two 2', '07:00 two 2', '11:30 one 2', '11:30 one 2']);
    expect(await seen()).toEqual(['one 2', 'two 2']);
  });

  it('does not read what another version has kept', async () => {
    await store.seed({ orders: [paid('one', NOON - 20 * MINUTE)] });
    await store.command(
      "INSERT INTO gatewatch.order_quarters_store (definition, quarter, gateway, external_id, order_number, items) VALUES ('other', '2026-03-02 11:30:00', 'acme-eu', 'ghost', 1, [1])",
    );
    await store.command(
      "INSERT INTO gatewatch.order_quarters_frontier (definition, kept_from, kept_to, known_to) VALUES ('other', 0, '2026-03-02 12:00:00', '2026-03-02 12:00:00')",
    );
    expect(await seen()).toEqual(['one 2']);
    await keeperWith().keep(NOON + 5 * MINUTE);
    expect(await seen()).toEqual(['one 2']);
  });

  it('goes on where another collector has stopped', async () => {
    await store.seed({ orders: [paid('one', NOON - 20 * MINUTE), paid('two', NOON + MINUTE)] });
    const [first, second] = [keeperWith(), keeperWith()];
    await first.keep(NOON + 5 * MINUTE);
    await second.keep(NOON + 20 * MINUTE);
    await first.keep(NOON + 35 * MINUTE);
    expect(await kept()).toEqual(['11:30 one 2', '12:00 two 2']);
  });
});

describe('the keeper of status requests', () => {
  /** One a minute for three hours before noon, a tenth of them without an answer. */
  const POLLS = Array.from({ length: 180 }, (_, n) =>
    poll(NOON - (n + 1) * MINUTE, { outcome: n % 10 === 0 ? 'unknown' : 'ok' }),
  );
  const pollKeeper = (command: (sql: string) => Promise<void> = store.command, visibleAfterSeconds = 0) =>
    keeperWith(command, visibleAfterSeconds, POLL_QUARTERS_KEPT);
  const sketch = (kind: string, times: string): string => `quantiles${kind}(0.01, 0.5, 0.95)(${times})`;

  type Counted = Record<string, unknown>[];
  const grouped = (step: string, sums: string, from: string): Promise<Counted> =>
    rowsOf(`SELECT toUnixTimestamp(${step}) AS at, gateway, outcome, ${sums}
      FROM ${from} GROUP BY at, gateway, outcome ORDER BY at, gateway, outcome`);
  /** What readers see, and the same of the requests themselves. */
  async function answers(seconds: number, { from, to } = ASKED): Promise<{ seen: Counted; own: Counted }> {
    const [begins, ends] = [from, to].map((at) => `fromUnixTimestamp64Milli(${at})`);
    const seen = await grouped(
      'step_begin',
      `sum(requests) AS n, ${sketch('DDMerge', 'durations')} AS took, ${sketch('DDMerge', 'lateness')} AS late`,
      `gatewatch.poll_counts(from = ${begins}, to = ${ends}, step = ${seconds})`,
    );
    const own = await grouped(
      `toStartOfInterval(toDateTime(started_at), INTERVAL ${seconds} SECOND)`,
      `count() AS n, ${sketch('DD', 'duration_ms')} AS took, ${sketch('DD', 'lateness_ms')} AS late`,
      `gatewatch.polls WHERE started_at >= ${begins} AND started_at < ${ends}`,
    );
    return { seen, own };
  }
  async function expectSame(): Promise<void> {
    const withinQuarters = { from: NOON - 100 * MINUTE, to: NOON - 7 * MINUTE };
    for (const seconds of [60, 900, 3600])
      for (const range of [ASKED, withinQuarters]) {
        const { seen, own } = await answers(seconds, range);
        expect(own.length).toBeGreaterThan(1);
        expect(seen).toEqual(own);
      }
  }
  const keptRows = async (): Promise<number> =>
    Number(
      (await rowsOf<{ n: number }>('SELECT count() AS n FROM gatewatch.poll_quarters_store FINAL'))[0]?.n,
    );

  it('counts what is over, and readers see what the requests themselves say', async () => {
    await store.seed({ polls: POLLS });
    await expectSame();
    expect(await keptRows()).toBe(0);
    await pollKeeper().keep(NOON - 20 * MINUTE);
    await expectSame();
    // Ten quarters lie before 11:30 and are over for five minutes; two outcomes each.
    expect(await keptRows()).toBe(20);
    await pollKeeper().keep(NOON + 5 * MINUTE);
    expect(await keptRows()).toBe(24);
    await expectSame();
  });

  it('reads what is kept where steps are quarters, and never where they are not', async () => {
    await store.seed({ polls: POLLS });
    await pollKeeper().keep(NOON + 5 * MINUTE);
    await until('the second to be over in which they were stored', isOver, Boolean);
    await pollKeeper().keep(NOON + 20 * MINUTE);
    await store.command('TRUNCATE TABLE gatewatch.polls_store');
    expect((await answers(900)).seen).toHaveLength(24);
    expect((await answers(60)).seen).toEqual([]);
  });

  it('counts a quarter anew when something comes late for it', async () => {
    await store.seed({ polls: POLLS });
    await pollKeeper(store.command, 1).keep(NOON + 5 * MINUTE);
    await store.seed({
      polls: [
        poll(NOON - 61 * MINUTE + 1),
        poll(NOON - 9 * HOUR),
        poll(NOON - 62 * MINUTE, { gateway: 'zeta' }),
      ],
    });
    await expectSame();
    await until('the second to be over in which they were stored', isOver, Boolean);
    await pollKeeper(store.command, 1).keep(NOON + 20 * MINUTE);
    await expectSame();
    const [row] = await rowsOf<{ n: number }>(
      "SELECT sum(requests) AS n FROM gatewatch.poll_quarters_store FINAL WHERE quarter < '2026-03-02 12:00:00'",
    );
    expect(Number(row?.n)).toBe(POLLS.length + 3);
  });

  it("counts what is copied from another store, which said when it took it in by that one's clock", async () => {
    await store.seed({ polls: POLLS });
    await store.command(
      'CREATE TABLE gatewatch.elsewhere ENGINE = MergeTree ORDER BY started_at AS SELECT * FROM gatewatch.polls_store',
    );
    await store.command('TRUNCATE TABLE gatewatch.polls_store');
    await pollKeeper(store.command, 1).keep(NOON + 5 * MINUTE);
    await store.command('INSERT INTO gatewatch.polls_store SELECT * FROM gatewatch.elsewhere');
    await store.command('DROP TABLE gatewatch.elsewhere');
    await expectSame();
    await until('the second to be over in which they were stored', isOver, Boolean);
    await pollKeeper(store.command, 1).keep(NOON + 20 * MINUTE);
    expect(await keptRows()).toBe(24);
    await expectSame();
  });

  it('counts all anew, a stretch at a time, when something comes late for more than a day of quarters', async () => {
    const inEach = (minute: number) =>
      Array.from({ length: 120 }, (_, n) => poll(NOON - (n + 1) * 15 * MINUTE + minute * MINUTE));
    await store.seed({ polls: inEach(0) });
    await pollKeeper(store.command, 1).keep(NOON + 5 * MINUTE);
    await store.seed({ polls: inEach(1) });
    await until('the second to be over in which they were stored', isOver, Boolean);
    const statements: string[] = [];
    const listens = async (sql: string): Promise<void> => {
      statements.push(sql);
      await store.command(sql);
    };
    await pollKeeper(listens, 1).keep(NOON + 20 * MINUTE);
    await expectSame();
    expect(statements.filter((sql) => sql.includes('stored_at'))).toEqual([]);
    const [row] = await rowsOf<{ n: number }>(
      'SELECT sum(requests) AS n FROM gatewatch.poll_quarters_store FINAL',
    );
    expect(Number(row?.n)).toBe(240);
  });

  it('says the same when it was killed before it said how far it went', async () => {
    await store.seed({ polls: POLLS });
    let statements = 0;
    const dies = pollKeeper(async (sql) => {
      statements += 1;
      if (statements === 2) throw new Error('killed');
      await store.command(sql);
    });
    await expect(dies.keep(NOON + 5 * MINUTE)).rejects.toThrow('killed');
    await expectSame();
    await pollKeeper().keep(NOON + 5 * MINUTE);
    await expectSame();
    expect(await keptRows()).toBe(24);
  });

  const isOver = async (): Promise<boolean> =>
    Number(
      (
        await rowsOf<{ over: number }>('SELECT max(stored_at) < now() - 1 AS over FROM gatewatch.polls_store')
      )[0]?.over,
    ) === 1;
});

describe('a keeper', () => {
  it('keeps years of a quiet store at once', async () => {
    const weekly = Array.from({ length: 120 }, (_, week) => NOON - (week * 7 + 1) * 24 * HOUR);
    for (const some of [weekly.slice(0, 60), weekly.slice(60)])
      await store.seed({
        orders: some.map((at) => paid(`order-${at}`, at)),
        polls: some.map((at) => poll(at)),
      });
    for (const kind of [ORDER_QUARTERS_KEPT, POLL_QUARTERS_KEPT])
      await keeperWith(store.command, 0, kind).keep(NOON + 5 * MINUTE);
    expect(await kept()).toHaveLength(120);
    expect(await rowsOf('SELECT quarter FROM gatewatch.poll_quarters_store FINAL')).toHaveLength(120);
  });
});
