import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fingerprint } from '../../support/fingerprint.ts';
import { foldHistory } from '../../../collector/decode/fold-order.ts';
import { decodeHistory, inTimeOrder, itemKey } from '../../../collector/decode/history.ts';
import { readKnown } from '../../../collector/decode/known-history.ts';
import { looksLikeCardNumber } from '../../../schemas/card-search.ts';
import { decimalText } from '../../../collector/decode/grammar.ts';
import { decodeStatusReply } from '../../../collector/decode/status-reply.ts';
import type { HistoryEventRow } from '../../../schemas/rows.ts';
import { cardNumber, textsOf, writtenCard } from './callback-fixtures.ts';
import {
  accept,
  anyHistory,
  context,
  identityOf,
  orderedHistory,
  replyText,
  type Item,
} from './history-fixtures.ts';

/** Reads the lists one after the other as one poller would: what it knows goes into the next read. */
function readAll(lists: readonly (readonly Item[])[]) {
  let known = '';
  const rows: HistoryEventRow[] = [];
  let last = accept(replyText([]));
  for (const list of lists) {
    last = accept(replyText(list), { known });
    rows.push(...last.newEvents);
    known = last.known;
  }
  return { rows, last, known };
}
const wholeOf = (list: readonly Item[]) => accept(replyText(list));
const identities = (rows: readonly HistoryEventRow[]) => rows.map(identityOf).toSorted();

const places = (rows: readonly HistoryEventRow[]) =>
  rows.map((row) => `${identityOf(row)} ${row.list_position}`).toSorted();

/** A history and reads of it: prefixes of any lengths in any order, the whole at some point. */
const prefixReads = orderedHistory.chain((history) =>
  fc
    .tuple(
      fc.array(fc.nat(history.length), { maxLength: 6 }),
      fc.array(fc.nat(history.length), { maxLength: 3 }),
    )
    .map(([before, after]) => ({
      history,
      reads: [...before, history.length, ...after].map((length) => history.slice(0, length)),
    })),
);

