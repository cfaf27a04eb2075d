import type { TableResult } from '../../../store/store.ts';
import { expandMacros } from '../../../store/macros.ts';
import { contains, evaluateMath, type LabelledNumber, type Labels, type NumberSet } from './math.ts';
import type { ProvisionedRule, RuleNode } from './rule-file.ts';

export interface EvaluationContext {
  /** The evaluation instant. Grafana cuts it to whole seconds. */
  readonly now: Date;
  /** Runs one SELECT, e.g. `async (query) => (await client.query({ query, format: 'JSON' })).json()`. */
  readonly query: (sql: string) => Promise<TableResult>;
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
 * @throws whatever `query` throws; Error when a result or expression breaks the rules of Grafana.
 */
export async function evaluateRule(
  rule: ProvisionedRule,
  context: EvaluationContext,
): Promise<RuleEvaluation> {
  const sets = new Map<string, NumberSet>();
  // Files list a node after those it reads, as Grafana's own order of execution would have it.
  for (const node of rule.data) sets.set(node.refId, await evaluateNode(rule, node, sets, context));
  const condition = setOf(rule, sets, rule.condition);
  const instances = condition.map(({ labels, value }) => ({
    labels: withoutEmpty(labels),
    values: valuesFor(labels, sets),
    firing: value !== null && value !== 0,
  }));
  return { rule, noData: instances.length === 0, instances };
}

/** Grafana's Alertmanager skips labels without a value. */
const withoutEmpty = (labels: Labels): Labels =>
  Object.fromEntries(Object.entries(labels).filter(([, value]) => value !== ''));

async function evaluateNode(
  rule: ProvisionedRule,
  { refId, relativeTimeRange, model }: RuleNode,
  sets: ReadonlyMap<string, NumberSet>,
  { now, query }: EvaluationContext,
): Promise<NumberSet> {
  if ('rawSql' in model) {
    const before = (seconds: number): Date => new Date(now.getTime() - seconds * 1000);
    const range = { from: before(relativeTimeRange.from), to: before(relativeTimeRange.to) };
    const sql = expandMacros(model.rawSql, { ...range, intervalMs: model.intervalMs });
    return numberSet(rule, refId, await query(sql));
  }
  if (model.type === 'math') return evaluateMath(model.expression, sets);
  const [low] = model.conditions[0].evaluator.params;
  return setOf(rule, sets, model.expression).map(({ labels, value }) => ({
    labels,
    value: value === null ? null : Number(value > low),
  }));
}

function setOf(rule: ProvisionedRule, sets: ReadonlyMap<string, NumberSet>, refId: string): NumberSet {
  const set = sets.get(refId);
  if (set === undefined) throw broken(rule, `there is no query ${refId}`);
  return set;
}

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

function valuesFor(labels: Labels, sets: ReadonlyMap<string, NumberSet>): Record<string, number | null> {
  const values: Record<string, number | null> = {};
  for (const [refId, set] of sets) {
    const match = set.find((member) => contains(labels, member.labels));
    if (match !== undefined) values[refId] = match.value;
  }
  return values;
}

const broken = (rule: ProvisionedRule, problem: string): Error =>
  new Error(`alert rule ${rule.title}: ${problem}`);
