import { isWord, tokenize, type Token } from '../../sql/lexer.ts';
import { quoteString } from '../../sql/quote.ts';

/** Where a statement names its output format, and where an INTO OUTFILE clause would go. */
export interface OutputClause {
  /** The explicit FORMAT's name, or `null`. */
  readonly format: string | null;
  /** Offset at which INTO OUTFILE belongs: in front of FORMAT, else behind the last token. */
  readonly insertAt: number;
}

/**
 * Finds the trailing `FORMAT name [SETTINGS ..]` of a read statement. A column or alias called `format` is
 * not taken for it, because `name` has to be one of the engine's formats.
 *
 * @param isFormat says whether the engine has a format of this name
 */
export function findOutputClause(sql: string, isFormat: (name: string) => boolean): OutputClause {
  const tokens = [...tokenize(sql)];
  while (tokens.at(-1)?.text === ';') tokens.pop();
  const depth = depths(tokens);
  for (let i = tokens.length - 2; i >= 0; i--) {
    const [here, name, behind] = [tokens[i], tokens[i + 1], tokens[i + 2]];
    if (here === undefined || depth[i] !== 0 || !isWord(here, 'FORMAT')) continue;
    if (name?.kind !== 'word' || !isFormat(name.text)) continue;
    if (behind === undefined || isWord(behind, 'SETTINGS'))
      return { format: name.text, insertAt: here.start };
  }
  return { format: null, insertAt: tokens.at(-1)?.end ?? 0 };
}

/** The statement with its result sent to a new file. */
export function withOutfile(sql: string, clause: OutputClause, path: string, format: string): string {
  const target = `\nINTO OUTFILE ${quoteString(path)} COMPRESSION 'none' `;
  if (clause.format !== null) return sql.slice(0, clause.insertAt) + target + sql.slice(clause.insertAt);
  return `${sql.slice(0, clause.insertAt)}${target}FORMAT ${format}`;
}

function depths(tokens: readonly Token[]): number[] {
  let depth = 0;
  return tokens.map((token) => {
    if (token.kind !== 'symbol') return depth;
    if (')]}'.includes(token.text)) depth--;
    const own = depth;
    if ('([{'.includes(token.text)) depth++;
    return own;
  });
}
