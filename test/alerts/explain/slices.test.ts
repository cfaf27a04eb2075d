import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Cell, standOut, WHAT, WHERE } from '../../../alerts/explain/slices.ts';

const NONE = Object.fromEntries([...WHERE, ...WHAT].map((dimension) => [dimension, ''])) as Cell['values'];
const cell = (
  values: Partial<Cell['values']>,
  seen: number,
  affected: number,
  before: Partial<Cell> = {},
): Cell => ({
  values: { ...NONE, ...values },
  seen,
  affected,
  seenBefore: 0,
  affectedBefore: 0,
  ...before,
});
const affectedOf = (cells: readonly Cell[]): number => cells.reduce((sum, { affected }) => sum + affected, 0);
const ask = (cells: readonly Cell[], what: readonly (typeof WHAT)[number][] = []) =>
  standOut(cells, { kind: 'share', excess: affectedOf(cells), what });

describe('what stands out', () => {
  it('is the channel in which orders fail, with its number and that of the rest', () => {
    const cells = [cell({ channel: 'card' }, 100, 50), cell({ channel: 'p2p' }, 200, 4)];
    expect(ask(cells)).toEqual([
      {
        dimension: 'channel',
        value: 'card',
        seen: 100,
        affected: 50,
        against: { of: 'rest', seen: 200, affected: 4 },
        explained: 48,
      },
    ]);
  });

  it('is named once where several dimensions mean the same orders, and twice where two things happened', () => {
    const cells = [
      cell({ channel: 'card', currency: 'EUR' }, 100, 50),
      cell({ channel: 'p2p', currency: 'USD' }, 200, 4),
      cell({ channel: 'p2p', currency: 'GBP' }, 50, 40),
    ];
    const found = ask(cells).map(({ dimension, value, seen, affected }) => [
      dimension,
      value,
      seen,
      affected,
    ]);
    expect(found).toEqual([
      ['channel', 'card', 100, 50],
      ['currency', 'GBP', 50, 40],
    ]);
  });

  it('is the narrowest slice of the same orders, not the one that explains a little more', () => {
    const cells = [
      cell({ channel: 'token', order_type: 'Deposit' }, 171, 171),
      cell({ channel: 'card', order_type: 'Deposit' }, 1_147, 3),
      cell({ channel: 'card', order_type: 'Withdrawal' }, 144, 0),
    ];
    const [first] = ask(cells);
    expect(first).toMatchObject({ dimension: 'channel', value: 'token', seen: 171, affected: 171 });
    expect(ask(cells)).toHaveLength(1);
  });

  it('is nothing where the share is everywhere alike, or there are too few orders', () => {
    expect(ask([cell({ channel: 'card' }, 100, 50), cell({ channel: 'p2p' }, 200, 100)])).toEqual([]);
    expect(ask([cell({ channel: 'card' }, 4, 4), cell({ channel: 'p2p' }, 20, 0)])).toEqual([]);
    expect(ask([cell({ channel: 'card' }, 50, 50), cell({ channel: 'p2p' }, 9, 0)])).toEqual([]);
    expect(ask([cell({ channel: 'card' }, 50, 50)])).toEqual([]);
    expect(ask([])).toEqual([]);
  });

  it('is nothing while the best explains less than a fifth', () => {
    const cells = [
      cell({ channel: 'card', currency: 'EUR' }, 1000, 300),
      cell({ channel: 'p2p', currency: 'EUR' }, 1000, 290),
      cell({ channel: 'p2p', currency: 'USD' }, 40, 40),
    ];
    expect(ask(cells)).toEqual([]);
  });

  it('compares only orders of which the value is known', () => {
    expect(ask([cell({ channel: 'card' }, 60, 60), cell({}, 500, 0)])).toEqual([]);
  });

  it('is a reason that was not there before; one that always was explains nothing', () => {
    const cells = [
      cell({ reason: '11 TIMEOUT' }, 40, 40, { seenBefore: 2, affectedBefore: 2 }),
      cell({ reason: '61 DECLINED' }, 60, 60, { seenBefore: 58, affectedBefore: 58 }),
      cell({}, 200, 0, { seenBefore: 240 }),
    ];
    expect(ask(cells, ['reason'])).toMatchObject([
      {
        dimension: 'reason',
        value: '11 TIMEOUT',
        seen: 300,
        affected: 40,
        against: { of: 'before', seen: 300, affected: 2 },
        explained: 38,
      },
    ]);
    expect(ask(cells)).toEqual([]);
  });

  it('of a drop is the slice that lost more orders than the rest', () => {
    const cells = [
      cell({ channel: 'card' }, 3, 3, { seenBefore: 50, affectedBefore: 50 }),
      cell({ channel: 'p2p' }, 48, 48, { seenBefore: 50, affectedBefore: 50 }),
    ];
    const found = standOut(cells, { kind: 'drop', excess: 49, what: [] });
    expect(found).toMatchObject([
      {
        value: 'card',
        seen: 50,
        affected: 3,
        against: { of: 'rest', seen: 50, affected: 48 },
        explained: 45,
      },
    ]);
    expect(standOut([cells[1] as Cell], { kind: 'drop', excess: 49, what: [] })).toEqual([]);
  });
});

