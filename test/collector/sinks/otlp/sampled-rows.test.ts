import { describe, expect, it } from 'vitest';
import { readSampledRows, type Sampler } from '../../../../collector/sinks/otlp/sampled-rows.ts';
import type { Store } from '../../../../store/store.ts';
import { shareDatabase } from '../../../support/shared-database.ts';
import { historyEvent, NOON, settlement } from '../support/rows.ts';
import { storeBatches } from '../support/store-batches.ts';

let store: Store;
shareDatabase((opened) => (store = opened));

const SECOND = 1_000_000;
const ALL = { rate: 1, traceState: 'ot=th:0' };
const keepAll: Sampler = () => ALL;
const keepFailures: Sampler = ({ settlement: { outcome }, hasFinding }) =>
  outcome !== 'succeeded' || hasFinding ? ALL : null;

const item = (order: string, second: number) =>
  historyEvent({ external_id: order, event_time: NOON + second * SECOND });
const settled = (order: string, outcome = 'technical_failure', second = 900) =>
  settlement({ external_id: order, outcome, settled_at: NOON + second * SECOND });

/** `order@second` of each item, and the order of each root, of one window. */
async function exported(from: number, to: number, sampler = keepAll, collectorId = 'c1') {
  const { groups, kept, leftOut } = await readSampledRows(store, collectorId, { from, to }, sampler);
  const items = groups.flatMap(({ rows }) =>
    rows.events.map((row) => `${row.external_id}@${(row.event_time - NOON) / SECOND}`),
  );
  const roots = groups.flatMap(({ rows }) => rows.settlements.map((row) => row.external_id));
  return { items: items.toSorted(), roots: roots.toSorted(), kept, leftOut };
}

const NOTHING = { items: [], roots: [], kept: 0, leftOut: 0 };

describe('with a share of traces', () => {
  it('items wait until their order settles, then all of them go out', async () => {
    await storeBatches(store, [
      { historyEvents: [item('a', 1)] },
      { historyEvents: [item('a', 2)] },
      { settlements: [settled('a')] },
    ]);
    expect(await exported(0, 2)).toEqual(NOTHING);
    expect(await exported(2, 3)).toEqual({ items: ['a@1', 'a@2'], roots: ['a'], kept: 1, leftOut: 0 });
    // Also when one window has all of it: once each.
    expect(await exported(0, 3)).toEqual({ items: ['a@1', 'a@2'], roots: ['a'], kept: 1, leftOut: 0 });
  });

  it('a trace that is left out stays out, whatever comes later', async () => {
    await storeBatches(store, [
      { historyEvents: [item('a', 1), item('b', 1)], settlements: [settled('a', 'succeeded'), settled('b')] },
      { historyEvents: [item('a', 2), item('b', 2)] },
      { settlements: [settled('a', 'technical_failure', 2000)] },
    ]);
    expect(await exported(0, 1, keepFailures)).toMatchObject({ roots: ['b'], kept: 1, leftOut: 1 });
    expect(await exported(1, 3, keepFailures)).toEqual({ ...NOTHING, items: ['b@2'] });
  });

  it('an order that another collector settles goes out whole, and its items here do not get lost', async () => {
    await storeBatches(store, [{ historyEvents: [item('a', 1)] }], 'c1');
    await storeBatches(store, [{ historyEvents: [item('a', 2)], settlements: [settled('a')] }], 'c2');
    await storeBatches(store, [{ historyEvents: [item('a', 3)] }], 'c3');
    expect(await exported(0, 1, keepAll, 'c2')).toMatchObject({ items: ['a@1', 'a@2', 'a@3'], roots: ['a'] });
    // Which came first is not known here: sent twice rather than never.
    expect(await exported(0, 1, keepAll, 'c3')).toMatchObject({ items: ['a@3'], roots: [] });
  });

  it('a finding keeps the trace when it was there well before the order settled', async () => {
    await storeBatches(store, [
      {
        historyEvents: [item('a', 1), item('b', 1)],
        settlements: [settled('a', 'succeeded'), settled('b', 'succeeded')],
      },
    ]);
    const finding = (order: string, second: number) =>
      `('acme-eu', 'Deposit', '${order}', 'REPLAYED', '', toDateTime64(${NOON / SECOND + second}, 6, 'UTC'))`;
    await store.command(
      `INSERT INTO findings_store (gateway, order_type, external_id, kind, subject, found_at) VALUES ${finding('a', 200)}, ${finding('b', 899)}`,
    );
    expect(await exported(0, 1, keepFailures)).toEqual({ items: ['a@1'], roots: ['a'], kept: 1, leftOut: 1 });
  });
});
