import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isCode } from '../../../collector/decode/grammar.ts';
import { fingerprint } from '../../support/fingerprint.ts';
import {
  decodeHistory,
  inTimeOrder,
  itemKey,
  itemPair,
  unescapeAction,
} from '../../../collector/decode/history.ts';
import { parseTime } from '../../../collector/decode/time.ts';
import { anyHistory, at, type Item } from './history-fixtures.ts';

const keysOf = (list: readonly unknown[]) => decodeHistory(list, fingerprint).items.map(itemKey);
const pairOf = (item: Item) => JSON.stringify([parseTime(item.time), item.action]);

describe('a list of history items', () => {
  it('is decoded in list order, each item with its place', () => {
    const { items, refused, outOfOrder } = decodeHistory(
      [
        { time: at(0), action: '1.0.0.00' },
        { time: at(1), action: '4.1.4.63' },
      ],
      fingerprint,
    );
    expect(
      items.map(({ time, code, occurrence, position }) => [time, code.action, occurrence, position]),
    ).toEqual([
      [parseTime(at(0)), '1.0.0.00', 0, 0],
      [parseTime(at(1)), '4.1.4.63', 0, 1],
    ]);
    expect({ refused, outOfOrder }).toEqual({ refused: [], outOfOrder: false });
  });

  it('has times of the clock of a zone where the gateway writes them so, and of UTC otherwise', () => {
    const list = [{ time: '2026-11-21T18:15:30', action: '1.0.0.00' }];
    const timeIn = (zone: string | null) => decodeHistory(list, fingerprint, zone).items[0]?.time;
    expect(timeIn('Asia/Singapore')).toBe(parseTime('2026-11-21T10:15:30Z'));
    expect(timeIn(null)).toBe(parseTime('2026-11-21T18:15:30Z'));
  });

  it('counts equal pairs of time and action from 0, and only those', () => {
    fc.assert(
      fc.property(anyHistory, (list) => {
        const seen: string[] = [];
        for (const [index, item] of decodeHistory(list, fingerprint).items.entries()) {
          const pair = pairOf(list[index] ?? { time: '', action: '' });
          expect(item.occurrence).toBe(seen.filter((other) => other === pair).length);
          seen.push(pair);
        }
      }),
    );
  });

  it('counts two spellings of one instant as equal, also when they differ beyond microseconds', () => {
    const list = [
      '2026-11-21T10:15:30.25Z',
      '2026-11-21T12:15:30.250000+02:00',
      '2026-11-21T10:15:30.2500009',
    ].map((time) => ({ time, action: '4.2.2.13' }));
    expect(decodeHistory(list, fingerprint).items.map(({ occurrence }) => occurrence)).toEqual([0, 1, 2]);
  });

  it('gives every item a key of its own', () => {
    fc.assert(
      fc.property(anyHistory, (list) => {
        expect(new Set(keysOf(list)).size).toBe(list.length);
      }),
    );
  });

  it('gives the same keys in whatever order the items stand', () => {
    const shuffled = anyHistory.chain((list) =>
      fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })),
    );
    fc.assert(
      fc.property(shuffled, ([list, other]) => {
        expect(new Set(keysOf(other))).toEqual(new Set(keysOf(list)));
      }),
    );
  });

  it('is out of order exactly when a time falls', () => {
    fc.assert(
      fc.property(anyHistory, (list) => {
        const times = list.map(({ time }) => time);
        expect(decodeHistory(list, fingerprint).outOfOrder).toBe(times.join() !== times.toSorted().join());
      }),
    );
  });

  it('keeps digits and dots as they came, and of any other action its fingerprint', () => {
    const code = fc.stringMatching(/^[0-9]{1,3}(\.[0-9]{1,2}){0,4}$/);
    fc.assert(
      fc.property(fc.oneof(code, fc.string({ unit: 'binary', maxLength: 20 })), (action) => {
        const kept = decodeHistory([{ time: at(0), action }], fingerprint).items[0]?.code.action;
        expect(kept).toBe(/^\d[\d.]*$/.test(action) && isCode(action) ? action : fingerprint(action));
      }),
      { numRuns: 1_000 },
    );
  });

  it('knows no difference between halves of letters, which no store can hold', () => {
    const list = [
      { time: at(0), action: '4.1\ud800' },
      { time: at(0), action: '4.1\udfff' },
    ];
    expect(
      decodeHistory(list, fingerprint).items.map(({ code, occurrence }) => [code.action, occurrence]),
    ).toEqual([
      [fingerprint('4.1\ufffd'), 0],
      [fingerprint('4.1\ufffd'), 1],
    ]);
  });
});

describe('the key of an item', () => {
  it.each([
    ['4.1.4.63', '7|4.1.4.63'],
    ['a\\b', '7|a\\\\b'],
    ['a\nb\n', '7|a\\nb\\n'],
    ['\\n', '7|\\\\n'],
  ])('holds the action %j on one line: %j', (action, pair) => {
    expect(itemPair(7, action)).toBe(pair);
    expect(unescapeAction(pair.slice(2))).toBe(action);
  });
});

