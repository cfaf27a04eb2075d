/**
 * Tokens of ClickHouse SQL, as far as they matter for finding clauses:
 *
 *   word     [A-Za-z_][A-Za-z0-9_$]*
 *   quoted   `..` or ".."   with backslash escapes and doubled quotes
 *   string   '..'           likewise, and heredocs $tag$..$tag$
 *   number   digits and what is glued to them
 *   symbol   any other single character
 *
 * Comments (`-- ..`, `# ..`, `#!..`, nested `/* .. *\/`) and white space separate tokens. An unterminated
 * quote or comment yields a final token of kind `unterminated`: callers refuse or leave such text to the
 * engine's parser.
 */
export type TokenKind = 'word' | 'quoted' | 'string' | 'number' | 'symbol' | 'unterminated';

export interface Token {
  readonly kind: TokenKind;
  /** The source text of the token. */
  readonly text: string;
  /** Offset of its first and behind its last UTF-16 unit. */
  readonly start: number;
  readonly end: number;
}

const wordStart = /[A-Za-z_]/;
const wordPart = /[A-Za-z0-9_$]/;
const space = /[\s\u00a0\u2000-\u200d\u202f\u205f\u2060\u3000\ufeff]/;

/** Yields the tokens of `sql` from offset `from` on. Lazy, so a header can be read off a large text. */
export function* tokenize(sql: string, from = 0): Generator<Token, void> {
  let at = from;
  while (at < sql.length) {
    const skipped = skipBlank(sql, at);
    if (skipped < 0) {
      yield { kind: 'unterminated', text: sql.slice(at), start: at, end: sql.length };
      return;
    }
    if (skipped >= sql.length) return;
    const token = readToken(sql, skipped);
    yield token;
    at = token.end;
  }
}

/** True for an unquoted keyword, in any case. */
export function isWord(token: Token | undefined, ...keywords: readonly string[]): boolean {
  return token?.kind === 'word' && keywords.includes(token.text.toUpperCase());
}

/** Removes quotes and escapes of an identifier token; `null` for other tokens. */
export function identifierName(token: Token | undefined): string | null {
  if (token?.kind === 'word') return token.text;
  if (token?.kind !== 'quoted') return null;
  const quote = token.text.charAt(0);
  return token.text
    .slice(1, -1)
    .replaceAll(quote + quote, quote)
    .replace(/\\(.)/gs, '$1');
}

function readToken(sql: string, start: number): Token {
  const char = sql.charAt(start);
  if (char === "'") return quotedToken(sql, start, 'string');
  if (char === '`' || char === '"') return quotedToken(sql, start, 'quoted');
  if (char === '$') return heredocToken(sql, start);
  if (wordStart.test(char)) return runToken(sql, start, 'word');
  if (/[0-9]/.test(char)) return runToken(sql, start, 'number');
  return { kind: 'symbol', text: char, start, end: start + 1 };
}

function runToken(sql: string, start: number, kind: TokenKind): Token {
  let end = start + 1;
  while (end < sql.length && wordPart.test(sql.charAt(end))) end++;
  return { kind, text: sql.slice(start, end), start, end };
}

function quotedToken(sql: string, start: number, kind: TokenKind): Token {
  const quote = sql.charAt(start);
  let at = start + 1;
  while (at < sql.length) {
    const char = sql.charAt(at);
    if (char === '\\') at += 2;
    else if (char !== quote) at += 1;
    else if (sql.charAt(at + 1) === quote) at += 2;
    else return { kind, text: sql.slice(start, at + 1), start, end: at + 1 };
  }
  return { kind: 'unterminated', text: sql.slice(start), start, end: sql.length };
}

function heredocToken(sql: string, start: number): Token {
  const tag = /^\$[A-Za-z0-9_]*\$/.exec(sql.slice(start, start + 256))?.[0];
  const close = tag === undefined ? -1 : sql.indexOf(tag, start + tag.length);
  if (tag === undefined || close < 0) return { kind: 'symbol', text: '$', start, end: start + 1 };
  const end = close + tag.length;
  return { kind: 'string', text: sql.slice(start, end), start, end };
}

/** Offset of the next token, or -1 when a block comment never ends. */
function skipBlank(sql: string, from: number): number {
  let at = from;
  while (at < sql.length) {
    const char = sql.charAt(at);
    const next = sql.charAt(at + 1);
    if (space.test(char) || char === '\0') at += 1;
    else if ((char === '-' && next === '-') || (char === '#' && (next === ' ' || next === '!'))) {
      const newline = sql.indexOf('\n', at);
      at = newline < 0 ? sql.length : newline + 1;
    } else if (char === '/' && next === '*') {
      at = skipBlockComment(sql, at);
      if (at < 0) return -1;
    } else return at;
  }
  return at;
}

function skipBlockComment(sql: string, from: number): number {
  let depth = 1;
  let at = from + 2;
  while (at < sql.length) {
    if (sql.startsWith('*/', at)) {
      depth -= 1;
      at += 2;
      if (depth === 0) return at;
    } else if (sql.startsWith('/*', at)) {
      depth += 1;
      at += 2;
    } else at += 1;
  }
  return -1;
}
