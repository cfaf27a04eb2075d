import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { VariableValues } from '../../store/macros.ts';
import { expandPanelSql } from '../support/macros.ts';
import { drawnPanels, generatedDashboards, queriesOf } from './generated.ts';
import { BLIND_AT, FROM, KNOWN_ID, orders, scope, type Seeded, startSeeded, TO } from './seeded.ts';
import { shapeProblems, utc } from './shape.ts';
import { decided, failures, MINUTE, type Scope, shares, startsPerMinute } from './traffic.ts';

let seeded: Seeded;
let seededAt = 0;
beforeAll(async () => {
  seededAt = Date.now();
  seeded = await startSeeded();
});
afterAll(() => seeded?.store.stop());
const run: Seeded['run'] = (...args) => seeded.run(...args);
const runPanel: Seeded['runPanel'] = (...args) => seeded.runPanel(...args);

const CHOICES: Record<string, VariableValues> = {
  'with everything chosen': {},
  'with single values chosen': {
    gateway: ['acme-eu'],
    order_type: ['Deposit'],
    channel: ['card'],
    stage: ['CHECK'],
    reason_group: ['TECH'],
    reason: ['13'],
    order_id: [KNOWN_ID],
  },
  'with several values chosen, quotes among them': {
    gateway: ['acme-eu', 'blind-pay'],
    order_type: ['Deposit', 'Withdrawal'],
    channel: ["o'neil", 'back\\slash', 'p2p'],
    stage: ['CHECK', 'PAYFORM'],
    reason_group: ['TECH', 'USER'],
    reason: ['11', "1'1"],
    order_id: ["no'such", KNOWN_ID],
  },
};

describe.each(generatedDashboards().map((board) => [board.title, board] as const))(
  'dashboard %s',
  (_, board) => {
    describe.each(Object.entries(CHOICES))('%s', (_choice, variables) => {
      it.each(queriesOf(board).map((query) => [query.where, query] as const))(
        '%s answers in its shape',
        async (_where, query) => {
          expect(shapeProblems(query.format, await run(query.sql, variables, 5 * MINUTE))).toEqual([]);
        },
      );
    });

    it.each(queriesOf(board).map((query) => [query.where, query] as const))(
      '%s shows the seed',
      async (_where, query) => {
        expect((await run(query.sql, { order_id: [KNOWN_ID] })).data.length).toBeGreaterThan(0);
      },
    );

    it.each(queriesOf(board).map((query) => [query.where, query] as const))(
      '%s answers an empty range too',
      async (_where, query) => {
        const empty = { from: new Date(FROM - 1e11), to: new Date(FROM - 1e11 + MINUTE), intervalMs: MINUTE };
        await expect(seeded.store.query(expandPanelSql(query.sql, empty))).resolves.toBeDefined();
      },
    );
  },
);

describe('tables and single numbers have the columns that their panel names:', () => {
  const panels = generatedDashboards()
    .flatMap(drawnPanels)
    .filter(({ type, targets }) => (type === 'table' || type === 'stat') && targets?.length === 1)
    .map((panel) => [panel.title, panel] as const);

  it.each(panels)('%s', async (_title, { targets, fieldConfig }) => {
    const named = (fieldConfig?.overrides ?? []).flatMap(({ matcher }) =>
      matcher.id === 'byName' ? [matcher.options] : [],
    );
    const { data } = await run(targets?.[0]?.rawSql ?? '', { order_id: [KNOWN_ID] });
    const columns = Object.keys(data[0] ?? {});
    expect(named.filter((name) => !columns.includes(name))).toEqual([]);
  });
});

