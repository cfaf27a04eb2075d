import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BacktestOptions, runBacktest } from '../../../alerts/backtest/backtest.ts';
import { type Trial, trialsOf } from '../../../alerts/backtest/overrides.ts';
import { type SeededStore, startSeededStore } from '../../support/seed-store.ts';
import { type Evaluations, evaluationsOf } from '../support/evaluation.ts';
import { MINUTE, NOW, PAID, TIMED_OUT, traffic } from '../traffic.ts';

/** Six minutes of timeouts within two hours of traffic, and a quiet gateway beside. */
const BROKEN = { from: NOW - 25 * MINUTE, to: NOW - 19 * MINUTE };
const RANGE = { fromMs: NOW - 30 * MINUTE, toMs: NOW, stepMs: null };
const NAMES = ['TechTimeouts', 'TechnicalBurnFast', 'ProviderUnreachable', 'TrafficDrop', 'PictureBehind'];

let store: SeededStore;
let evaluations: Evaluations;
beforeAll(async () => {
  store = await startSeededStore();
  evaluations = evaluationsOf(
    store,
    trialsOf(NAMES, []).map(({ rule }) => rule),
  );
  const orders = (gateway: string, from: number, to: number, codes: readonly string[]) =>
    traffic({ gateway, orders: (to - from) / 6_000, from, to, codes: () => codes });
  await store.seed({
    orders: [
      ...orders('acme', NOW - 120 * MINUTE, BROKEN.from, PAID),
      ...orders('acme', BROKEN.from, BROKEN.to, TIMED_OUT),
      ...orders('acme', BROKEN.to, NOW, PAID),
      ...orders('calm', NOW - 120 * MINUTE, NOW, PAID),
    ],
    gatewayStatus: ['acme', 'calm'].flatMap((gateway) =>
      Array.from({ length: 121 }, (_, n) => NOW - n * MINUTE).map((at) => ({
        gateway,
        reportedAt: at,
        watermarkAt: at,
      })),
    ),
  });
});
afterAll(() => store?.stop());

const query = async <T>(sql: string): Promise<T[]> => (await store.queryAsWriter(sql)).data as T[];
const run = (trials: readonly Trial[], more: Partial<BacktestOptions> = {}) =>
  runBacktest({ ...RANGE, trials, query, ...more });
const minutes = Array.from({ length: 31 }, (_, n) => RANGE.fromMs + n * MINUTE);

describe('a backtest', () => {
  it('comes to the same from stored evaluations, from a new count, and from both', async () => {
    const trials = trialsOf(NAMES, []);
    const recounted = await run(trials);
    expect(recounted[0]?.summary).toMatchObject({ pages: 1, evaluations: 31, read: 0, recounted: 31 });
    for (const at of minutes.filter((_, n) => n % 3 !== 1)) await evaluations.rows(at);
    const mixed = await run(trials, { batch: 7 });
    expect(mixed[0]?.summary).toMatchObject({ read: 21, recounted: 10 });
    for (const at of minutes) await evaluations.rows(at);
    const read = await run(trials);
    expect(read[0]?.summary).toMatchObject({ read: 31, recounted: 0 });
    expect(mixed.map(({ replay }) => replay)).toEqual(recounted.map(({ replay }) => replay));
    expect(read.map(({ replay }) => replay)).toEqual(recounted.map(({ replay }) => replay));
  });

  it('counts anew what another limit changes, and reads where only times do', async () => {
    const [later] = await run(trialsOf(['TechTimeouts'], ['TechTimeouts.for=3h']));
    expect(later?.summary).toMatchObject({ pages: 0, endedWhilePending: 1, read: 31 });
    const [higher] = await run(trialsOf(['TechTimeouts'], ['TechTimeouts.minimumAffectedOrders=1000']));
    expect(higher?.summary).toMatchObject({ pages: 0, endedWhilePending: 0, recounted: 31 });
  });

  it('counts anew a rule that another one suppresses by other limits', async () => {
    const names = ['TechnicalBurnFast', 'ProviderUnreachable', 'PictureBehind'];
    const done = await run(trialsOf(names, ['ProviderUnreachable.threshold=0.9']));
    expect(done.map(({ summary }) => [summary.rule, summary.recounted > 0])).toEqual([
      ['GatewatchProviderUnreachable', true],
      ['GatewatchTechnicalBurnFast', true],
      ['GatewatchPictureBehind', false],
    ]);
  });

  it('evaluates slow rules every ten minutes at most', async () => {
    const slow = trialsOf([], []).filter(({ rule }) => rule.group === 'slow');
    const [fine, coarse] = [await run(slow, { stepMs: MINUTE }), await run(slow, { stepMs: 25 * MINUTE })];
    expect(fine[0]?.summary).toMatchObject({ stepSeconds: 600, evaluations: 4 });
    expect(coarse[0]?.summary.stepSeconds).toBe(1500);
  });
});
