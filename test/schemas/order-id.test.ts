import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  canonicalId,
  isExternalId,
  isIdOf,
  isSafeId,
  isTransactionId,
  isWebAddress,
} from '../../schemas/order-id.ts';

describe('the service’s id', () => {
  it.each([
    '7d9f2c1e-4b7a',
    '_1',
    '-abc',
    'Заказ-15',
    'a|b',
    'DE.2026/1001',
    'v1.2:3+4=5#6',
    '20261121044336000123',
  ])('%s is one', (id) => {
    expect(isExternalId(id)).toBe(true);
    expect(isIdOf('external-id', id)).toBe(true);
  });

  it.each(['', ' a', 'a b', '#1001', '.a', 'a/../b', 'ADA LOVELACE', "O'Brien-1", 'é'.repeat(201), '\ud800'])(
    '%j is none',
    (id) => {
      expect(isExternalId(id)).toBe(false);
    },
  );
});

describe('the merchant’s id', () => {
  it.each([
    '#1001',
    'SO 12345678',
    'order@shop',
    "O'Brien-1",
    '-abc',
    '50 %',
    'a<b>&"c"',
    'me@shop.example',
    'x'.repeat(200),
  ])('%s is one', (id) => {
    expect(isTransactionId(id)).toBe(true);
    expect(isIdOf('transaction-id', id)).toBe(true);
  });

  it.each([
    ['nothing', ''],
    ['a name', 'ADA LOVELACE'],
    ['what stands for another text', '~9:16'],
    ['a line end', 'a\n1'],
    ['a mark that turns the text', 'a\u202e1'],
    ['what has no width', 'a\u200b1'],
    ['a blank of another kind', 'a\u00a01'],
    ['a blank before it', ' a1'],
    ['a blank behind it', 'a1 '],
    ['a step up in a path', 'a 1/../2'],
    ['more than 128 characters', `# ${'1'.repeat(127)}`],
    ['half a character', '#\ud800'],
  ])('%s is none', (_what, id) => {
    expect(isTransactionId(id)).toBe(false);
  });

  it('has up to 128 characters of any script', () => {
    expect(isTransactionId(`# ${'1'.repeat(126)}`)).toBe(true);
    expect(isTransactionId(`#${'🙂'.repeat(127)}`)).toBe(true);
  });

  it('is every id of the service', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 40 }), (id) => {
        if (isExternalId(id)) expect(isTransactionId(id)).toBe(true);
        if (isTransactionId(id)) expect(id).not.toMatch(/\p{C}|\p{Zl}|\p{Zp}/u);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('a web address', () => {
  it.each([
    'https://evil.example/login/g6',
    'HTTP://x',
    'a://b',
    '//evil.example',
    '//x',
    'www.evil',
    'evil.example',
    'evil.example/login',
    'order=evil.example:8443/login',
    'order/evil.example?x',
    'x#evil.example',
    'see evil.example now 1',
    'пример.рф/вход',
    'javascript:alert(1)',
    'mailto:a@b',
    'tel:+123',
  ])('%s is one, and no id', (text) => {
    expect(isWebAddress(text)).toBe(true);
    expect(isExternalId(text)).toBe(false);
    expect(isTransactionId(text)).toBe(false);
  });

  it.each([
    '1.2.3',
    'DE.2026/1001',
    'shop.de-1001',
    'shop.de.1001',
    'a.b',
    'a.b1',
    'order:1',
    'me@shop.example',
    'x:y',
  ])('%s is none', (text) => {
    expect(isWebAddress(text)).toBe(false);
  });

  it('is looked for in time in proportion to a text', () => {
    const startedMs = performance.now();
    for (const text of ['a.'.repeat(5_000), 'a'.repeat(20_000), 'a-'.repeat(5_000)]) isWebAddress(text);
    expect(performance.now() - startedMs).toBeLessThan(5_000);
  });
});

describe('an id in a path', () => {
  it.each(['', '.', '..', 'a/..', '../a', 'a/./b', 'a\\..\\b'])('%j leads elsewhere', (id) => {
    expect(isSafeId(id)).toBe(false);
  });

  it.each(['a', '...', 'a..b', '.a', 'a/.b'])('%j does not', (id) => {
    expect(isSafeId(id)).toBe(true);
  });
});

describe('what an id is compared by', () => {
  it('is the lower case of a UUID, and else the text', () => {
    fc.assert(
      fc.property(fc.uuid(), (uuid) => {
        expect(canonicalId(uuid.toUpperCase())).toBe(uuid.toLowerCase());
      }),
    );
    for (const id of [
      'ORDER-1',
      'A0000000-0000-4000-8000-0000000000FG',
      'A0000000-0000-4000-8000-0000000000FF1',
    ])
      expect(canonicalId(id)).toBe(id);
  });
});
