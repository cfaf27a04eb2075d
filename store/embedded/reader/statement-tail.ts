import { quoteString } from '../../sql/quote.ts';
import { isName, isSymbol, isWord, type Token } from './canonical-tokens.ts';

/**
 * What stands behind a statement: the format of its result and its settings, apart from the statement itself.
 */
export interface Tail {
  /** The tokens of the statement without its tail. */
  readonly body: readonly Token[];
  readonly format: string | null;
  /** Name and value of each setting, as written: a string without its quotes. */
  readonly settings: readonly (readonly [string, string])[];
}

/**
 * Takes `[SETTINGS a = 1, ..] [FORMAT name] [SETTINGS ..]` off the end of a statement. A clause of another
 * form stays where it is, for the judge of words to refuse.
 */
export function takeTail(tokens: readonly Token[]): Tail {
  const late = takeSettings(tokens);
  const [beforeFormat, format] = takeFormat(late.body);
  if (format === null) return { ...late, format };
  const early = takeSettings(beforeFormat);
  return { body: early.body, format, settings: [...early.settings, ...late.settings] };
}

function takeFormat(tokens: readonly Token[]): [readonly Token[], string | null] {
  const [keyword, name] = tokens.slice(-2);
  // `Null` is a keyword, too, and comes in quotes for that.
  if (tokens.length < 3 || !isWord(keyword, 'FORMAT') || !isName(name)) return [tokens, null];
  return [tokens.slice(0, -2), name.text];
}

type Settings = Pick<Tail, 'body' | 'settings'>;

/** The last SETTINGS on the outermost level, if everything behind it is assignments. */
function takeSettings(tokens: readonly Token[]): Settings {
  const none: Settings = { body: tokens, settings: [] };
  const at = tokens.findLastIndex((token) => token.depth === 0 && isWord(token, 'SETTINGS'));
  if (at <= 0) return none;
  const settings: [string, string][] = [];
  for (let i = at + 1; i < tokens.length;) {
    const name = tokens[i];
    const value = isSymbol(tokens[i + 1], '=') ? readValue(tokens, i + 2) : null;
    if (name?.kind !== 'word' || value === null) return none;
    settings.push([name.text, value.text]);
    if (value.next < tokens.length && !isSymbol(tokens[value.next], ',')) return none;
    i = value.next + 1;
  }
  return settings.length === 0 ? none : { body: tokens.slice(0, at), settings };
}

function readValue(tokens: readonly Token[], at: number): { text: string; next: number } | null {
  const token = tokens[at];
  if (token === undefined) return null;
  if (isSymbol(token, '{')) return readMap(tokens, at);
  if (isSymbol(token, '-') && tokens[at + 1]?.kind === 'number') {
    return { text: `-${tokens[at + 1]?.text ?? ''}`, next: at + 2 };
  }
  const isScalar = token.kind === 'string' || token.kind === 'number' || isName(token);
  return isScalar ? { text: token.text, next: at + 1 } : null;
}

/** `{'table':'condition', ..}`, given back in the same form. */
function readMap(tokens: readonly Token[], from: number): { text: string; next: number } | null {
  const pairs: string[] = [];
  for (let at = from + 1; at < tokens.length;) {
    if (isSymbol(tokens[at], '}')) return { text: `{${pairs.join(',')}}`, next: at + 1 };
    const [key, colon, value] = tokens.slice(at, at + 3);
    if (key?.kind !== 'string' || !isSymbol(colon, ':') || value?.kind !== 'string') return null;
    pairs.push(`${quoteString(key.text)}:${quoteString(value.text)}`);
    at += 3;
    if (isSymbol(tokens[at], ',')) at += 1;
  }
  return null;
}
