import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fingerprint } from '../../support/fingerprint.ts';
import { decodeHistory } from '../../../collector/decode/history.ts';
import {
  addKnown,
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
        expect([...known.keys()]).toEqual(decoded.map(({ key }) => key));
        expect([...known.values()]).toEqual(decoded);
      }),
      { numRuns: 3_000 },
    );
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
