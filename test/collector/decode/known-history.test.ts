import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fingerprint } from '../../support/fingerprint.ts';
import { decodeHistory, itemKey } from '../../../collector/decode/history.ts';
import {
  addKnown,
  findKnown,
  knownLine,
  NOTHING_KNOWN,
  readKnown,
  readRefused,
  readReplyFacts,
  withReplyFacts,
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

describe('known history', () => {
  it('is read back as it was written, whatever the actions hold', () => {
    fc.assert(
      fc.property(list, (items) => {
        const decoded = decodeHistory(items, fingerprint).items;
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
      fc.property(reads, fc.boolean(), ([earlier, later], hasFacts) => {
        const text = addKnown(NOTHING_KNOWN, decodeHistory(earlier, fingerprint).items, ['refused']);
        const reply = decodeHistory(later, fingerprint).items;
        const found = findKnown(hasFacts ? withReplyFacts(text, '[]') : text, reply);
        const read = readKnown(text);
        expect(found.items).toEqual([...read.values()]);
        expect(reply.map((item) => found.has(item))).toEqual(reply.map((item) => read.has(itemKey(item))));
      }),
      { numRuns: 1_000 },
    );
  });

  it("is not read from the text when a reply begins with it: its items are the reply's own", () => {
    const codes = ['1.0.0.00', '2.1.1.00', '4.1.3.00', '6.1.1.00'];
    const reply = decodeHistory(
      codes.map((action, index) => ({ time: at(index), action })),
      fingerprint,
    ).items;
    for (let count = 0; count <= reply.length; count += 1) {
      const plain = addKnown(NOTHING_KNOWN, reply.slice(0, count));
      for (const known of [plain, withReplyFacts(plain, '[]'), addKnown(plain, [], ['refused'])]) {
        const found = findKnown(known, reply);
        expect(found.items).toHaveLength(count);
        found.items.forEach((item, index) => expect(item).toBe(reply[index]));
      }
    }
  });

  it.each([
    ['time', { time: at(1) }],
    ['code', { action: '4.1.4.61' }],
    ['code of another length', { action: '4.1.4.6' }],
  ])('of an item with another %s is another item', (_what, other) => {
    const one = { time: at(0), action: '4.1.4.63' };
    const known = addKnown(NOTHING_KNOWN, decodeHistory([one], fingerprint).items);
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
    const known = addKnown(NOTHING_KNOWN, decodeHistory([second], fingerprint).items);
    const reply = decodeHistory([first, second], fingerprint).items;
    const found = findKnown(known, reply);
    expect(found.items).toMatchObject([{ position: 0, code: { action: '4.1.3.00' } }]);
    expect(reply.map((item) => found.has(item))).toEqual([false, true]);
  });

  it('an item is known at its first place, also when that only ends in other digits', () => {
    const one = { time: at(0), action: '4.1.3.00' };
    const [decoded] = decodeHistory([one], fingerprint).items;
    const known = addKnown(NOTHING_KNOWN, decoded === undefined ? [] : [{ ...decoded, position: 12 }]);
    const reply = decodeHistory([{ time: at(0), action: '1.0.0.00' }, one], fingerprint).items.slice(1);
    const found = findKnown(known, reply);
    expect(found.items).toMatchObject([{ position: 12 }]);
    expect(reply.map((item) => found.has(item))).toEqual([true]);
  });

  it('keeps what a shorter reply lacks', () => {
    const both = decodeHistory(
      [
        { time: at(0), action: '1.0.0.00' },
        { time: at(1), action: '4.1.3.00' },
      ],
      fingerprint,
    ).items;
    const found = findKnown(addKnown(NOTHING_KNOWN, both), both.slice(0, 1));
    expect(found.items).toEqual(both);
  });

  it('of an order without items has the other facts alone', () => {
    expect(readReplyFacts(withReplyFacts(NOTHING_KNOWN, '[]'))).toBe('[]');
  });

  it('keeps the other facts of a reply in one place, apart from the items', () => {
    fc.assert(
      fc.property(list, list, fc.json(), fc.json(), (some, more, first, second) => {
        const items = decodeHistory([...some, ...more], fingerprint).items;
        const [before, after] = [items.slice(0, some.length), items.slice(some.length)];
        const known = addKnown(withReplyFacts(addKnown(NOTHING_KNOWN, before), first), after, ['refused']);
        expect(readReplyFacts(addKnown(NOTHING_KNOWN, items))).toBeNull();
        expect(readReplyFacts(known)).toBe(first);
        expect(withReplyFacts(known, second)).toBe(
          withReplyFacts(addKnown(NOTHING_KNOWN, items, ['refused']), second),
        );
        expect([...readKnown(known).values()]).toEqual(items);
        expect([...readRefused(known)]).toEqual(['refused']);
      }),
      { numRuns: 1_000 },
    );
  });

  it('takes one line an item', () => {
    fc.assert(
      fc.property(list, (items) => {
        const decoded = decodeHistory(items, fingerprint).items;
        const text = addKnown(NOTHING_KNOWN, decoded);
        expect(text === '' ? 0 : text.split('\n').length).toBe(decoded.length);
      }),
    );
  });

  it('made from stored rows is the same text', () => {
    fc.assert(
      fc.property(list, (items) => {
        const decoded = decodeHistory(items, fingerprint).items;
        const lines = decoded.map(({ time, code, occurrence, position }) =>
          knownLine({ time, action: code.action, occurrence, position }),
        );
        expect(lines.join('\n')).toBe(addKnown(NOTHING_KNOWN, decoded));
      }),
      { numRuns: 1_000 },
    );
  });

  it('of nothing is nothing', () => {
    expect(readKnown(NOTHING_KNOWN).size).toBe(0);
    expect(addKnown(NOTHING_KNOWN, [])).toBe(NOTHING_KNOWN);
  });
});
