import { tokenize } from './lexer.ts';

/**
 * Splits at semicolons that end a line, comments and quoted text apart. Statements keep their own comments
 * and lose the semicolon; what holds nothing but comments is left out.
 */
export function splitStatements(sql: string): string[] {
  const statements: string[] = [];
  let start = 0;
  let hasCode = false;
  for (const token of tokenize(sql)) {
    if (token.kind !== 'symbol' || token.text !== ';') {
      hasCode = true;
      continue;
    }
    const after = sql.slice(token.end, endOfLine(sql, token.start));
    if (!/^\s*(--.*)?$/.test(after)) continue;
    if (hasCode) statements.push(sql.slice(start, token.start).trim());
    start = token.end;
    hasCode = false;
  }
  if (hasCode) statements.push(sql.slice(start).trim());
  return statements;
}

function endOfLine(sql: string, from: number): number {
  const end = sql.indexOf('\n', from);
  return end === -1 ? sql.length : end;
}
