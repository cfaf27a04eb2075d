/**
 * Tokens of a statement in the engine's canonical form (`formatQuerySingleLine`), which is far simpler than
 * SQL as people write it: one line, no comments, one way to quote.
 *
 * Apart from the scanner of SQL on purpose: that one reads on past what it does not know, this one refuses
 * the whole text.
 *
 *   word     [A-Za-z_][A-Za-z0-9_]*
 *   quoted   `..`   a name, with backslash escapes
 *   string   '..'   with backslash escapes
 *   number   digits, with a point, an exponent
 *   symbol   one of ( ) [ ] { } , . : = ! < > + - * / % ? | & ^ ~
 */
export type TokenKind = 'word' | 'quoted' | 'string' | 'number' | 'symbol';

export interface Token {
  readonly kind: TokenKind;
  /** A word as it stands; a name or string without quotes and escapes; a symbol's character. */
  readonly text: string;
  /** Offset of its first and behind its last UTF-16 unit. */
  readonly start: number;
  readonly end: number;
  /** How many parentheses, brackets and braces are open around it; a bracket counts as outside of itself. */
  readonly depth: number;
}

/** Nothing else can begin a token of canonical text outside quotes. */
const TOKEN =
  /(?<word>[A-Za-z_]\w*)|`(?<quoted>(?:[^`\\]|\\.)*)`|'(?<string>(?:[^'\\]|\\.)*)'|(?<number>\d[\w]*(?:\.\d*)?(?:e[+-]?\d+)?|\.\d+)|(?<symbol>[()[\]{},.:=!<>+\-*/%?|&^~])/suy;

const OPENING = '([{';
const CLOSING = ')]}';
const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', 0: '\0', a: '\u0007', v: '\v', e: '\u001b',
}; // prettier-ignore

/**
 * Takes canonical text apart. Linear in its length.
 *
 * @returns null for text that has something else in it: then it is not canonical, whatever it came from
 */
export function readTokens(text: string): Token[] | null {
  const tokens: Token[] = [];
  let depth = 0;
  for (let at = 0; at < text.length;) {
    if (text.charCodeAt(at) === 0x20) {
      at += 1;
      continue;
    }
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(text);
    if (match === null || startsComment(text, at)) return null;
    const end = TOKEN.lastIndex;
    const [kind, content] = kindOf(match);
    if (kind === 'symbol' && CLOSING.includes(content)) depth -= 1;
    tokens.push({ kind, text: content, start: at, end, depth });
    if (kind === 'symbol' && OPENING.includes(content)) depth += 1;
    at = end;
  }
  return depth === 0 ? tokens : null;
}

export function isWord(token: Token | undefined, ...words: readonly string[]): boolean {
  return token?.kind === 'word' && words.includes(token.text);
}

export function isSymbol(token: Token | undefined, symbol: string): boolean {
  return token?.kind === 'symbol' && token.text === symbol;
}

/** A name, bare or quoted. */
export function isName(token: Token | undefined): token is Token {
  return token?.kind === 'word' || token?.kind === 'quoted';
}

/**
 * The statement with a plain value in the place of each parameter (`{from:DateTime}`), for a look at its
 * tree: the parser would want their values, and a value is no part of what is judged.
 */
export function withoutParameters(sql: string, tokens: readonly Token[]): string {
  let text = '';
  let from = 0;
  for (const token of tokens) {
    if (isSymbol(token, '{')) {
      text += `${sql.slice(from, token.start)}NULL`;
    } else if (isSymbol(token, '}')) from = token.end;
  }
  return text + sql.slice(from);
}

function kindOf(match: RegExpExecArray): [TokenKind, string] {
  const { word, quoted, string, number, symbol = '' } = match.groups ?? {};
  if (word !== undefined) return ['word', word];
  if (quoted !== undefined) return ['quoted', unescaped(quoted)];
  if (string !== undefined) return ['string', unescaped(string)];
  return number === undefined ? ['symbol', symbol] : ['number', number];
}

function unescaped(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replace(/\\(.)/gsu, (_all, letter: string) => ESCAPES[letter] ?? letter);
}

/** The formatter writes no comments: two characters that begin one show that the text is something else. */
function startsComment(text: string, at: number): boolean {
  return text.startsWith('--', at) || text.startsWith('/*', at);
}