describe('however a history is read', () => {
  it('reading the same list again brings nothing new', () => {
    fc.assert(
      fc.property(anyHistory, (list) => {
        const { rows, last } = readAll([list, list, list]);
        expect(rows).toHaveLength(list.length);
        expect(last.newEvents).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it('growing prefixes, repeated and in any order, give each item once and the same outcome as the whole', () => {
    fc.assert(
      fc.property(prefixReads, ({ history, reads }) => {
        const { rows, last } = readAll(reads);
        const whole = wholeOf(history);
        expect(identities(rows)).toEqual(identities(whole.newEvents));
        expect(foldHistory(last.history)).toEqual(foldHistory(whole.history));
        expect(last.history).toHaveLength(history.length);
      }),
      { numRuns: 2_000 },
    );
  });

  it('two readers who each see other prefixes agree on every identity and on the outcome', () => {
    fc.assert(
      fc.property(orderedHistory, fc.array(fc.tuple(fc.boolean(), fc.nat(12))), (history, reads) => {
        const readsOf = (reader: boolean) => [
          ...reads.filter(([who]) => who === reader).map(([, length]) => history.slice(0, length)),
          history,
        ];
        const [one, other] = [readAll(readsOf(true)), readAll(readsOf(false))];
        expect(identities(one.rows)).toEqual(identities(other.rows));
        expect(foldHistory(one.last.history)).toEqual(foldHistory(other.last.history));
        // Places are the same too, as prefixes do not move them: only span starts may differ, by what was
        // seen.
        expect(places(one.rows)).toEqual(places(other.rows));
      }),
      { numRuns: 1_000 },
    );
  });

  it('lists with gaps and late items give, in the end, the identities of the whole list', () => {
    const reads = anyHistory.chain((history) =>
      fc.tuple(fc.constant(history), fc.array(fc.subarray(history), { maxLength: 5 })),
    );
    fc.assert(
      fc.property(reads, ([history, parts]) => {
        const { rows } = readAll([...parts, history]);
        expect(identities(rows)).toEqual(identities(wholeOf(history).newEvents));
        expect(new Set(rows.map(identityOf)).size).toBe(rows.length);
      }),
      { numRuns: 1_000 },
    );
  });

  it('what is known never shrinks, and is read back as the items it was made of', () => {
    fc.assert(
      fc.property(fc.array(anyHistory, { maxLength: 4 }), (lists) => {
        const seen = new Set<string>();
        let known = '';
        for (const list of lists) {
          for (const item of decodeHistory(list, fingerprint).items) seen.add(itemKey(item));
          known = accept(replyText(list), { known }).known;
          expect(new Set(readKnown(known).keys())).toEqual(seen);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('a span never ends before it starts, and starts at an item or at itself', () => {
    fc.assert(
      fc.property(fc.array(anyHistory, { minLength: 1, maxLength: 4 }), (lists) => {
        const { rows } = readAll(lists);
        const times = new Set(rows.map(({ event_time }) => event_time));
        for (const { span_start, event_time } of rows) {
          expect(span_start).toBeLessThanOrEqual(event_time);
          expect(times.has(span_start)).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('in one read, each span starts where the item before it in time ended', () => {
    fc.assert(
      fc.property(anyHistory, (list) => {
        const rows = wholeOf(list).newEvents;
        const ordered = inTimeOrder(decodeHistory(list, fingerprint).items);
        expect(rows.map(({ event_time }) => event_time)).toEqual(ordered.map(({ time }) => time));
        expect(rows.map(({ span_start }) => span_start)).toEqual(
          ordered.map(({ time }, index) => ordered[index - 1]?.time ?? time),
        );
      }),
      { numRuns: 500 },
    );
  });

  it('the outcome of the reply is that of the union', () => {
    fc.assert(
      fc.property(anyHistory, anyHistory, (one, other) => {
        const { last, known } = readAll([one, other]);
        expect(foldHistory(last.history)).toEqual(foldHistory([...readKnown(known).values()]));
      }),
      { numRuns: 500 },
    );
  });
});

describe('any reply', () => {
  it('gives a value: rows, or a reject with a reason', () => {
    const names = fc.constantFrom(
      'externalId',
      'orderStatus',
      'amount',
      'currency',
      'orderType',
      'orderHistory',
      '__proto__',
    );
    const anyBody = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.json(),
      fc.dictionary(names, fc.jsonValue()).map((value) => replyText([], value)),
    );
    fc.assert(
      fc.property(anyBody, (body) => {
        const decoded = decodeStatusReply(body, context());
        expect(decoded.ok || decoded.rejects.length === 1).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  it('shows no card number in a row or a reject, wherever it stands', () => {
    const letters = fc.stringMatching(/^[a-zA-Z:;"'\\ ]{0,6}$/);
    const places = [
      'externalTransactionId',
      'orderStatus',
      'currency',
      'amount',
      'orderType',
      'externalParams',
      'other',
      'time',
      'action',
    ];
    fc.assert(
      fc.property(fc.constantFrom(...places), writtenCard, letters, letters, (place, card, before, after) => {
        const bare = card.replace(/[ -]/g, '');
        for (const value of [`${before}${card}${after}`, Number(bare), [card], { [card]: card }]) {
          const item = { time: '2026-11-21T10:15:30Z', action: '4.1.3.00', [place]: value };
          const decoded = decodeStatusReply(replyText([item, value], { [place]: value }), context());
          const rows: object[] = [...decoded.rejects];
          if (decoded.ok) {
            const { orderStatus, amount, currency } = decoded;
            rows.push(...decoded.newEvents, { orderStatus, amount, currency });
          }
          expect(rows.map(textsOf).join('\n')).not.toContain(bare);
        }
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('decimalText', () => {
  it('gives the number it was given, as plain decimal text, or nothing', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        const text = decimalText(value) ?? String(value);
        // A tail beyond the ninth decimal is rounded, and nothing else.
        expect(Math.abs(Number(text) - value)).toBeLessThanOrEqual(Math.abs(value) * 1e-6);
        expect(decimalText(value) ?? '0').toMatch(/^-?\d{1,21}(\.\d{1,9})?$/);
      }),
      { numRuns: 5_000 },
    );
  });

  it('gives every amount of up to nine decimals', () => {
    fc.assert(
      fc.property(fc.nat(999_999), fc.nat(9), (units, decimals) => {
        expect(decimalText(units / 10 ** decimals)).not.toBeNull();
      }),
      { numRuns: 5_000 },
    );
  });

  it('leaves decimal text as it is, unless its digits could be a card number', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^-?[0-9]{1,11}(\.[0-9]{1,9})?$/), (text) => {
        fc.pre(!looksLikeCardNumber(text));
        expect(decimalText(text)).toBe(text);
      }),
    );
  });

  it('gives no card number', () => {
    fc.assert(
      fc.property(cardNumber, (card) => {
        expect(decimalText(card)).toBeNull();
      }),
    );
  });
});