const value = fc.constantFrom('', 'a', 'b', 'c');
const cells = fc.array(
  fc
    .record({
      values: fc.record({
        channel: value,
        order_type: value,
        currency: value,
        amount_band: value,
        age: value,
        stage: value,
        reason: value,
      }),
      seen: fc.nat(200),
      part: fc.double({ min: 0, max: 1, noNaN: true }),
      seenBefore: fc.nat(200),
      partBefore: fc.double({ min: 0, max: 1, noNaN: true }),
    })
    .map(({ part, partBefore, ...one }): Cell => ({
      ...one,
      affected: Math.round(one.seen * part),
      affectedBefore: Math.round(one.seenBefore * partBefore),
    })),
  { maxLength: 30 },
);
const kind = fc.constantFrom('share' as const, 'drop' as const);

describe('of any orders', () => {
  it('at most three slices stand out, none twice, each with at least a fifth of the excess and five orders', () => {
    fc.assert(
      fc.property(cells, kind, fc.nat(500), (some, of, excess) => {
        const found = standOut(some, { kind: of, excess, what: WHAT });
        expect(found.length).toBeLessThanOrEqual(3);
        expect(new Set(found.map((one) => `${one.dimension} ${one.value}`)).size).toBe(found.length);
        for (const { explained, value: named, affected, seen } of found) {
          expect(named).not.toBe('');
          expect(explained).toBeGreaterThanOrEqual(Math.max(5, excess / 5));
          expect(explained).toBeLessThanOrEqual(of === 'share' ? affected : Infinity);
          if (of === 'share') expect(affected).toBeLessThanOrEqual(seen);
        }
      }),
    );
  });

  it('what stands out does not depend on their order, nor on how finely they are counted', () => {
    fc.assert(
      fc.property(cells, kind, fc.nat(500), (some, of, excess) => {
        const question = { kind: of, excess, what: WHAT };
        const halves = some.flatMap((one) => {
          const half = (count: number) => Math.floor(count / 2);
          const part = {
            seen: half(one.seen),
            affected: half(one.affected),
            seenBefore: half(one.seenBefore),
            affectedBefore: half(one.affectedBefore),
          };
          const rest = {
            seen: one.seen - part.seen,
            affected: one.affected - part.affected,
            seenBefore: one.seenBefore - part.seenBefore,
            affectedBefore: one.affectedBefore - part.affectedBefore,
          };
          return [
            { ...part, values: one.values },
            { ...rest, values: one.values },
          ];
        });
        expect(standOut(halves.toReversed(), question)).toEqual(standOut(some, question));
      }),
    );
  });

  it('one that fails while the others do not is named first', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...WHERE),
        fc.integer({ min: 15, max: 500 }),
        fc.integer({ min: 30, max: 5_000 }),
        (dimension, bad, good) => {
          const some = [cell({ [dimension]: 'bad' }, bad, bad), cell({ [dimension]: 'good' }, good, 0)];
          expect(ask(some)[0]).toMatchObject({
            dimension,
            value: 'bad',
            seen: bad,
            affected: bad,
            explained: bad,
          });
        },
      ),
    );
  });
});
