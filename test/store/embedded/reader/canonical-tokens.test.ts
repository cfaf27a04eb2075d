import { describe, expect, it } from 'vitest';
import {
  isName,
  isSymbol,
  isWord,
  readTokens,
  type Token,
} from '../../../../store/embedded/reader/canonical-tokens.ts';

/** The one token of a text. */
function only(text: string): Token | undefined {
  const tokens = readTokens(text) ?? [];
  expect(tokens).toHaveLength(1);
  return tokens[0];
}

describe('readTokens', () => {
  it('knows where each token stands and how deep', () => {
    expect(readTokens("  a.`b`(['c', {1}])  ")).toEqual([
      { kind: 'word', text: 'a', start: 2, end: 3, depth: 0 },
      { kind: 'symbol', text: '.', start: 3, end: 4, depth: 0 },
      { kind: 'quoted', text: 'b', start: 4, end: 7, depth: 0 },
      { kind: 'symbol', text: '(', start: 7, end: 8, depth: 0 },
      { kind: 'symbol', text: '[', start: 8, end: 9, depth: 1 },
      { kind: 'string', text: 'c', start: 9, end: 12, depth: 2 },
      { kind: 'symbol', text: ',', start: 12, end: 13, depth: 2 },
      { kind: 'symbol', text: '{', start: 14, end: 15, depth: 2 },
      { kind: 'number', text: '1', start: 15, end: 16, depth: 3 },
      { kind: 'symbol', text: '}', start: 16, end: 17, depth: 2 },
      { kind: 'symbol', text: ']', start: 17, end: 18, depth: 1 },
      { kind: 'symbol', text: ')', start: 18, end: 19, depth: 0 },
    ]);
    expect(readTokens('')).toEqual([]);
  });

  it.each(['abc', '_a1', 'A_9', 'Z', 'z', 'a'])('takes %s for a word', (text) => {
    expect(only(text)).toMatchObject({ kind: 'word', text });
  });

  it.each([
    '0',
    '12',
    '1.5',
    '12.25',
    '1.',
    '.5',
    '.25',
    '1e10',
    '1.5e10',
    '1.5e+10',
    '1.5e-10',
    '0x1F',
    '0b1',
  ])('takes %s for one number', (text) => {
    expect(only(text)).toMatchObject({ kind: 'number', text });
  });

  it('ends a number where it ends', () => {
    expect(readTokens('1.2.3')?.map(({ text }) => text)).toEqual(['1.2', '.3']);
    expect(readTokens('1.5e')?.map(({ text }) => text)).toEqual(['1.5', 'e']);
    expect(readTokens('1.5e-x')?.map(({ text }) => text)).toEqual(['1.5', 'e', '-', 'x']);
    expect(readTokens('.x')?.map(({ text }) => text)).toEqual(['.', 'x']);
    expect(readTokens('1 2')?.map(({ text }) => text)).toEqual(['1', '2']);
  });

  it.each([...'.,:=!<>+-*/%?|&^~'])('takes %s for a symbol', (text) => {
    expect(only(text)).toMatchObject({ kind: 'symbol', text });
  });

  it.each([
    ["''", 'string', ''],
    ["'a\\'b'", 'string', "a'b"],
    ["'a\\\\'", 'string', 'a\\'],
    ["'a\"`b'", 'string', 'a"`b'],
    ["'\u{1f600}\\\u{1f600}'", 'string', '\u{1f600}\u{1f600}'],
    ["'\\n\\t\\r\\b\\f\\0\\a\\v\\e\\q'", 'string', '\n\t\r\b\f\0\u0007\v\u001bq'],
    ["'a\nb\\\nc'", 'string', 'a\nb\nc'],
    ['``', 'quoted', ''],
    ['`a\\`b`', 'quoted', 'a`b'],
    ['`a\\\\`', 'quoted', 'a\\'],
    ["`a'b`", 'quoted', "a'b"],
    ['`a\nb\\\nc`', 'quoted', 'a\nb\nc'],
  ])('reads %j as a %s without its quotes and escapes', (text, kind, inner) => {
    expect(only(text)).toMatchObject({ kind, text: inner, start: 0, end: text.length });
  });

  it.each([
    ['a double quote', '"a"'],
    ['a quote of another script', '‘a’'],
    ['a letter of another script', 'é'],
    ['a line break', 'a\nb'],
    ['a tab', 'a\tb'],
    ['a semicolon', 'a; b'],
    ['a dollar sign', '$$a$$'],
    ['a hash', '# a'],
    ['an at sign', '@a'],
    ['a backslash', '\\N'],
    ['a string without its end', "'a"],
    ['a string whose end is escaped', "'a\\'"],
    ['a name without its end', '`a'],
    ['a name whose end is escaped', '`a\\`'],
    ['a comment of a line', 'a -- b'],
    ['a comment of a line after text', 'a--b'],
    ['a comment of a block', 'a /* b */'],
    ['an open parenthesis', '(a'],
    ['an open bracket', '[a'],
    ['an open brace', '{a'],
    ['a closed parenthesis', 'a)'],
    ['a closed bracket', 'a]'],
    ['a closed brace', 'a}'],
  ])('refuses %s', (_what, text) => {
    expect(readTokens(text)).toBeNull();
  });

  it('takes what begins like a comment and is none', () => {
    expect(readTokens("- - / * '--' '/*' `--` * /")).toHaveLength(9);
  });
});

describe('the kinds of a token', () => {
  const [word, quoted, string, number, symbol] = readTokens("a `a` 'a' 1 .") ?? [];

  it('are distinguished', () => {
    expect([word, quoted, string, number, symbol, undefined].map(isName)).toEqual([
      true,
      true,
      false,
      false,
      false,
      false,
    ]);
    expect([word, quoted, string, undefined].map((token) => isWord(token, 'b', 'a'))).toEqual([
      true,
      false,
      false,
      false,
    ]);
    expect(isWord(word, 'b')).toBe(false);
    expect([symbol, word, undefined].map((token) => isSymbol(token, '.'))).toEqual([true, false, false]);
    expect(isSymbol(symbol, ',')).toBe(false);
    expect(isSymbol({ kind: 'string', text: '.', start: 0, end: 3, depth: 0 }, '.')).toBe(false);
  });
});
