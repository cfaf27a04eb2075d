import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { decimalOf } from '../../../operate/backfill/amounts.ts';

it.each([
  ['100.50', '100.50'],
  ['100,50', '100.50'],
  ['0,123', '0.123'],
  ['-3,5', '-3.5'],
  ['1,234.50', '1234.50'],
  ['1.234,50', '1234.50'],
  ['1,234,567', '1234567'],
  ['1.234.567', '1234567'],
  ['12.345.678,9', '12345678.9'],
  ['1 234,50', '1234.50'],
  ['1\u00a0234\u202f567', '1234567'],
  ["1'234.50", '1234.50'],
  ['1234,567', '1234.567'],
  ['', ''],
  ['lots', 'lots'],
  ['1,23,4', '1,23,4'],
  ['1.23,4,5', '1.23,4,5'],
])('%s is %s', (text, decimal) => {
  expect(decimalOf(text, ';')).toBe(decimal);
});

it('does not guess what one mark before three digits means', () => {
  expect([decimalOf('1,234', ','), decimalOf('1,234', ';'), decimalOf('1.234', ';')]).toEqual([
    null,
    null,
    null,
  ]);
  expect([decimalOf('1.234', ','), decimalOf('0.123', ';')]).toEqual(['1.234', '0.123']);
});

it('reads German and English amounts as the number that was written', () => {
  const format = (locale: string) => new Intl.NumberFormat(locale, { minimumFractionDigits: 2 });
  fc.assert(
    fc.property(
      fc.integer({ min: -1e11, max: 1e11 }),
      fc.constantFrom('de-DE', 'en-US', 'de-CH'),
      (cents, locale) => {
        const text = format(locale)
          .format(cents / 100)
          .replace('\u2212', '-');
        expect(Number(decimalOf(text, ';'))).toBe(cents / 100);
      },
    ),
  );
});
