import { isSymbol, isWord, readTokens, type Token } from './canonical-tokens.ts';
import type { FunctionRules } from './function-rules.ts';

/** What the engine's parser makes of a text that is handed to a function. */
type ParsedAs = 'aggregate' | 'type' | 'structure';

interface ParsedArgument {
  readonly as: ParsedAs;
  /** Place among the arguments. */
  readonly at: number | 'last';
}

/**
 * Allowed functions that take an argument for SQL: in it an expression, and with it a subquery or a
 * function of any name, would be run unseen. `test/attacks/reader/parsed-texts.test.ts` tries every allowed
 * function, each with such a text in each place.
 */
const PARSED: ReadonlyMap<string, ParsedArgument> = new Map<string, ParsedArgument>([
  ['arrayreduce', { as: 'aggregate', at: 0 }],
  ['initializeaggregation', { as: 'aggregate', at: 0 }],
  ['cast', { as: 'type', at: 1 }],
  ['_cast', { as: 'type', at: 1 }],
  ['accuratecast', { as: 'type', at: 1 }],
  ['accuratecastordefault', { as: 'type', at: 1 }],
  ['accuratecastornull', { as: 'type', at: 1 }],
  ['reinterpret', { as: 'type', at: 1 }],
  ['dynamicelement', { as: 'type', at: 1 }],
  ['variantelement', { as: 'type', at: 1 }],
  ['defaultvalueoftypename', { as: 'type', at: 0 }],
  ['jsonextract', { as: 'type', at: 'last' }],
  ['jsonextractkeysandvalues', { as: 'type', at: 'last' }],
  ['values', { as: 'structure', at: 0 }],
]);

/** Types that take something in parentheses. Those of aggregate functions are looked into. */
const TYPES_WITH_PARAMETERS: ReadonlySet<string> = new Set([
  'Array', 'DateTime', 'DateTime32', 'DateTime64', 'Decimal', 'Decimal32', 'Decimal64', 'Decimal128', 'Decimal256',
  'Dynamic', 'Enum', 'Enum8', 'Enum16', 'FixedString', 'LowCardinality', 'Map', 'Nested', 'Nullable', 'Time64', 'Tuple',
  'Variant',
]); // prettier-ignore
const AGGREGATE_TYPES: ReadonlySet<string> = new Set(['AggregateFunction', 'SimpleAggregateFunction']);

/**
 * Does a function of this name take a text for SQL? Its bare name, handed on, could be called with
 * anything.
 */
export function parsesText(name: string, rules: FunctionRules): boolean {
  const parsed = PARSED.get(rules.meant(name));
  return parsed !== undefined && parsed.as !== 'structure';
}

/**
 * Says what is not allowed about a call, or null: an argument that the engine parses has to be a text as it
 * stands, and in it a plain listed name with literal parameters.
 *
 * @param at index of the function's name; a parenthesis follows it
 */
export function parsedArgumentRefusal(
  tokens: readonly Token[],
  at: number,
  rules: FunctionRules,
): string | null {
  const name = tokens[at]?.text ?? '';
  const parsed = PARSED.get(rules.meant(name));
  if (parsed === undefined) return null;
  const all = argumentsOf(tokens, at + 1);
  const argument = parsed.at === 'last' ? all.at(-1) : all[parsed.at];
  if (argument === undefined) return null;
  const isPlain = parsed.as === 'structure' ? isPlainRow(argument) : isPlainText(argument, parsed.as, rules);
  return isPlain ? null : `this ${parsed.as} in the function ${name.slice(0, 64)}`;
}

/** The tokens of each argument of a call. */
function argumentsOf(tokens: readonly Token[], open: number): (readonly Token[])[] {
  const outside = tokens[open]?.depth ?? 0;
  const all: Token[][] = [[]];
  for (let at = open + 1; at < tokens.length; at++) {
    const token = tokens[at];
    if (token === undefined || (isSymbol(token, ')') && token.depth === outside)) break;
    if (isSymbol(token, ',') && token.depth === outside + 1) all.push([]);
    else all.at(-1)?.push(token);
  }
  return all;
}

function isPlainText(
  [token, ...more]: readonly Token[],
  as: 'aggregate' | 'type',
  rules: FunctionRules,
): boolean {
  if (token?.kind !== 'string' || more.length > 0) return false;
  const inside = readTokens(token.text);
  if (inside === null) return false;
  return as === 'aggregate' ? isPlainAggregate(inside, rules) : isPlainType(inside, rules.mayCall);
}

/** `name` or `name(literal, ..)`. */
function isPlainAggregate([name, ...parameters]: readonly Token[], rules: FunctionRules): boolean {
  if (name?.kind !== 'word' || !rules.mayCall(name.text)) return false;
  if (parameters.length === 0) return true;
  return isSymbol(parameters[0], '(') && literalsEnd(parameters, 0) === parameters.length - 1;
}

/**
 * `Tuple(a Nullable(Int8), b AggregateFunction(quantiles(0.5, 0.9), UInt64))`: of words only types take
 * parentheses.
 */
function isPlainType(tokens: readonly Token[], mayCall: FunctionRules['mayCall']): boolean {
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at];
    if (token?.kind === 'symbol' && !'(),=-.'.includes(token.text)) return false;
    if (!isSymbol(tokens[at + 1], '(')) continue;
    if (isSymbol(token, '(') || token?.kind !== 'word') return false;
    if (TYPES_WITH_PARAMETERS.has(token.text)) continue;
    const name = tokens[at + 2];
    if (!AGGREGATE_TYPES.has(token.text) || name?.kind !== 'word' || !mayCall(name.text)) return false;
    at += 2;
    if (!isSymbol(tokens[at + 1], '(')) continue;
    const end = literalsEnd(tokens, at + 1);
    if (end === null) return false;
    at = end;
  }
  return tokens.length > 0;
}

/** Index of the parenthesis behind nothing but literals; null where something else stands between. */
function literalsEnd(tokens: readonly Token[], open: number): number | null {
  for (let at = open + 1; at < tokens.length; at++) {
    const token = tokens[at];
    if (isSymbol(token, ')')) return at;
    const isLiteral = token?.kind === 'number' || token?.kind === 'string';
    if (!isLiteral && !isSymbol(token, ',') && !isSymbol(token, '-')) return null;
  }
  return null;
}

/**
 * The first argument of `values`: a literal, or a tuple of anything. A text is a structure where one fits:
 * without a parenthesis it calls nothing, else only types may have one.
 */
function isPlainRow(argument: readonly Token[]): boolean {
  const [first, second] = argument;
  if (isSymbol(first, '(') && closesAtEnd(argument)) {
    const inner = argument.slice(1, -1);
    const isTuple = inner.some((token) => isSymbol(token, ',') && token.depth === (first?.depth ?? 0) + 1);
    return isTuple ? !isWord(second, 'SELECT', 'WITH') : isPlainRow(inner);
  }
  const [literal, ...more] = isSymbol(first, '-') ? argument.slice(1) : argument;
  if (literal === undefined || more.length > 0) return false;
  if (literal.kind === 'string') return isPlainStructure(literal.text);
  return literal.kind === 'number' || isWord(literal, 'NULL', 'true', 'false');
}

function closesAtEnd(argument: readonly Token[]): boolean {
  const depth = argument[0]?.depth;
  return (
    argument.findIndex((token, at) => at > 0 && isSymbol(token, ')') && token.depth === depth) ===
    argument.length - 1
  );
}

function isPlainStructure(text: string): boolean {
  if (!text.includes('(')) return true;
  const tokens = readTokens(text);
  return tokens !== null && isPlainType(tokens, () => false);
}