describe('the numbers are those of the seed', () => {
  const wanted: [string, VariableValues, Scope][] = [
    ['all', {}, scope],
    [
      'one gateway',
      { gateway: ['blind-pay'] },
      { ...scope, wants: (order) => order.gateway === 'blind-pay' },
    ],
    [
      'withdrawals by card',
      { order_type: ['Withdrawal'], channel: ['card'] },
      { ...scope, wants: (order) => order.orderType === 'Withdrawal' && order.channel === 'card' },
    ],
  ];

  it.each(wanted)('technical success and approval of %s', async (_, variables, within) => {
    const expected = shares(orders, within);
    const [technical] = await runPanel('Technical success', variables);
    const [approval] = await runPanel('Approval', variables);
    expect(expected.finished).toBeGreaterThan(20);
    expect(technical).toEqual({
      technical_success: expect.closeTo(expected.technicalSuccess, 12),
      finished_orders: expected.finished,
    });
    expect(approval).toEqual({
      approval: expect.closeTo(expected.approval, 12),
      judged_orders: expected.judged,
    });
  });

  it.each(wanted)('failures by group and minute of %s', async (_, variables, within) => {
    const rows = await runPanel('Orders with failures, by reason group', variables);
    const expected = failures(
      orders,
      within,
      ({ at, code }) => `${Math.floor(at / MINUTE) * MINUTE} ${code.group}`,
    );
    expect(new Map(rows.map((row) => [`${utc(row['time'])} ${row['reason_group']}`, row['orders']]))).toEqual(
      expected,
    );
  });

  it('shares and outcomes over time add up to the shares of the range', async () => {
    const expected = decided(orders, scope);
    const rows = await runPanel('Finished orders, by outcome');
    const counted = new Map(rows.map((row) => [`${utc(row['time'])} ${row['outcome']}`, row['orders']]));
    const wantedCounts = new Map<string, number>();
    for (const { at, outcome } of expected) {
      const key = `${Math.floor(at / MINUTE) * MINUTE} ${outcome}`;
      wantedCounts.set(key, (wantedCounts.get(key) ?? 0) + 1);
    }
    expect(counted).toEqual(wantedCounts);
    for (const row of await runPanel('Technical success and approval over time')) {
      const minute = expected.filter(({ at }) => Math.floor(at / MINUTE) * MINUTE === utc(row['time']));
      const technical = minute.filter(({ outcome }) => outcome === 'technical_failure').length;
      expect(row['finished_orders']).toBe(minute.length);
      expect(row['technical_success']).toBeCloseTo(1 - technical / minute.length, 12);
    }
  });

  it('coverage, by the newest report of each collector that still reports', async () => {
    expect(await runPanel('Coverage: orders read lately')).toEqual([
      { coverage: expect.closeTo(1 - 3 / 100, 12), watched_orders: 100 },
    ]);
    expect(await runPanel('Coverage: orders read lately', { gateway: ['acme-eu'] })).toEqual([
      { coverage: 1, watched_orders: 90 },
    ]);
  });

  it('new orders per minute, with zeros up to where we can know and nothing after', async () => {
    const rows = await runPanel('New orders per minute, by gateway');
    for (const gateway of ['acme-eu', 'blind-pay']) {
      const own = rows.filter((row) => row['gateway'] === gateway);
      const expected = startsPerMinute(orders, scope, gateway);
      expect(
        new Map(
          own
            .filter((row) => row['orders_per_minute'] !== 0)
            .map((row) => [utc(row['time']), row['orders_per_minute']]),
        ),
      ).toEqual(expected);
      const end = gateway === 'acme-eu' ? TO : BLIND_AT;
      expect(own).toHaveLength(Math.ceil((end - FROM) / MINUTE));
      expect(utc(own.at(-1)?.['time'])).toBeLessThan(end);
    }
  });

  it('time to final', async () => {
    const rows = await runPanel('Time from first item to final');
    expect(rows.reduce((sum, row) => sum + Number(row['finished_orders']), 0)).toBe(
      shares(orders, scope).finished,
    );
    for (const row of rows.slice(0, 30)) {
      const inBucket = decided(orders, scope).filter(
        ({ at }) => Math.floor(at / MINUTE) * MINUTE === utc(row['time']),
      );
      const seconds = inBucket
        .map(({ order, at }) => (at - (order.items[0]?.at ?? 0)) / 1000)
        .toSorted((a, b) => a - b);
      expect(row['finished_orders']).toBe(seconds.length);
      expect(row['p50']).toBe(seconds[Math.floor(seconds.length * 0.5)]);
      expect(row['p95']).toBe(seconds[Math.min(seconds.length - 1, Math.floor(seconds.length * 0.95))]);
      expect(row['p99']).toBe(seconds[Math.min(seconds.length - 1, Math.floor(seconds.length * 0.99))]);
    }
  });

  it("the watermark's age by gateway", async () => {
    const rows = await runPanel('Age of what we know, by gateway');
    expect(rows.map((row) => row['gateway'])).toEqual(['acme-eu', 'blind-pay']);
    expect(Number(rows[0]?.['watermark_age'])).toBeLessThan((Date.now() - seededAt) / 1000 + 3);
    expect(Number(rows[1]?.['watermark_age'])).toBeGreaterThan(45 * 60);
  });
});
