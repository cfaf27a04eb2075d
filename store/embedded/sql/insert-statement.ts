import { clickhouseError } from '../clickhouse-error.ts';
import { isWord, tokenize, type Token } from '../../sql/lexer.ts';

/**
 * An INSERT whose rows come behind the statement, taken apart so that the rows can go to a file of their own.
 */
export interface InlineInsert {
  readonly kind: 'inline';
  /** `INSERT INTO db.t (a, b)`: everything in front of the rows' format, SETTINGS excluded. */
  readonly target: string;
  /** Text of the SETTINGS clauses without the keyword, or `''`. */
  readonly settings: string;
  /** `Values` for VALUES. */
  readonly format: string;
  /** Offset in the text at which the rows begin. */
  readonly dataStart: number;
}

export type InsertShape =
  /** Not an INSERT at all. */
  | { readonly kind: 'other' }
  /** INSERT .. SELECT and the like: no rows in the request. */
  | { readonly kind: 'complete' }
  /** `INSERT INTO t` without VALUES, FORMAT or SELECT. */
  | { readonly kind: 'no-source'; readonly target: string }
  /** An INSERT that this grammar does not know: never handed to the engine. */
  | { readonly kind: 'unreadable'; readonly near: string }
  | InlineInsert;

/**
 * Reads an INSERT up to the point where its rows begin.
 *
 *   INSERT INTO [TABLE] target [(columns)] [PARTITION BY expr] [SETTINGS k = v, ..]
 *     ( VALUES rows | FORMAT name [SETTINGS k = v, ..] rows | [(] SELECT .. | WITH .. | WATCH .. | FROM INFILE .. )
 *   target = [db.]table | FUNCTION name(args)
 *
 * As in ClickHouse one line end (and the blanks in front of it) after a format's name is not part of the
 * rows.
 */
export function readInsert(sql: string): InsertShape {
  const cursor = new Cursor(sql);
  if (!cursor.word('INSERT')) return { kind: 'other' };
  const targetStart = cursor.previousStart;
  if (!cursor.word('INTO')) return cursor.unreadable();
  // Both are keywords here and legal table names: TABLE t, TABLE.t, FUNCTION f(..).
  if (cursor.peekWord('TABLE') && !cursor.nextIs('.') && !cursor.nextIs('(')) cursor.word('TABLE');
  const isFunction = cursor.peekWord('FUNCTION') && !cursor.nextIs('.') && !cursor.nextIs('(');
  if (isFunction) cursor.word('FUNCTION');
  if (!cursor.identifier()) return cursor.unreadable();
  while (cursor.symbol('.')) if (!cursor.identifier()) return cursor.unreadable();
  if (cursor.peekSymbol('(') && isWord(cursor.peek(1), 'SELECT')) return { kind: 'complete' };
  if (cursor.peekSymbol('(') && !cursor.parentheses()) return cursor.unreadable();
  if (isFunction && cursor.peekSymbol('(') && !cursor.parentheses()) return cursor.unreadable();
  if (cursor.peekWord('PARTITION')) return cursor.unreadable();
  const target = sql.slice(targetStart, cursor.previousEnd);
  let settings = cursor.settings();
  if (settings === null) return cursor.unreadable();

  if (cursor.peekWord('SELECT', 'WITH', 'WATCH', 'FROM') || cursor.peekSymbol('('))
    return { kind: 'complete' };
  if (cursor.word('VALUES')) {
    return { kind: 'inline', target, settings, format: 'Values', dataStart: cursor.previousEnd };
  }
  if (cursor.word('FORMAT')) {
    const format = cursor.takeWord();
    if (format === null) return cursor.unreadable();
    const formatEnd = cursor.previousEnd;
    if (!cursor.peekWord('SETTINGS')) {
      return { kind: 'inline', target, settings, format, dataStart: rowsBehind(sql, formatEnd) };
    }
    const late = settings === '' ? cursor.settings() : null;
    if (late === null) return cursor.unreadable();
    settings = late;
    return { kind: 'inline', target, settings, format, dataStart: rowsBehind(sql, cursor.previousEnd) };
  }
  return cursor.atEnd() ? { kind: 'no-source', target } : cursor.unreadable();
}

