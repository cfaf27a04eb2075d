import { loadRules } from '../../alerts/evaluate/rule-file.ts';
import { createRuleQueries } from '../../alerts/evaluate/rule-queries.ts';
import { RULES_FOLDER } from '../../store/package-files.ts';
import { labelOf, type Rule } from '../../alerts/rules/rule.ts';
import type { Seed, SeededStore } from '../support/seed-store.ts';
import { evaluationOf, rowsOf } from './orders.ts';
import { WEEK } from './seasons.ts';
import type { Months } from './simulate.ts';
import { ENABLED, type Twin } from './twins.ts';

/**
 * One number of one rule at one instant: what the rule's own file gives on the real engine, and what its twin
 * gives.
 */
export interface Comparison {
  readonly rule: string;
  readonly label: string;
  readonly at: string;
  readonly value: string;
  readonly engine: number;
  readonly twin: number;
  readonly equal: boolean;
}

/**
 * Minutes of history that are laid down before an instant: for windows, and for the same hours of other
 * weeks.
 */
const WINDOW_MINUTES = 6 * 60 + 45;
/** Baselines count with sketches that are right to 1.6 %: what depends on them is compared with some room. */
const ROOM = 0.06;

export interface CompareOptions {
  readonly store: SeededStore;
  readonly months: Months;
  readonly twins: readonly Twin[];
  /** Minutes, see `evaluationOf`. */
  readonly instants: readonly number[];
  /** @default the generated rules */
  readonly rulesFolder?: string;
  /** History laid down before an instant; rules with longer windows are left out. @default 405 */
  readonly windowMinutes?: number;
}

/**
 * Lays the orders around each instant down as rows, in a gateway of their own, and evaluates all rules there
 * both ways.
 */
export async function compareWithEngine(options: CompareOptions): Promise<Comparison[]> {
  const {
    store,
    months,
    twins,
    instants,
    rulesFolder = RULES_FOLDER,
    windowMinutes = WINDOW_MINUTES,
  } = options;
  const files = new Map(loadRules(rulesFolder).map((rule) => [rule.title, rule]));
  const source = createRuleQueries({ query: store.query, texts: true });
  const out: Comparison[] = [];
  for (const at of instants) {
    const gateway = `lab-${at}`;
    for (const seed of seedsAround(months, at, gateway, windowMinutes)) await store.seed(seed);
    for (const rule of new Set(twins.map((twin) => twin.rule))) {
      if (longestMinutes(rule) >= windowMinutes) continue;
      const file = files.get(rule.name);
      if (file === undefined) throw new Error(`${rule.name} has no file`);
      const [evaluation] = await source.evaluate(file, [evaluationOf(at)]);
      const label = labelOf(rule);
      for (const twin of twins.filter((one) => one.rule === rule)) {
        const instance = evaluation?.instances.find(
          ({ labels }) =>
            (labels['gateway'] === gateway || labels['gateway'] === '') &&
            (label === null || twin.label === '' || labels[label] === twin.label),
        );
        out.push(...compare(twin, at, instance?.values ?? {}, suppressed(twin, twins, at)));
      }
    }
  }
  return out;
}

/** The same on the side of the twins: does the rule that silences this one hold? */
function suppressed({ rule }: Twin, twins: readonly Twin[], at: number): boolean {
  return twins.some((other) => other.rule.name === rule.suppressedBy && other.holds(at));
}

function compare(
  twin: Twin,
  at: number,
  values: Readonly<Record<string, number | null>>,
  silent: boolean,
): Comparison[] {
  const { rule, label } = twin;
  const verdict = twin.verdict(at);
  const numbers: Record<string, number> = {};
  for (const [name, value] of Object.entries(verdict)) if (typeof value === 'number') numbers[name] = value;
  if (silent && verdict.holds && 'affected' in verdict)
    numbers['limit'] = Math.max(verdict.limit, verdict.affected + 1);
  if (silent && verdict.holds && 'expected' in verdict)
    numbers['limit'] = Math.min(verdict.limit, verdict.seen - 1);
  const sketched = rule.kind === 'drop' || (rule.kind === 'share' && rule.condition.baseline !== undefined);
  return Object.entries(numbers).map(([value, mine]) => {
    // Where nothing was reported lately the SQL has no row, and the condition does not hold.
    const engine = values[value] ?? (rule.kind === 'gauge' && !verdict.holds ? mine : Number.NaN);
    const room =
      sketched && (value === 'limit' || value === 'expected') ? Math.max(1, ROOM * Math.abs(mine)) : 0.001;
    const equal = Math.abs(engine - mine) <= room;
    return { rule: rule.name, label, at: evaluationOf(at).toISOString(), value, engine, twin: mine, equal };
  });
}

/** Rows for the windows before an instant and for the same hours of the four weeks before. */
function* seedsAround(months: Months, at: number, gateway: string, windowMinutes: number): Generator<Seed> {
  yield { rows: { alertSettings: ENABLED.map((name) => enabled(name, gateway)) } };
  yield rowsOf(months, at - windowMinutes, at + 1, gateway);
  for (let week = 1; week <= 4; week++) {
    const { orders } = rowsOf(months, at - week * WEEK - windowMinutes, at - week * WEEK + 90, gateway);
    yield { orders: orders ?? [] };
  }
}

/** What the configuration says of a rule that is off by default. */
function enabled(name: string, gateway: string): object {
  const [rule, label] = name.split('/');
  return { gateway, rule, setting: `enabled/${label}`, value: 1, configured_at: '2025-01-01 00:00:00' };
}

function longestMinutes(rule: Rule): number {
  return rule.kind === 'gauge'
    ? 0
    : Math.max(...rule.condition.windows.map(({ windowSeconds }) => windowSeconds)) / 60;
}
