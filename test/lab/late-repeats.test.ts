import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Evaluation } from '../../alerts/evaluate/evaluation.ts';
import { type SeededStore, startSeededStore, type SeedOrder } from '../support/seed-store.ts';
import { passOver, seedsAround } from './equality.ts';
import { evaluationOf } from './orders.ts';
import { createRandom, type Random } from './random.ts';
import { WEEK } from './seasons.ts';
import { simulate } from './simulate.ts';
import { WITHOUT_TWIN } from './twins.ts';

/**
 * For about ten minutes after an order's end the gateway may append items that repeat what the order met
 * before (interface document, 2.4, rule 2). Counts by minute have no place for these: the lab lays them down
 * as rows.
 */
const REPEATED = 0.15;
const LATEST_MINUTES = 10;
const STEP_MINUTES = 15;
const SPAN_MINUTES = 120;

/** Some orders with late items: what they met at a check, callback or form, once more. */
function withRepeats(orders: readonly SeedOrder[], random: Random): SeedOrder[] {
  return orders.map((order) => {
    const repeatable = order.items.filter(({ action }) => /^[3-6]\./.test(action));
    const item = repeatable[random.below(Math.max(1, repeatable.length))];
    if (item === undefined || random.next() >= REPEATED) return order;
    const at = item.at + (1 + random.below(LATEST_MINUTES)) * 60_000;
    const knownAt = Math.max(at + 3000, item.observedAt ?? 0);
    return { ...order, items: [...order.items, { at, action: item.action, observedAt: knownAt }] };
  });
}

/** One always fires, and the orders laid down are not read again. */
const APART: ReadonlySet<string> = new Set(['GatewatchHeartbeat', ...WITHOUT_TWIN]);

let store: SeededStore;
let rows: Evaluation[];
let repeats = 0;

beforeAll(async () => {
  // A gateway that has hardly any usual failures: what limits make of others is for the lab's scores.
  const months = simulate({ seed: 'fen', ordersPerMinute: 3, weeks: 7, incidents: false });
  const random = createRandom('repeats');
  const last = 6 * WEEK + 3 * 1440 + 20 * 60;
  store = await startSeededStore();
  for (const seed of seedsAround(months, last, 'lab-repeats', 405 + SPAN_MINUTES)) {
    const orders = withRepeats(seed.orders ?? [], random);
    repeats += orders.filter((order, index) => order !== seed.orders?.[index]).length;
    await store.seed({ ...seed, orders });
  }
  const pass = passOver(store);
  rows = [];
  for (let at = last - SPAN_MINUTES; at <= last; at += STEP_MINUTES)
    rows.push(...(await pass(evaluationOf(at).getTime(), ['fast', 'slow'])));
});
afterAll(() => store.stop());

describe('late repeats in calm weather', () => {
  it('are there, and the rules judge them', () => {
    expect(repeats).toBeGreaterThan(500);
    const judged = new Set(rows.filter(({ seen }) => seen >= 20).map(({ rule }) => rule));
    expect([...judged]).toEqual(
      expect.arrayContaining([
        'GatewatchMerchantCallbackMissing',
        'GatewatchStuckProcessing',
        'GatewatchTechTimeouts',
        'GatewatchApprovalDrop',
        'GatewatchTrafficDrop',
      ]),
    );
  });

  it('raise no alert', () => {
    const inBreach = rows
      .filter(({ rule, breach }) => breach === 1 && !APART.has(rule))
      .map(({ rule, label, affected, seen }) => `${rule} ${label}: ${affected} of ${seen}`);
    expect(inBreach).toEqual([]);
  });
});
