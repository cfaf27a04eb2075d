import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fingerprint } from '../../support/fingerprint.ts';
import { decodeHistory, itemKey, type SeenItem } from '../../../collector/decode/history.ts';
import {
  addKnown,
  findKnown,
  knownOf,
  NOTHING_KNOWN,
  readKnown,
  readRefused,
} from '../../../collector/decode/known-history.ts';
import { at } from './history-fixtures.ts';

/** Actions that try to break the compact text: separators, line ends, escapes, their ASCII look-alikes. */
const nastyAction = fc.oneof(
  fc.constantFrom(
    '4.1.4.63',
    '',
    '|',
    '||',
    '\n',
    '\\',
    '\\n',
    '\\\n',
    '\\\\n',
    '|0|0',
    'a\nb|c\\',
    '\r\n',
    '1|2|3',
  ),
  fc.string({ unit: fc.constantFrom('|', '\n', '\\', 'n', '0', '-', '\r', '\u2028') }),
  fc.string({ unit: 'binary' }),
);
const list = fc.array(fc.record({ time: fc.nat(3).map((seconds) => at(seconds)), action: nastyAction }), {
  maxLength: 10,
});

const SEEN_AT = 1_795_256_131_000_000;
/** The items of a list, as a read at that instant shows them. */
const read = (items: Parameters<typeof decodeHistory>[0], observedAt = SEEN_AT): SeenItem[] =>
  decodeHistory(items, fingerprint).items.map((item) => ({ ...item, observedAt }));

describe('known history', () => {
  it('is read back as it was written, whatever the actions hold', () => {
    fc.assert(
      fc.property(list, (items) => {
        const decoded = read(items);
        const known = readKnown(addKnown(NOTHING_KNOWN, decoded));
        expect([...known.keys()]).toEqual(decoded.map(itemKey));
        expect([...known.values()]).toEqual(decoded);
      }),
      { numRuns: 3_000 },
    );
  });

  it('is found among the items of a reply, whichever of them and in whatever order the text lists', () => {
    const reads = fc.tuple(list, list).chain(([some, more]) => {
      const all = [...some, ...more];
      const earlier = fc.oneof(fc.constant(some), fc.constant(all), fc.shuffledSubarray(all), list);
      return fc.tuple(earlier, fc.constant(all));
    });
    fc.assert(
      fc.property(reads, ([earlier, later]) => {
        const text = addKnown(NOTHING_KNOWN, read(earlier), ['refused']);
        const reply = decodeHistory(later, fingerprint).items;
        const found = findKnown(text, reply);
        const stored = readKnown(text);
        expect(found.items).toEqual([...stored.values()]);
        expect(reply.map((item) => found.has(item))).toEqual(reply.map((item) => stored.has(itemKey(item))));
      }),
      { numRuns: 1_000 },
    );
  });

  it("is not read from the text when a reply begins with it: its items are the reply's own", () => {
    const codes = ['1.0.0.00', '2.1.1.00', '4.1.3.00', '6.1.1.00'];
    const reply = read(codes.map((action, index) => ({ time: at(index), action })));
    for (let count = 0; count <= reply.length; count += 1) {
      const plain = addKnown(NOTHING_KNOWN, reply.slice(0, count));
      for (const known of [plain, addKnown(plain, [], ['refused'])]) {
        const found = findKnown(known, reply);
        expect(found.items).toHaveLength(count);
        found.items.forEach((item, index) => expect(item.code).toBe(reply[index]?.code));
      }
    }
  });

  it.each([
    ['time', { time: at(1) }],
    ['code', { action: '4.1.4.61' }],
    ['code of another length', { action: '4.1.4.6' }],
  ])('of an item with another %s is another item', (_what, other) => {
    const one = { time: at(0), action: '4.1.4.63' };
    const known = addKnown(NOTHING_KNOWN, read([one]));
    const [same, different] = [one, { ...one, ...other }].map((item) =>
      decodeHistory([item], fingerprint).items.map((decoded) => findKnown(known, [decoded]).has(decoded)),
    );
    expect([same, different]).toEqual([[true], [false]]);
  });

  it('an item that moved in the list is known at its first place', () => {
    const [first, second] = [
      { time: at(0), action: '1.0.0.00' },
      { time: at(1), action: '4.1.3.00' },
    ];
    const known = addKnown(NOTHING_KNOWN, read([second]));
    const reply = decodeHistory([first, second], fingerprint).items;
    const found = findKnown(known, reply);
    expect(found.items).toMatchObject([{ position: 0, code: { action: '4.1.3.00' } }]);
    expect(reply.map((item) => found.has(item))).toEqual([false, true]);
  });

  it('an item is known at its first place, also when that only ends in other digits', () => {
    const one = { time: at(0), action: '4.1.3.00' };
    const [decoded] = read([one]);
    const known = addKnown(NOTHING_KNOWN, decoded === undefined ? [] : [{ ...decoded, position: 12 }]);
    const reply = decodeHistory([{ time: at(0), action: '1.0.0.00' }, one], fingerprint).items.slice(1);
    const found = findKnown(known, reply);
    expect(found.items).toMatchObject([{ position: 12 }]);
    expect(reply.map((item) => found.has(item))).toEqual([true]);
  });

  it('keeps what a shorter reply lacks', () => {
    const both = read([
      { time: at(0), action: '1.0.0.00' },
      { time: at(1), action: '4.1.3.00' },
    ]);
    const found = findKnown(addKnown(NOTHING_KNOWN, both), both.slice(0, 1));
    expect(found.items).toEqual(both);
  });

  it('says when each item was first seen, over any number of reads', () => {
    fc.assert(
      fc.property(list, list, fc.nat(1), (some, more, later) => {
        const items = read([...some, ...more]);
        const [before, rest] = [items.slice(0, some.length), items.slice(some.length)];
        const after = rest.map((item) => ({ ...item, observedAt: SEEN_AT + later }));
        const known = addKnown(addKnown(NOTHING_KNOWN, before, ['refused']), after);
        expect([...readKnown(known).values()]).toEqual([...before, ...after]);
        expect([...readRefused(known)]).toEqual(['refused']);
        expect(findKnown(known, items).items).toEqual([...before, ...after]);
      }),
      { numRuns: 1_000 },
    );
  });

  it('takes one line an item, and one a read', () => {
    fc.assert(
      fc.property(list, (items) => {
        const decoded = read(items);
        const text = addKnown(NOTHING_KNOWN, decoded);
        expect(text === '' ? 0 : text.split('\n').length).toBe(decoded.length + Math.min(1, decoded.length));
      }),
    );
  });

  it('made from stored rows is the same text', () => {
    fc.assert(
      fc.property(list, (items) => {
        const decoded = read(items);
        const stored = decoded.map(({ time, code, occurrence, position, observedAt }) => {
          return { time, action: code.action, occurrence, position, observedAt };
        });
        expect(knownOf(stored)).toBe(addKnown(NOTHING_KNOWN, decoded));
      }),
      { numRuns: 1_000 },
    );
  });

  it('of nothing is nothing', () => {
    expect(readKnown(NOTHING_KNOWN).size).toBe(0);
    expect(addKnown(NOTHING_KNOWN, [])).toBe(NOTHING_KNOWN);
  });
});
