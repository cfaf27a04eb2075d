import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { looksLikeCardNumber } from '../../schemas/card-search.ts';
import { describe as shown, maskCards, redact } from '../../schemas/redact.ts';
import { cardNumber, writtenCard } from '../collector/decode/callback-fixtures.ts';

const letters = fc.stringMatching(/^[a-z:;"' ]{0,20}$/);

describe('looksLikeCardNumber', () => {
  it('finds every card number of 13 to 19 digits, however it is grouped and whatever letters stand around it', () => {
    fc.assert(
      fc.property(writtenCard, letters, letters, (card, before, after) => {
        expect(looksLikeCardNumber(`${before}${card}${after}`)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  it('finds no card number in digits that fail the check', () => {
    fc.assert(
      fc.property(cardNumber, fc.integer({ min: 1, max: 9 }), (card, add) => {
        const last = (Number(card.at(-1)) + add) % 10;
        expect(looksLikeCardNumber(`${card.slice(0, -1)}${last}`)).toBe(false);
      }),
    );
  });

  it('takes no UUID that chance made for a card number', () => {
    const drawn = fc.uuid().filter((uuid) => /[a-f]/.test(uuid) && new Set(uuid.slice(-12)).size > 3);
    fc.assert(
      fc.property(drawn, letters, (uuid, text) => {
        expect(looksLikeCardNumber(uuid)).toBe(false);
        expect(looksLikeCardNumber(`${text} ${uuid.toUpperCase()} ${text}`)).toBe(false);
      }),
      { numRuns: 5_000 },
    );
    expect(looksLikeCardNumber('69474544-8046-4f06-a621-80d6efb1df23')).toBe(false);
    expect(looksLikeCardNumber('69474544-8046-4f06-a621-80d6efb1df23 4111 1111 1111 1111')).toBe(true);
  });

  it.each([
    '',
    '4111',
    '411111******1111',
    '4.1.4.63',
    '2026-11-21T10:15:30.250000Z',
    '123456789012',
    '0'.repeat(20),
  ])('finds none in "%s"', (text) => {
    expect(looksLikeCardNumber(text)).toBe(false);
  });
});

describe('redact', () => {
  it('masks card numbers and longer or shorter runs of digits that could be part of one', () => {
    expect(redact('card 4111 1111 1111 1111 of JOHN')).toBe('card [16 digits] of JOHN');
    expect(redact('4111-1111-1111-1111')).toBe('[16 digits]');
    expect(redact('411111111 and 41111111')).toBe('[9 digits] and 41111111');
    expect(redact('1'.repeat(30))).toBe('[30 digits]');
  });

  it('leaves codes, times, masks and amounts readable', () => {
    for (const text of ['4.1.4.63', '2026-11-21T10:15:30.250000Z', '411111******1111', '12345678.90']) {
      expect(redact(text)).toBe(text);
    }
  });

  it('masks digits with anything between when they pass for a card’s, and no others', () => {
    expect(redact('at 4..1..1..1..1..1..1..1..1..1..1..1..1..1..1..1 now')).toBe('at [16 digits] now');
    expect(redact('4/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1')).toBe('[16 digits]');
    for (const text of [
      '5..6..7..6..9..4..8..4..5..5..0..8..4',
      '9..1..7..7..4..6..3..1..5..5..3..6..7',
      '4a1b1c1d1e1f1g1h1i1j1k1l1m1n1o1',
      '4.1.4.63',
    ]) {
      expect(redact(text)).toBe(text);
    }
  });

  it('shows control characters as unknown ones, and 120 characters at most', () => {
    expect(redact('a\u0000b\u001b[31mc\u007fd')).toBe('a\ufffdb\ufffd[31mc\ufffdd');
    const whole = 'x'.repeat(120);
    expect(redact(whole)).toBe(whole);
    expect(redact(`${whole}y`)).toBe(`${whole}... (121 characters)`);
  });

  it('never lets a card number, a control character or an endless text through', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), writtenCard, letters, (before, card, after) => {
        const text = redact(`${before}x${card}x${after.repeat(20)}`);
        expect(text.replace(/[ -]/g, '')).not.toContain(card.replace(/[ -]/g, ''));
        // oxlint-disable-next-line no-control-regex -- control characters are what must not come through
        expect(text).not.toMatch(/[\u0000-\u001f\u007f]/);
        expect(text.length).toBeLessThan(160);
      }),
      { numRuns: 2_000 },
    );
  });

  it('does not leave the first half of a card number where it cuts', () => {
    for (let before = 100; before <= 125; before++) {
      expect(redact(`${'x'.repeat(before)}4111111111111111`)).not.toMatch(/\d{4}/);
    }
  });
});

describe('what a value is called', () => {
  it.each([
    [null, 'nothing'],
    [undefined, 'nothing'],
    ['', 'an empty string'],
    ['Success', '"Success"'],
    ['4111111111111111', '"[16 digits]"'],
    [4_111_111_111_111_111, '[16 digits]'],
    [7.5, '7.5'],
    [true, 'true'],
    [['4111111111111111'], 'an array of 1'],
    [{ cardNumber: '4111111111111111' }, 'an object'],
  ])('calls %j %s', (value, text) => {
    expect(shown(value)).toBe(text);
  });
});

describe('a text of people', () => {
  it('loses card numbers, and keeps all else', () => {
    expect(maskCards('card 4111 1111 1111 1111, build 20261121101530 😀')).toBe(
      'card [16 digits], build 20261121101530 😀',
    );
    const untouched = 'build 20261121101530, ½ ﬁne, 1495983415234';
    expect(maskCards(untouched)).toBe(untouched);
    fc.assert(
      fc.property(writtenCard, letters, letters, (card, before, after) => {
        const masked = maskCards(`${before}${card}${after}`);
        expect(masked).toMatch(/\[\d+ digits\]/);
        expect(looksLikeCardNumber(masked)).toBe(false);
      }),
      { numRuns: 2_000 },
    );
  });
});
