import { identifierName, tokenize, type Token } from '../../sql/lexer.ts';

/**
 * A ClickHouse type as written in results: `Array(Nullable(String))`, `Tuple(a UInt8, b String)`,
 * `Decimal(18, 2)`.
 */
export interface DataType {
  readonly name: string;
  /** Types in the parentheses, without the names of tuple elements. */
  readonly children: readonly DataType[];
  /** Numbers in the parentheses. */
  readonly numbers: readonly number[];
}

/** @returns `null` for text that is no type */
export function parseDataType(text: string): DataType | null {
  const tokens = [...tokenize(text)];
  const result = readType(tokens, 0);
  return result !== null && result.next === tokens.length ? result.type : null;
}

function readType(tokens: readonly Token[], at: number): { type: DataType; next: number } | null {
  const name = tokens[at]?.kind === 'word' ? tokens[at].text : null;
  if (name === null) return null;
  const children: DataType[] = [];
  const numbers: number[] = [];
  let next = at + 1;
  if (tokens[next]?.text !== '(') return { type: { name, children, numbers }, next };
  do {
    next++;
    const token = tokens[next];
    if (token?.text === ')') break;
    if (token?.kind === 'number') {
      numbers.push(Number(token.text));
      next++;
    } else if (token?.kind === 'string') {
      // A time zone, or an enum's `'a' = 1`.
      next++;
      while (next < tokens.length && tokens[next]?.text !== ',' && tokens[next]?.text !== ')') next++;
    } else {
      // Tuple elements may have a name in front of their type.
      const named =
        identifierName(token) !== null && ['word', 'quoted'].includes(tokens[next + 1]?.kind ?? '');
      const child = readType(tokens, named ? next + 1 : next);
      if (child === null) return null;
      children.push(child.type);
      next = child.next;
    }
  } while (tokens[next]?.text === ',');
  return tokens[next]?.text === ')' ? { type: { name, children, numbers }, next: next + 1 } : null;
}
