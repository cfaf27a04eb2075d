import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fingerprint } from '../../support/fingerprint.ts';
import { BODY, KEY, receive, sign, textsOf, writtenCard } from './callback-fixtures.ts';

const letters = fc.stringMatching(/^[a-zA-Z:;"'\\ ]{0,6}$/);
/**
 * A card number with letters around it, as a JSON value: a text, a number, a list, an object's value or key.
 */
const hidden = fc
  .tuple(writtenCard, letters, letters, fc.nat(4))
  .map(([card, before, after, form]): { card: string; json: string } => {
    const written = JSON.stringify(`${before}${card}${after}`);
    const bare = card.replace(/[ -]/g, '');
    const json =
      [written, bare, `[${written}]`, `{"value":${written}}`, `{${written}:${bare}}`][form] ?? written;
    return { card: bare, json };
  });
const FIELDS = [
  'externalId',
  'status',
  'amount',
  'orderType',
  'currency',
  'externalParams',
  'other',
  '__proto__',
];

describe('a card number in a callback', () => {
  it('may be the id of an order where the gateway numbers them so, when the signature verifies', () => {
    const numbered = { ...BODY, externalId: '4111111111111111' };
    const hidden = fingerprint(numbered.externalId);
    const numbers = { fingerprint, keepsCardLikeIds: true };
    const { row } = receive(JSON.stringify(numbered), sign(numbered), [KEY], {}, numbers);
    expect(row).toMatchObject({ verdict: 'valid', external_id: numbered.externalId, problem: '' });
    const forged = receive(JSON.stringify(numbered), 'f'.repeat(64), [KEY], {}, numbers);
    expect(forged.row).toMatchObject({ verdict: 'mismatch', external_id: hidden });
    const elsewhere = receive(JSON.stringify(numbered), sign(numbered));
    expect(elsewhere.row).toMatchObject({ verdict: 'valid', external_id: hidden });
  });

  it('reaches no field of the row and no problem, wherever in the body it stands', () => {
    fc.assert(
      fc.property(fc.constantFrom(...FIELDS), hidden, fc.boolean(), (name, { card, json }, holdsKey) => {
        const signed = holdsKey;
        const { [name]: _replaced, ...others } = BODY;
        const text = `{"${name}":${json},${JSON.stringify(others).slice(1)}`;
        const value: unknown = (JSON.parse(text) as Record<string, unknown>)[name];
        const signature = signed ? sign({ ...BODY, [name]: value }) : 'f'.repeat(64);
        const { row } = receive(text, signature);
        expect(textsOf(row)).not.toContain(card);
      }),
      { numRuns: 5_000 },
    );
  });

  it('reaches no problem from a body that is no JSON, nor from the header', () => {
    fc.assert(
      fc.property(hidden, fc.nat(), ({ card, json }, pick) => {
        const text = JSON.stringify(BODY);
        // Not beside another digit: together they would be another number.
        const gaps = Array.from(text.matchAll(/(?<![0-9 -])(?![0-9 -])/g), (gap) => gap.index);
        const at = gaps[pick % gaps.length] ?? 0;
        const { row } = receive(text.slice(0, at) + json + text.slice(at), [card]);
        expect(textsOf(row)).not.toContain(card);
        expect(textsOf(receive(json, [card, card]).row)).not.toContain(card);
      }),
      { numRuns: 2_000 },
    );
  });
});
