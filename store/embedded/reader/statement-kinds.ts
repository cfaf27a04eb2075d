import { isName, isSymbol, isWord, type Token } from './canonical-tokens.ts';

/** What a reader's statement is, once it is in canonical form. */
export type StatementKind = 'select' | 'explain' | 'describe' | 'show' | 'exists';

export type KindOrRefusal = { readonly kind: StatementKind } | { readonly refused: string };

/** The subjects of SHOW; SETTINGS, FUNCTIONS, PROCESSLIST, GRANTS, ACCESS and the like are not among them. */
const SHOW_SUBJECTS: ReadonlySet<string> = new Set([
  'TABLES', 'DATABASES', 'COLUMNS', 'FIELDS', 'INDEX', 'INDEXES', 'INDICES', 'KEYS', 'CREATE',
]); // prettier-ignore
const EXPLAINED: ReadonlySet<string> = new Set([
  'AST',
  'SYNTAX',
  'QUERY',
  'TREE',
  'PLAN',
  'PIPELINE',
  'ESTIMATE',
]);

/** A name without special characters: the engine copies names into statements that it builds itself. */
const PLAIN_NAME = /^\w{1,128}$/;
const PLAIN_PATTERN = /^[\w%. -]{0,128}$/;

/**
 * The kinds of statement that a reader may run:
 *
 *   [WITH ..] SELECT ..
 *   EXPLAIN [AST|SYNTAX|QUERY TREE|PLAN|PIPELINE|ESTIMATE] [option = number, ..] SELECT ..
 *   DESCRIBE TABLE [db.]table
 *   SHOW {TABLES|DATABASES|COLUMNS|INDEXES|CREATE ..} [FROM ..] [NOT] [LIKE 'pattern'] [LIMIT n]
 *   EXISTS [TABLE|VIEW|DATABASE] [db.]name
 *
 * DESCRIBE, SHOW and EXISTS take names, patterns and numbers only: the engine turns them into SELECTs.
 *
 * @param tokens the statement without FORMAT and SETTINGS behind it
 */
export function kindOf(tokens: readonly Token[]): KindOrRefusal {
  const [first] = tokens;
  if (isWord(first, 'SELECT', 'WITH')) return { kind: 'select' };
  if (isWord(first, 'EXPLAIN')) return explain(tokens);
  if (isWord(first, 'DESCRIBE')) return plainWords(tokens.slice(1), 'describe');
  if (isWord(first, 'SHOW')) return show(tokens);
  if (isWord(first, 'EXISTS')) return plainWords(tokens.slice(1), 'exists');
  return { refused: `the statement ${first?.text.slice(0, 20) ?? ''}` };
}

function explain(tokens: readonly Token[]): KindOrRefusal {
  for (let at = 1; at < tokens.length; at++) {
    const token = tokens[at];
    if (isWord(token, 'SELECT', 'WITH')) return { kind: 'explain' };
    if (token?.kind === 'word' && EXPLAINED.has(token.text)) continue;
    // header = 1, actions = 0
    const isOption =
      token?.kind === 'word' && isSymbol(tokens[at + 1], '=') && tokens[at + 2]?.kind === 'number';
    if (!isOption) return { refused: `EXPLAIN of ${token?.text.slice(0, 20) ?? 'nothing'}` };
    at += isSymbol(tokens[at + 3], ',') ? 3 : 2;
  }
  return { refused: 'EXPLAIN of nothing' };
}

function show(tokens: readonly Token[]): KindOrRefusal {
  const rest = tokens.slice(1);
  const subject = rest.find((token) => !isWord(token, 'FULL', 'EXTENDED', 'TEMPORARY'));
  if (subject?.kind !== 'word' || !SHOW_SUBJECTS.has(subject.text)) {
    return { refused: `SHOW ${subject?.text.slice(0, 20) ?? ''}` };
  }
  return plainWords(rest, 'show');
}

/** Only keywords and plain names with dots, and in SHOW patterns and numbers. */
function plainWords(tokens: readonly Token[], kind: 'describe' | 'show' | 'exists'): KindOrRefusal {
  const statement = kind.toUpperCase();
  for (const token of tokens) {
    if (isName(token) && PLAIN_NAME.test(token.text)) continue;
    if (kind === 'show' && token.kind === 'string' && PLAIN_PATTERN.test(token.text)) continue;
    if (kind === 'show' && token.kind === 'number') continue;
    if (isSymbol(token, '.')) continue;
    const what = token.kind === 'symbol' ? token.text : JSON.stringify(token.text.slice(0, 40));
    return { refused: `${what} in ${statement}` };
  }
  return { kind };
}
