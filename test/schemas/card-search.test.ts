import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  holdsCardDigits,
  isCardLikeId,
  looksLikeCardNumber,
  plainDigits,
} from '../../schemas/card-search.ts';
import { cardNumber } from '../collector/decode/callback-fixtures.ts';

const CARD = '4111111111111111';
const SEPARATORS = [
  '',
  ' ',
  '-',
  '--',
  '.',
  '_',
  '\t',
  '\u00a0',
  '\u200b',
  '\u2009',
  ' / ',
  '·',
  '—',
  ', ',
  '\n',
  '|',
  '*',
];
const SCRIPTS = ['0', '０', '٠', '०', '\u{1d7d8}'];

/** A UUID of version 4, drawn as if by chance and the same in every run. */
function drawnUuid(n: number): string {
  const hex = createHash('sha256').update(`uuid ${n}`).digest('hex');
  const variant = '89ab'[Number.parseInt(hex.charAt(16), 16) % 4];
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

describe('the search for card numbers', () => {
  it('finds them behind any separator and in digits of any script', () => {
    const digitsOf = (text: string, zero: string) =>
      text.replace(/\d/g, (digit) => String.fromCodePoint((zero.codePointAt(0) ?? 0) + Number(digit)));
    fc.assert(
      fc.property(
        cardNumber,
        fc.constantFrom(...SEPARATORS),
        fc.constantFrom(...SCRIPTS),
        fc.integer({ min: 1, max: 6 }),
        (card, gap, zero, size) => {
          const groups = card.match(new RegExp(`.{1,${size}}`, 'g')) ?? [];
          const text = digitsOf(groups.join(gap), zero);
          expect(looksLikeCardNumber(`card ${text} of`)).toBe(true);
          expect(isCardLikeId(text)).toBe(true);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('finds one among other groups of digits', () => {
    expect(isCardLikeId('2026 4111 1111 1111 1111 12/28 123')).toBe(true);
    expect(isCardLikeId('7-4111111111111111')).toBe(true);
    expect(isCardLikeId('4111111111111111-7')).toBe(true);
    // More than 19 digits in a row are one number, of an id; elsewhere a card's may be a part of it.
    expect(isCardLikeId('41111111111111111228123')).toBe(false);
    expect(looksLikeCardNumber('41111111111111111228123')).toBe(true);
  });

  it('judges 13 to 19 digits together, and nothing shorter or longer', () => {
    // 18 and 42 pass the Luhn check by themselves, and 42 begins as a card does.
    for (const text of ['18-366622-595088', '73028625748603847942', '45910267813519206242']) {
      expect(looksLikeCardNumber(text)).toBe(false);
      expect(holdsCardDigits(text)).toBe(false);
    }
    expect(isCardLikeId('49039 6145908 0486935')).toBe(true);
    expect(isCardLikeId('47470 8725257 9419834')).toBe(true);
    expect(holdsCardDigits('4111 1111 1111 1111')).toBe(true);
  });

  it('asks for a card’s first digits at the beginning', () => {
    for (const id of ['1495983415234', '1487766034589', '1926055842210']) {
      expect(looksLikeCardNumber(id)).toBe(true);
      expect(isCardLikeId(id)).toBe(false);
    }
  });

  it('takes a UUID for an end', () => {
    const uuid = '69474544-8046-4f06-a621-80d6efb1df23';
    expect(looksLikeCardNumber('411111-8438770')).toBe(true);
    expect(looksLikeCardNumber(`411111-${uuid}-8438770`)).toBe(false);
  });

  it('takes letters for an end', () => {
    expect(looksLikeCardNumber('4111x1111x1111x1111')).toBe(false);
  });

  it('takes ids that begin otherwise for numbers, and only texts of that length', () => {
    expect(looksLikeCardNumber('1000000000009')).toBe(true);
    expect(isCardLikeId('1000000000009')).toBe(false);
    for (const id of [
      '1795256130000000',
      '20261121101530',
      '0'.repeat(16),
      '9000000000000001',
      '1'.repeat(15),
    ]) {
      expect(isCardLikeId(id)).toBe(false);
    }
    for (const id of ['411111111117', '4111111111111112', '', '4', '0'.repeat(20)]) {
      expect(looksLikeCardNumber(id)).toBe(false);
    }
  });

  it.each(
    [
      '4222222222222',
      '4111111111111111',
      '4000000000000000006',
      '5555555555554444',
      '2223003122003222',
      '378282246310005',
      '30569309025904',
      '36227206271667',
      '38520000023237',
      '3530111333300000',
      '6011111111111117',
      '6200000000000005',
      '6304000000000000',
      '5019717010103742',
      '2200000000000004',
      '8171999927660000',
      '9792030000000000',
      '8600000000000007',
    ].filter((card) => looksLikeCardNumber(card)),
  )('knows how %s begins', (card) => {
    expect(isCardLikeId(card)).toBe(true);
  });

  it('spares UUIDs, and finds a number beside one', () => {
    const uuid = '401111b1-1111-4111-8111-1111ab111c11';
    for (let n = 0; n < 20_000; n++) {
      const id = drawnUuid(n);
      expect([id, isCardLikeId(id)]).toEqual([id, false]);
    }
    expect(isCardLikeId(`${uuid} ${CARD}`)).toBe(true);
    expect(isCardLikeId('16855697-9823-45CA-8B63-8290A90978D3')).toBe(false);
  });

  it.each([
    ['of no version and variant of RFC 9562', '45395787-6362-1486-0000-000000000000'],
    ['of digits only', '45395787-6362-4183-8000-000000000000'],
    ['of digits only, the card behind others', '00004539-5787-4362-8148-670000000000'],
    ['with little else behind the card', '45395787-6362-4183-8abc-00000000000a'],
    ['with a card of 15 digits', '37144963-5398-4310-9b00-aaaaaaaaaaaa'],
    ['of version 0', '45395787-6362-0488-8000-0f1e2d3c4b5a'],
    ['of another variant', '45395787-6362-4183-c000-0f1e2d3c4b5a'],
  ])('finds a card number that is dressed as a UUID %s', (_how, dressed) => {
    expect(isCardLikeId(dressed)).toBe(true);
    expect(isCardLikeId(dressed.toUpperCase())).toBe(true);
    expect(looksLikeCardNumber(dressed)).toBe(true);
  });

  it('spares a UUID of RFC 9562 with a card number that chance has made', () => {
    const card = '45395787-6362-4183-8abc-0f1e2d3c4b5a';
    expect(isCardLikeId(card)).toBe(false);
    expect(isCardLikeId(card.replace('-0f', '00f'))).toBe(true);
  });

  it('takes long numbers for ids, whatever they hold', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^\d{20,40}$/), (id) => {
        expect(isCardLikeId(id)).toBe(false);
        expect(isCardLikeId(`order-${id}`)).toBe(false);
      }),
      { numRuns: 2_000 },
    );
    fc.assert(
      fc.property(cardNumber, fc.stringMatching(/^\d{20,24}$/), (card, long) => {
        expect(isCardLikeId(`${long} ${card}`)).toBe(true);
        expect(isCardLikeId(`${card}-${long}`)).toBe(true);
      }),
    );
  });

  it('finds a card number in any part of a long number', () => {
    expect(holdsCardDigits(`99${CARD}77`)).toBe(true);
    expect(holdsCardDigits(CARD)).toBe(true);
    expect(holdsCardDigits('4222222222222')).toBe(true);
    expect(holdsCardDigits('7-4222222222222')).toBe(true);
    expect(holdsCardDigits('4111111111111112')).toBe(false);
    expect(holdsCardDigits('100000000000000000000')).toBe(false);
    expect(holdsCardDigits('')).toBe(false);
    fc.assert(
      fc.property(cardNumber, fc.nat(99), fc.nat(99), (card, before, after) => {
        expect(holdsCardDigits(`${before}${card}${after}`)).toBe(true);
      }),
    );
  });

  it('reads digits of every script', () => {
    expect(plainDigits('４２ ٤٢ ४२ \u{1d7dc}\u{1d7da} ④② ⁴² abc')).toBe('42 42 42 42 42 42 abc');
    expect(plainDigits('plain 42')).toBe('plain 42');
    fc.assert(
      fc.property(
        fc.nat(9),
        fc.constantFrom(0x0660, 0x06f0, 0x07c0, 0x0966, 0x0e50, 0x1d7ce, 0x1fbf0),
        (digit, zero) => {
          expect(plainDigits(String.fromCodePoint(zero + digit))).toBe(String(digit));
        },
      ),
    );
  });

  it('takes time in proportion to a text', () => {
    const startedMs = performance.now();
    for (const text of [
      '1 '.repeat(10_000),
      '1'.repeat(10_000),
      `1${' '.repeat(200_000)}1`,
      'a'.repeat(200_000),
    ]) {
      looksLikeCardNumber(text);
      isCardLikeId(text);
    }
    expect(performance.now() - startedMs).toBeLessThan(20_000);
  });
});