function rowsBehind(sql: string, from: number): number {
  let at = from;
  while (at < sql.length && /[ \t\f]/.test(sql.charAt(at))) at++;
  if (sql.charAt(at) === ';') at++;
  if (sql.charAt(at) === '\r') at++;
  if (sql.charAt(at) === '\n') at++;
  return at;
}

class Cursor {
  previousStart = 0;
  previousEnd = 0;
  private readonly tokens: Iterator<Token>;
  private readonly ahead: Token[] = [];

  constructor(sql: string) {
    this.tokens = tokenize(sql);
  }

  peek(distance = 0): Token | undefined {
    while (this.ahead.length <= distance) {
      const next = this.tokens.next();
      if (next.done === true) return undefined;
      this.ahead.push(next.value);
    }
    return this.ahead[distance];
  }

  take(): Token | undefined {
    const token = this.peek();
    this.ahead.shift();
    if (token !== undefined) {
      this.previousStart = token.start;
      this.previousEnd = token.end;
    }
    return token;
  }

  peekWord(...keywords: string[]): boolean {
    return isWord(this.peek(), ...keywords);
  }

  peekSymbol(symbol: string): boolean {
    return this.peek()?.kind === 'symbol' && this.peek()?.text === symbol;
  }

  nextIs(symbol: string): boolean {
    const next = this.peek(1);
    return next?.kind === 'symbol' && next.text === symbol;
  }

  word(keyword: string): boolean {
    if (!this.peekWord(keyword)) return false;
    this.take();
    return true;
  }

  symbol(symbol: string): boolean {
    if (!this.peekSymbol(symbol)) return false;
    this.take();
    return true;
  }

  takeWord(): string | null {
    return this.peek()?.kind === 'word' ? (this.take()?.text ?? null) : null;
  }

  identifier(): boolean {
    const kind = this.peek()?.kind;
    if (kind !== 'word' && kind !== 'quoted') return false;
    this.take();
    return true;
  }

  /** Consumes a balanced pair of parentheses and what is inside. */
  parentheses(): boolean {
    let depth = 0;
    for (;;) {
      const token = this.take();
      if (token === undefined || token.kind === 'unterminated' || token.text === ';') return false;
      if (token.kind === 'symbol' && token.text === '(') depth++;
      if (token.kind === 'symbol' && token.text === ')') depth--;
      if (depth === 0) return true;
    }
  }

  /** Consumes an optional SETTINGS clause; `null` when it is malformed. */
  settings(): string | null {
    if (!this.word('SETTINGS')) return '';
    const assignments: string[] = [];
    do {
      const name = this.takeWord();
      if (name === null || !this.symbol('=')) return null;
      const minus = this.symbol('-') ? '-' : '';
      const value = this.take();
      if (value === undefined || !['string', 'number', 'word'].includes(value.kind)) return null;
      let text = minus + value.text;
      // 0.5 comes as number, dot, number.
      while (value.kind === 'number' && this.symbol('.')) text += `.${this.take()?.text ?? ''}`;
      assignments.push(`${name} = ${text}`);
    } while (this.symbol(','));
    return assignments.join(', ');
  }

  atEnd(): boolean {
    return this.peek() === undefined;
  }

  unreadable(): InsertShape {
    return { kind: 'unreadable', near: (this.peek()?.text ?? 'end of query').slice(0, 40) };
  }
}

const [singleQuote, doubleQuote, backtick, backslash, semicolon] = [...Buffer.from(`'"\`\\;`)];

/**
 * Passes the rows of a VALUES clause on and refuses what stands behind their semicolon. The engine's library
 * would leave it unread, and with it a second statement that the sender believes to have run.
 *
 * @throws ClickHouseError 62
 */
export async function* guardValues(rows: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  let quote = 0;
  let escaped = false;
  let ended = false;
  for await (const chunk of rows) {
    for (const byte of chunk) {
      if (ended) {
        if (byte > 0x20) throw clickhouseError(62, 'Syntax error (Multi-statements are not allowed)');
      } else if (escaped) escaped = false;
      else if (quote !== 0) {
        if (byte === backslash) escaped = true;
        // A doubled quote closes and opens again at once, which comes to the same.
        else if (byte === quote) quote = 0;
      } else if (byte === singleQuote || byte === doubleQuote || byte === backtick) quote = byte;
      else if (byte === semicolon) ended = true;
    }
    yield chunk;
  }
}
