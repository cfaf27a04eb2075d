/**
 * The subset of Grafana's math expressions that our rules use: numbers, `$ref`, parentheses, `! - ** * / % +
 * -`, comparisons, `&&`, `||`. Values are sets of labelled numbers, joined on their labels as Grafana joins
 * them.
 *
 *     or    = and { "||" and }           sum     = product { ("+" | "-") product }
 *     and   = compare { "&&" compare }   product = power { ("*" | "/" | "%") power }
 *     compare = sum { ("==" | "!=" | ">" | "<" | ">=" | "<=") sum }
 *     power = factor { "**" factor }     factor  = number | $ref | "(" or ")" | "!" factor | "-" factor
 */

export type Labels = Readonly<Record<string, string>>;
/** One member of a number set. `null` is "no value"; NaN is a value. */
export interface LabelledNumber {
  readonly labels: Labels;
  readonly value: number | null;
}
export type NumberSet = readonly LabelledNumber[];

const TOKEN =
  /\s*(?:(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|\$(?:\{(\w+)\}|(\w+))|(\*\*|&&|\|\||[=!<>]=|[-+*/%()!<>]))/y;
const LEVELS: readonly (readonly string[])[] = [
  ['||'],
  ['&&'],
  ['==', '!=', '>', '<', '>=', '<='],
  ['+', '-'],
  ['*', '/', '%'],
  ['**'],
];

type Token = { kind: 'number'; value: number } | { kind: 'ref' | 'operator'; text: string };

/** The refs that an expression reads, in order of appearance. */
export const refsOf = (expression: string): string[] =>
  tokenize(expression).flatMap((token) => (token.kind === 'ref' ? [token.text] : []));

/**
 * Evaluates an expression over number sets.
 * @throws SyntaxError when the expression is outside the subset; RangeError when a ref is unknown.
 */
export function evaluateMath(expression: string, variables: ReadonlyMap<string, NumberSet>): NumberSet {
  const tokens = tokenize(expression);
  let at = 0;
  const operatorAt = (position: number): string | undefined => {
    const token = tokens[position];
    return token?.kind === 'operator' ? token.text : undefined;
  };
  const fail = (): never => {
    throw new SyntaxError(`math expression "${expression}" cannot be read at its token ${at + 1}`);
  };
  const level = (depth: number): NumberSet => {
    const operators = LEVELS[depth];
    if (operators === undefined) return factor();
    let left = level(depth + 1);
    for (let op = operatorAt(at); op !== undefined && operators.includes(op); op = operatorAt(at)) {
      at++;
      left = combine(op, left, level(depth + 1));
    }
    return left;
  };
  const factor = (): NumberSet => {
    const token = tokens[at++] ?? fail();
    if (token.kind === 'number') return [{ labels: {}, value: token.value }];
    if (token.kind === 'ref') {
      const set = variables.get(token.text);
      if (set === undefined)
        throw new RangeError(`math expression "${expression}" reads unknown $${token.text}`);
      return set;
    }
    if (token.text === '(') {
      const inner = level(0);
      if (operatorAt(at++) !== ')') fail();
      return inner;
    }
    if (token.text === '!') return mapValues(factor(), (value) => Number(value === 0));
    if (token.text === '-') return mapValues(factor(), (value) => -value);
    return fail();
  };
  const result = level(0);
  if (at !== tokens.length) fail();
  return result;
}

function tokenize(expression: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (expression.slice(at).trim() !== '') {
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(expression);
    if (match === null)
      throw new SyntaxError(`math expression "${expression}" cannot be read at offset ${at}`);
    const [, number, braced, plain, operator] = match;
    if (number !== undefined) tokens.push({ kind: 'number', value: Number(number) });
    else if (operator !== undefined) tokens.push({ kind: 'operator', text: operator });
    else tokens.push({ kind: 'ref', text: braced ?? plain ?? '' });
    at = TOKEN.lastIndex;
  }
  return tokens;
}

const mapValues = (set: NumberSet, change: (value: number) => number): NumberSet =>
  set.map(({ labels, value }) => ({
    labels,
    value: value === null || Number.isNaN(value) ? value : change(value),
  }));

/**
 * Pairs members whose labels are equal, or one's contained in the other's; members without a partner are
 * dropped.
 */
function combine(operator: string, left: NumberSet, right: NumberSet): NumberSet {
  return left.flatMap((a) =>
    right.flatMap((b) => {
      const labels = contains(a.labels, b.labels) ? a.labels : contains(b.labels, a.labels) ? b.labels : null;
      if (labels === null) return [];
      const value = a.value === null || b.value === null ? null : calculate(operator, a.value, b.value);
      return [{ labels, value }];
    }),
  );
}

export const contains = (outer: Labels, inner: Labels): boolean =>
  Object.entries(inner).every(([name, value]) => outer[name] === value);

function calculate(operator: string, a: number, b: number): number {
  // Short circuits come before NaN, as in Grafana.
  if (operator === '||' && a !== 0) return 1;
  if (operator === '&&' && a === 0) return 0;
  if (Number.isNaN(a) || Number.isNaN(b)) return Number.NaN;
  switch (operator) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
      return a / b;
    case '%':
      return a % b;
    case '**':
      return a ** b;
    case '==':
      return Number(a === b);
    case '!=':
      return Number(a !== b);
    case '>':
      return Number(a > b);
    case '<':
      return Number(a < b);
    case '>=':
      return Number(a >= b);
    case '<=':
      return Number(a <= b);
    case '&&':
      return Number(a !== 0 && b !== 0);
    case '||':
      return Number(a !== 0 || b !== 0);
    default:
      throw new SyntaxError(`unknown operator ${operator}`);
  }
}