describe('the order of items', () => {
  it('is that of time, then of the list, then of the code', () => {
    const [item] = decodeHistory([{ time: at(0), action: '1.0.0.00' }], fingerprint).items;
    if (item === undefined) throw new Error('no item');
    const placed = (time: number, position: number, action: string) => ({
      ...item,
      time,
      position,
      code: { ...item.code, action },
    });
    const sorted = [
      placed(1, 9, 'z'),
      placed(2, 0, 'z'),
      placed(2, 1, 'a'),
      placed(2, 1, 'b'),
      placed(2, 1, 'b'),
      placed(2, 1, 'c'),
      placed(3, 0, 'a'),
    ];
    expect(inTimeOrder(sorted.toReversed())).toEqual(sorted);
    expect(inTimeOrder(sorted)).toEqual(sorted);
    expect(inTimeOrder([1, 4, 0, 6, 3, 5, 2].map((index) => sorted[index] ?? item))).toEqual(sorted);
  });
});

describe('a bad item', () => {
  const good = { time: at(0), action: '1.0.0.00' };

  it.each([
    ['null', null, 'history_item_malformed', 'body'],
    ['a text', '4.1.4.63', 'history_item_malformed', 'body'],
    ['a list', [], 'history_item_malformed', 'body'],
    ['without time', { action: '4.1.4.63' }, 'history_item_malformed', 'time'],
    ['without action', { time: at(1) }, 'history_item_malformed', 'action'],
    [
      'with a number for its time',
      { time: 1_795_256_130, action: '4.1.4.63' },
      'history_item_malformed',
      'time',
    ],
    ['with a number for its action', { time: at(1), action: 4.1 }, 'history_item_malformed', 'action'],
    [
      'with an action of 201 letters',
      { time: at(1), action: 'x'.repeat(201) },
      'history_item_malformed',
      'action',
    ],
    [
      'with a time that does not exist',
      { time: '2026-02-30T00:00:00Z', action: '4.1.4.63' },
      'history_time_invalid',
      'time',
    ],
    ['with an empty time', { time: '', action: '4.1.4.63' }, 'history_time_invalid', 'time'],
    [
      'with fields from the prototype only',
      JSON.parse('{"__proto__":{"time":"2026-11-21T10:15:30Z","action":"4.1.4.63"}}'),
      'history_item_malformed',
      'time',
    ],
  ])('%s is refused alone', (_name, bad: unknown, reason, field) => {
    const { items, refused } = decodeHistory([good, bad, good], fingerprint);
    expect(items.map(({ position, occurrence }) => [position, occurrence])).toEqual([
      [0, 0],
      [2, 1],
    ]);
    expect(refused).toMatchObject([{ position: 1, reason, problem: { field } }]);
  });

  it('takes an action of 200 letters, and says what else would have been right', () => {
    const long = { time: at(1), action: 'x'.repeat(200) };
    expect(decodeHistory([long], fingerprint)).toMatchObject({ items: [{ position: 0 }], refused: [] });
    const { refused } = decodeHistory(
      [
        { ...long, action: `${long.action}x` },
        { time: 'soon', action: '4.1.4.63' },
      ],
      fingerprint,
    );
    expect(refused.map(({ problem }) => problem.expected)).toEqual([
      'a history code A.C.B.RR',
      'an ISO 8601 time between 2000 and 2099',
    ]);
  });

  it('knows a refused item again by its time and action together', () => {
    const contentOf = (time: string, action: string) =>
      decodeHistory([{ time, action }], fingerprint).refused[0]?.content;
    const long = 'x'.repeat(201);
    expect(contentOf('soon', '4.1.4.63')).toBe(contentOf('soon', '4.1.4.63'));
    const contents = [
      contentOf('soon', '4.1.4.63'),
      contentOf('later', '4.1.4.63'),
      contentOf('soon', '4.1.4.62'),
      contentOf(at(1), long),
      contentOf(at(2), long),
      contentOf(at(1), `${long}y`),
    ];
    expect(new Set(contents).size).toBe(contents.length);
  });

  it('orders items of one instant and place by their codes', () => {
    const [a, b, c] = ['1.0.0.00', '1.1.1.00', '2.1.1.00'].map(
      (action) => decodeHistory([{ time: at(1), action }], fingerprint).items[0],
    );
    if (a === undefined || b === undefined || c === undefined) throw new TypeError('an item was refused');
    for (const list of [
      [a, b, c],
      [c, b, a],
      [b, c, a],
      [c, a, b],
    ]) {
      expect(inTimeOrder(list)).toEqual([a, b, c]);
    }
  });

  it('shows no card number, wherever it stands', () => {
    const card = '4111111111111111';
    const list = [
      { time: card, action: card },
      { time: at(0), action: `x ${card}` },
      { time: [card], action: card },
      { time: card, action: 'a'.repeat(500) + card },
      card,
    ];
    const { items, refused } = decodeHistory(list, fingerprint);
    expect(items.map(({ code }) => code.action)).toEqual([fingerprint(`x ${card}`)]);
    expect(refused).toHaveLength(list.length - 1);
    expect(JSON.stringify([items, refused])).not.toContain(card);
  });

  it('never throws, for any list of JSON values', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), (list) => {
        const { items, refused } = decodeHistory(list, fingerprint);
        expect(items.length + refused.length).toBe(list.length);
      }),
    );
  });
});
