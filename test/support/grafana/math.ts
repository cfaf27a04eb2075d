/**
 * Grafana's math expressions as our rules use them: numbers, `$ref`, parentheses, arithmetic and comparisons,
 * all of which JavaScript reads alike. Values are sets of labelled numbers, joined on their labels as Grafana
 * joins them.
 */

export type Labels = Readonly<Record<string, string>>;
/** One member of a number set. `null` is "no value". */
export interface LabelledNumber {
  readonly labels: Labels;
  readonly value: number | null;
}
export type NumberSet = readonly LabelledNumber[];

const FORM = /^(?:\s|\d+(?:\.\d+)?|\$\w+|[=<>]=|[-+*/()<>])+$/;

/** The refs that an expression reads, in order of appearance. */
export const refsOf = (expression: string): string[] =>
  [...expression.matchAll(/\$(\w+)/g)].map(([, ref = '']) => ref);

/**
 * Evaluates an expression over number sets.
 * @throws SyntaxError when the expression is outside the subset; RangeError when a ref is unknown.
 */
export function evaluateMath(expression: string, variables: ReadonlyMap<string, NumberSet>): NumberSet {
  if (!FORM.test(expression)) throw new SyntaxError(`math expression "${expression}" cannot be read`);
  const refs = [...new Set(refsOf(expression))];
  const calculate = new Function(...refs.map((ref) => `$${ref}`), `return Number(${expression})`);
  let joined: { labels: Labels; values: (number | null)[] }[] = [{ labels: {}, values: [] }];
  for (const ref of refs) {
    const set = variables.get(ref);
    if (set === undefined) throw new RangeError(`math expression "${expression}" reads unknown $${ref}`);
    joined = joined.flatMap(({ labels, values }) =>
      set.flatMap((member) => {
        const common = commonLabels(labels, member.labels);
        return common === null ? [] : [{ labels: common, values: [...values, member.value] }];
      }),
    );
  }
  return joined.map(({ labels, values }) => ({
    labels,
    value: values.includes(null) ? null : (calculate(...values) as number),
  }));
}

/** Members are partners when their labels are equal, or one's contained in the other's. */
function commonLabels(a: Labels, b: Labels): Labels | null {
  if (contains(a, b)) return a;
  return contains(b, a) ? b : null;
}

export const contains = (outer: Labels, inner: Labels): boolean =>
  Object.entries(inner).every(([name, value]) => outer[name] === value);
