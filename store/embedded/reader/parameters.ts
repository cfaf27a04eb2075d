import { isSymbol, type Token } from './canonical-tokens.ts';

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
