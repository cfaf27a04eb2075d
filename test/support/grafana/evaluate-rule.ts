import type { TableResult } from '../../../store/store.ts';
import { GatewatchError } from '../../../schemas/errors.ts';
import { expandMacros } from '../../../store/macros.ts';
import { contains, evaluateMath, type LabelledNumber, type Labels, type NumberSet, refsOf } from './math.ts';
import type { EvaluatorModel, ProvisionedRule, Reducer, RuleNode } from './rule-file.ts';

export interface EvaluationContext {
  /** The evaluation instant. Grafana cuts it to whole seconds. */
  readonly now: Date;
  /** Runs one SELECT, e.g. `async (query) => (await client.query({ query, format: 'JSON' })).json()`. */
  readonly query: (sql: string) => Promise<TableResult>;
  /**
   * Ask only what the condition needs, and the rest once something fires: texts are read only then, and the
   * numbers of one instant stay the same. @default false
   */
  readonly lazy?: boolean;
}

export interface AlertInstance {
  /** Labels of the query's row, without the rule's own. */
  readonly labels: Labels;
  /** By refId: what `.Values` holds in annotations. */
  readonly values: Readonly<Record<string, number | null>>;
  readonly firing: boolean;
}

export interface RuleEvaluation {
  readonly rule: ProvisionedRule;
  /** True when the condition had no row at all: `noDataState` applies. */
  readonly noData: boolean;
  readonly instances: readonly AlertInstance[];
}

/**
 * Evaluates one rule at one instant, without `for`, `keepFiringFor` and the like: those need the evaluations
 * before.
 * @throws whatever `query` throws; GatewatchError `config_invalid` when a result or expression breaks the
 * rules of Grafana.
 */
export async function evaluateRule(
  rule: ProvisionedRule,
  context: EvaluationContext,
): Promise<RuleEvaluation> {
  const sets = new Map<string, NumberSet>();
  const series = new Map<string, readonly Series[]>();
  // Files list a node after those it reads, as Grafana's own order of execution would have it.
  const evaluate = async (nodes: readonly RuleNode[]): Promise<void> => {
    for (const node of nodes) {
      if ('rawSql' in node.model && node.model.format === 0)
        series.set(node.refId, seriesSet(rule, node.refId, await ask(node, node.model, context)));
      else sets.set(node.refId, await evaluateNode(rule, node, { sets, series }, context));
    }
  };
  const needed = context.lazy === true ? nodesOfCondition(rule) : new Set(rule.data);
  await evaluate(rule.data.filter((node) => needed.has(node)));
  const condition = sets.get(rule.condition);
  if (condition === undefined) throw broken(rule, `its condition ${rule.condition} is not among its queries`);
  if (condition.some(({ value }) => value !== null && value !== 0))
    await evaluate(rule.data.filter((node) => !needed.has(node)));
  const instances = condition.map(({ labels, value }) => ({
    labels,
    values: valuesFor(labels, sets),
    firing: value !== null && value !== 0,
  }));
  return { rule, noData: instances.length === 0, instances };
}

/** The condition, and all that it reads. */
function nodesOfCondition(rule: ProvisionedRule): Set<RuleNode> {
  const needed = new Set<RuleNode>();
  const add = (refId: string): void => {
    const node = rule.data.find((one) => one.refId === refId);
    if (node === undefined || needed.has(node)) return;
    needed.add(node);
    if ('rawSql' in node.model) return;
    for (const ref of node.model.type === 'math' ? refsOf(node.model.expression) : [node.model.expression])
      add(ref);
  };
  add(rule.condition);
  return needed;
}

function ask(
  { relativeTimeRange }: RuleNode,
  { rawSql, intervalMs }: Extract<RuleNode['model'], { rawSql: string }>,
  { now, query }: EvaluationContext,
): Promise<TableResult> {
  const before = (seconds: number): Date => new Date(now.getTime() - seconds * 1000);
  const range = { from: before(relativeTimeRange.from), to: before(relativeTimeRange.to) };
  return query(expandMacros(rawSql, { ...range, intervalMs }));
}

interface Evaluated {
  readonly sets: ReadonlyMap<string, NumberSet>;
  readonly series: ReadonlyMap<string, readonly Series[]>;
}

