import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readRows } from '../../../../collector/sinks/otlp/stored-rows.ts';
import { nextWindows } from '../../../../collector/sinks/otlp/windows.ts';
import { TABLES } from '../../../../schemas/names.ts';
import type { Store } from '../../../../store/store.ts';
import { emptyDatabase } from '../../../support/migrated-store.ts';
import { shareDatabase } from '../../../support/shared-database.ts';
import { historyEvent, NOON, settlement } from '../support/rows.ts';
import { storeBatches } from '../support/store-batches.ts';

let store: Store;
shareDatabase((opened) => (store = opened));

const SECOND = 1_000_000;
/** An item of an order, which was read `age` seconds after it happened. */
const item = (order: string, second: number, age = 1) =>
  historyEvent({
    external_id: order,
    event_time: NOON + second * SECOND,
    observed_at: NOON + (second + age) * SECOND,
  });

/** `order@second+age` of each item of a window. */
async function itemsOf(from: number, to: number): Promise<string[]> {
  const { events } = await readRows(store, 'c1', { from, to });
  return events
    .slice()
    .map(
      (row) =>
        `${row.external_id}@${(row.event_time - NOON) / SECOND}+${(row.observed_at - row.event_time) / SECOND}`,
    );
}

const merge = (): Promise<void> => store.command(`OPTIMIZE TABLE ${TABLES.historyEvents} FINAL`);

describe('rows to export', () => {
  it('come back as they were written', async () => {
    const event = historyEvent({
      callback_at: NOON + 1,
      read_span: `${'1'.repeat(32)}-${'2'.repeat(16)}`,
      external_id: `'"\\\n\u2028ü`,
      stage: null,
      reason_code: null,
    });
    const closed = settlement({ amount: '12.5', currency: null });
    await storeBatches(store, [{ historyEvents: [event], settlements: [closed] }]);
    const { events, settlements } = await readRows(store, 'c1', { from: 0, to: 1 });
    expect(events.slice()).toEqual([event]);
    expect(settlements.slice()).toEqual([closed]);
    const none = await readRows(store, 'c1', { from: 1, to: 2 });
    expect([none.events.count, none.settlements.slice()]).toEqual([0, []]);
  });

  it('are not those that somebody read before, also once the table has folded them', async () => {
    await storeBatches(store, [{ historyEvents: [item('a', 1, 5), item('b', 1)] }], 'c2');
    await storeBatches(store, [{ historyEvents: [item('a', 1, 9), item('a', 2)] }]);
    expect(await itemsOf(0, 1)).toEqual(['a@2+1']);
    await merge();
    expect(await itemsOf(0, 1)).toEqual(['a@2+1']);
  });

  it('are the first of two in one window, whichever was stored first', async () => {
    await storeBatches(store, [{ historyEvents: [item('a', 1, 9)] }, { historyEvents: [item('a', 1, 5)] }]);
    expect(await itemsOf(0, 2)).toEqual(['a@1+5']);
    expect([await itemsOf(0, 1), await itemsOf(1, 2)]).toEqual([[], ['a@1+5']]);
  });

  it('are the first of each item, whatever was repeated by whom', async () => {
    const any = fc.record({
      order: fc.constantFrom('a', 'b', 'c'),
      second: fc.integer({ min: 0, max: 3 }),
      age: fc.integer({ min: 1, max: 4 }),
    });
    const batches = fc.array(
      fc.record({
        collector: fc.constantFrom('c1', 'c2'),
        items: fc.array(any, { minLength: 1, maxLength: 6 }),
      }),
      { minLength: 1, maxLength: 6 },
    );
    await fc.assert(
      fc.asyncProperty(batches, fc.boolean(), async (some, isMerged) => {
        await emptyDatabase(store);
        // No two reads are of one microsecond: which row of two equals is left is a matter of merges.
        let reads = 0;
        const firsts = new Map<string, { age: number; collector: string; batch: number }>();
        const batchOf = new Map<string, number>();
        for (const { collector, items } of some) {
          const batch = (batchOf.get(collector) ?? 0) + 1;
          batchOf.set(collector, batch);
          const historyEvents = items.map(({ order, second, age }) => {
            reads += 1;
            const exactAge = age + reads / SECOND;
            const first = firsts.get(`${order}@${second}`);
            if (first === undefined || exactAge < first.age)
              firsts.set(`${order}@${second}`, { age: exactAge, collector, batch });
            return item(order, second, exactAge);
          });
          await storeBatches(store, [{ historyEvents }], collector);
        }
        if (isMerged) await merge();
        const last = batchOf.get('c1') ?? 0;
        for (let from = 0; from < last; from += 1)
          for (const to of [from + 1, last]) {
            const own = [...firsts].filter(
              ([, { collector, batch }]) => collector === 'c1' && batch > from && batch <= to,
            );
            expect((await itemsOf(from, to)).toSorted()).toEqual(
              own.map(([name, { age }]) => `${name}+${age}`).toSorted(),
            );
          }
      }),
      { numRuns: 15 },
    );
  });
});

describe('windows', () => {
  it('follow each other over whole batches, and end with the ledger', async () => {
    const bundle = (order: string, count: number) => ({
      historyEvents: Array.from({ length: count }, (_, second) => item(order, second)),
    });
    await storeBatches(store, [
      bundle('a', 3),
      bundle('b', 3),
      bundle('c', 9),
      { settlements: [settlement()] },
    ]);
    expect(await nextWindows(store, 'c1', 0, 6)).toEqual([
      { from: 0, to: 2 },
      { from: 2, to: 3 },
      { from: 3, to: 4 },
    ]);
    expect(await nextWindows(store, 'c1', 3, 6)).toEqual([{ from: 3, to: 4 }]);
    expect(await nextWindows(store, 'c1', 4, 6)).toEqual([]);
    expect(await nextWindows(store, 'c2', 0, 6)).toEqual([]);
  });
});
