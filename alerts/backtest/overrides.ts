import { durationMs } from '../../schemas/duration.ts';
import type { ProvisionedRule, RuleNode } from '../evaluate/rule-file.ts';

/** One `RULE.NAME=VALUE` of the command line. */
export interface Override {
  /** The rule's title, its uid, or the title without `Gatewatch`; any case. */
  readonly rule: string;
  /** A limit of the rule, e.g. `shareAbove`; `threshold` for the first of them; `for` or `keepFiringFor`. */
  readonly name: string;
  readonly value: string;
}

/**
 * Where a rule keeps its limits: in SQL as what holds when the configuration says nothing, `setting(gateway,
 * 'shareAbove', 0.05)`; in expressions as `$ref > 120`. Tests for equality guard divisions and are no limits.
 */
const SETTING = /(setting\(gateway, '(\w+)', )(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(\))/g;
const COMPARISON = /(\$\{?(\w+)\}?\s*(?:>=|<=|>|<)\s*)(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.$])/g;

/** Reads `RULE.NAME=VALUE`; null when it is not of that form. */
export function parseOverride(text: string): Override | null {
  const match = /^([\w-]+)\.(\w+)=(\S+)$/.exec(text);
  return match === null ? null : { rule: match[1] ?? '', name: match[2] ?? '', value: match[3] ?? '' };
}

/** Is it this rule that the name means? */
export function isNamed(rule: ProvisionedRule, name: string): boolean {
  const plain = (text: string): string => text.toLowerCase().replace(/^gatewatch-?/, '');
  return [rule.title, rule.uid].some((own) => plain(own) === plain(name));
}

/** The limits of a rule as they are now, by name. */
export function limitsOf(rule: ProvisionedRule): Readonly<Record<string, number>> {
  const limits: Record<string, number> = {};
  for (const { model } of rule.data) {
    if ('rawSql' in model) {
      for (const [, , name = '', value] of model.rawSql.matchAll(SETTING)) limits[name] ??= Number(value);
      delete limits['enabled'];
    } else if (model.type === 'math')
      for (const [, , ref = '', value] of model.expression.matchAll(COMPARISON))
        limits[ref] ??= Number(value);
    else if (model.type === 'threshold') {
      const limit = model.conditions[0]?.evaluator.params[0];
      if (limit !== undefined && !isMath(rule, model.expression)) limits[model.expression] ??= limit;
    }
  }
  return limits;
}

/** The rule with another value for this run, or a text that says why it cannot be had. */
export function override(rule: ProvisionedRule, { name, value }: Override): ProvisionedRule | string {
  const limits = limitsOf(rule);
  if (name === 'for' || name === 'keepFiringFor')
    return isDuration(value)
      ? { ...rule, [name]: value }
      : `${rule.title}.${name}: expected a duration like 5m, received ${value}`;
  const own = name === 'threshold' ? Object.keys(limits)[0] : name;
  if (own === undefined || !Object.hasOwn(limits, own)) {
    const known = [...Object.entries(limits), ['for', rule.for], ['keepFiringFor', rule.keepFiringFor]];
    return `${rule.title} has no ${name} to set; it has ${known.map(([key, now]) => `${key} (${now})`).join(', ')}`;
  }
  if (!Number.isFinite(Number(value))) return `${rule.title}.${name}: expected a number, received ${value}`;
  return { ...rule, data: rule.data.map((node) => withLimit(rule, node, own, Number(value))) };
}

function isDuration(text: string): boolean {
  try {
    durationMs(text);
    return true;
  } catch {
    return false;
  }
}

function withLimit(rule: ProvisionedRule, node: RuleNode, name: string, limit: number): RuleNode {
  const { model } = node;
  if ('rawSql' in model) {
    // What is asked for here goes before what the configuration says.
    const rawSql = model.rawSql.replaceAll(SETTING, (all: string, _head: string, own: string) =>
      own === name ? String(limit) : all,
    );
    return { ...node, model: { ...model, rawSql } };
  }
  if (model.type === 'math') {
    const expression = model.expression.replaceAll(COMPARISON, (all: string, before: string, own: string) =>
      own === name ? `${before}${limit}` : all,
    );
    return { ...node, model: { ...model, expression } };
  }
  if (model.type === 'reduce' || model.expression !== name || isMath(rule, name)) return node;
  const conditions = model.conditions.map((condition) => ({
    ...condition,
    evaluator: { ...condition.evaluator, params: [limit, ...condition.evaluator.params.slice(1)] },
  }));
  return { ...node, model: { ...model, conditions } };
}

/** A threshold over an expression only asks whether that is true. */
const isMath = (rule: ProvisionedRule, refId: string): boolean =>
  rule.data.some((node) => node.refId === refId && 'type' in node.model && node.model.type === 'math');