async function evaluateNode(
  rule: ProvisionedRule,
  node: RuleNode,
  { sets, series }: Evaluated,
  context: EvaluationContext,
): Promise<NumberSet> {
  const { model } = node;
  if ('rawSql' in model) return numberSet(rule, node.refId, await ask(node, model, context));
  if (model.type === 'reduce') {
    const input = series.get(model.expression);
    if (input === undefined) throw broken(rule, `${node.refId} reduces unknown ${model.expression}`);
    return input.map(({ labels, values }) => ({ labels, value: REDUCE[model.reducer](values) }));
  }
  try {
    if (model.type === 'math') return evaluateMath(model.expression, sets);
  } catch (cause) {
    throw broken(rule, `its expression ${node.refId} cannot be evaluated`, cause);
  }
  const input = sets.get(model.expression);
  const evaluator = model.conditions[0]?.evaluator;
  if (input === undefined || evaluator === undefined)
    throw broken(rule, `its threshold ${node.refId} reads unknown ${model.expression}`);
  return input.map(({ labels, value }) => ({
    labels,
    value: value === null ? null : compare(evaluator, value),
  }));
}

/** The numbers of one set of labels, oldest first. What is no number is left out, as `dropNN` has it. */
interface Series {
  readonly labels: Labels;
  readonly values: readonly number[];
}

const REDUCE: Readonly<Record<Reducer, (values: readonly number[]) => number | null>> = {
  last: (values) => values.at(-1) ?? null,
  min: (values) => (values.length === 0 ? null : Math.min(...values)),
  max: (values) => (values.length === 0 ? null : Math.max(...values)),
  sum: (values) => values.reduce((sum, value) => sum + value, 0),
};

/** Grafana's rule for time series: `time` in order, strings and one number; a point of a series once. */
function seriesSet(rule: ProvisionedRule, refId: string, result: TableResult): Series[] {
  const meta = (result.meta ?? []).filter(({ name, type }) => name !== 'time' || !TIME.test(type));
  if (meta.length + 1 !== result.meta?.length) throw broken(rule, `query ${refId} must return a time`);
  const times = result.data.map(({ time }) => String(time));
  if (times.some((time, index) => index > 0 && time < (times[index - 1] ?? '')))
    throw broken(rule, `query ${refId} must return rows in the order of their time`);
  const all = new Map<string, { labels: Labels; values: number[] }>();
  for (const rows of Map.groupBy(result.data, ({ time }) => String(time)).values())
    for (const { labels, value } of numberSet(rule, refId, { meta, data: rows })) {
      const one = all.get(JSON.stringify(labels)) ?? { labels, values: [] };
      all.set(JSON.stringify(labels), one);
      if (value !== null && !Number.isNaN(value)) one.values.push(value);
    }
  return [...all.values()];
}

const TIME = /^(?:Nullable\()?Date/;

/** Grafana's rule for tables: strings and exactly one number, every row with its own labels. */
function numberSet(rule: ProvisionedRule, refId: string, { meta = [], data }: TableResult): NumberSet {
  const numbers = meta.filter((column) => NUMBER.test(column.type));
  const texts = meta.filter((column) => TEXT.test(column.type));
  const value = numbers[0];
  if (value === undefined || numbers.length !== 1 || texts.length + 1 !== meta.length)
    throw broken(
      rule,
      `query ${refId} must return strings and one number, not ${meta.map((column) => column.type).join(', ')}`,
    );
  const seen = new Set<string>();
  return data.map((row): LabelledNumber => {
    const labels = Object.fromEntries(texts.map(({ name }) => [name, String(row[name] ?? '')]));
    const key = JSON.stringify(labels);
    if (seen.has(key)) throw broken(rule, `query ${refId} returned the labels ${key} twice`);
    seen.add(key);
    const cell = row[value.name];
    return { labels, value: cell === null || cell === undefined ? null : Number(cell) };
  });
}

const NUMBER = /^(?:Nullable\()?(?:U?Int\d+|Float\d+|Decimal\b.*?)\)?$/;
const TEXT = /^(?:LowCardinality\()?(?:Nullable\()?(?:String|FixedString\(\d+\)|Enum\d+\(.*\))\)*$/;

function compare({ type, params }: EvaluatorModel, value: number): number {
  const [low = Number.NaN, high = Number.NaN] = params;
  const checks: Record<EvaluatorModel['type'], boolean> = {
    gt: value > low,
    lt: value < low,
    gte: value >= low,
    lte: value <= low,
    eq: value === low,
    ne: value !== low,
    within_range: value > low && value < high,
    outside_range: value < low || value > high,
  };
  return Number(checks[type]);
}

function valuesFor(labels: Labels, sets: ReadonlyMap<string, NumberSet>): Record<string, number | null> {
  const values: Record<string, number | null> = {};
  for (const [refId, set] of sets) {
    const match = set.find((member) => contains(labels, member.labels));
    if (match !== undefined) values[refId] = match.value;
  }
  return values;
}

const broken = (rule: ProvisionedRule, problem: string, cause?: unknown): GatewatchError =>
  new GatewatchError(`alert rule ${rule.title}: ${problem}`, { code: 'config_invalid', cause });
