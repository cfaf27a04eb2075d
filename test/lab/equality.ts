import type { Evaluation, EvaluationPass } from '../../alerts/evaluate/evaluation.ts';
import { createPass } from '../../alerts/evaluate/pass.ts';
import { RULES } from '../../alerts/rules/all.ts';
import type { Rule } from '../../alerts/rules/rule.ts';
import { hasBaseline as comparesWithUsual } from '../../alerts/count/usual.ts';
import { type Seed, type SeededStore, startSeededStore } from '../support/seed-store.ts';
import type { Incident } from './incidents.ts';
import { evaluationOf, rowsOf } from './orders.ts';
import { DAY } from './seasons.ts';
import { WARM_UP_WEEKS } from './seeds.ts';
import { simulate } from './simulate.ts';
import type { Months } from './months.ts';
import { type Classes, createTwins, ENABLED, SLOW_RULE, type Twin } from './twins.ts';

/**
 * One number of one rule at one instant: what the product's pass gives on the real engine, and what its twin
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
/** What orders at the edges of an hour may change. */
const ROOM = 0.03;
/** And after the same instant of another day. */
const AFTER_MINUTES = 90;
export interface CompareOptions {
  readonly store: SeededStore;
  readonly months: Months;
  readonly twins: readonly Twin[];
  /** Minutes, see `evaluationOf`. */
  readonly instants: readonly number[];
  /** History laid down before an instant; rules with longer windows are left out. @default 405 */
  readonly windowMinutes?: number;
}

/**
 * Lays the orders around each instant down as rows, in a gateway of their own, and evaluates all rules there
 * both ways.
 */
export async function compareWithEngine(options: CompareOptions): Promise<Comparison[]> {
  const { store, months, twins, instants, windowMinutes = WINDOW_MINUTES } = options;
  const pass = passOver(store);
  const out: Comparison[] = [];
  for (const at of instants) {
    const gateway = `lab-${at}`;
    for (const seed of seedsAround(months, at, gateway, windowMinutes)) await store.seed(seed);
    const rows = await pass(evaluationOf(at).getTime(), ['fast', 'slow']);
    for (const twin of twins) {
      // Its orders are no rows: how long they take is drawn for a minute, not for an order.
      if (twin.rule.name === SLOW_RULE) continue;
      if (longestMinutes(twin.rule) >= windowMinutes) continue;
      const row = rows.find(
        (one) =>
          one.rule === twin.rule.name &&
          (one.gateway === gateway || one.gateway === '') &&
          (twin.rule.kind === 'gauge' || one.label === twin.label),
      );
      out.push(...compare(twin, at, row, isSuppressed(twin, twins, at)));
    }
  }
  return out;
}

/**
 * Volumes whose orders are few enough to be laid down as rows; of the fewest a whole day, for the rules that
 * look so far.
 */
const SAMPLED = [
  { ordersPerMinute: 2, windowMinutes: 26 * 60, instants: 7 },
  { ordersPerMinute: 20, windowMinutes: 405, instants: 3 },
];

/** Months of a seed at these volumes, compared at some of their instants. */
export async function compareSamples(
  seed: string,
  classes: Classes,
  isShort: boolean,
): Promise<Comparison[]> {
  const out: Comparison[] = [];
  for (const { ordersPerMinute, windowMinutes, instants } of isShort ? SAMPLED.slice(0, 1) : SAMPLED) {
    const months = simulate({ seed, ordersPerMinute, weeks: WARM_UP_WEEKS + 13 });
    const twins = createTwins(months, classes);
    const store = await startSeededStore();
    try {
      const some = sampled(months).slice(0, isShort ? 2 : instants);
      out.push(...(await compareWithEngine({ store, months, twins, instants: some, windowMinutes })));
    } finally {
      await store.stop();
    }
  }
  return out;
}

/** Minutes in the midst of incidents of each kind of effect, just after one, and quiet ones. */
function sampled(months: Months): number[] {
  const some = (effect: Incident['kind']['effect']['type'], after: number): number[] =>
    months.incidents
      .filter(({ kind }) => kind.effect.type === effect)
      .slice(1, 2)
      .map(({ start }) => start + after);
  const ended = months.incidents.slice(2, 3).map(({ end }) => end + 4);
  return [
    ...some('share', 17),
    ...some('drop', 12),
    months.minutes - 1234,
    ...some('blind', 9),
    ...some('silent', 7),
    ...ended,
    months.from + 4321,
  ];
}

/** The pass of the product over a store. */
export const passOver = (store: SeededStore): EvaluationPass =>
  createPass({
    rules: RULES,
    query: async <T>(sql: string) => (await store.queryAsWriter(sql)).data as T[],
    evaluator: 'lab',
    now: () => 0,
    monotonicMs: () => 0,
  });

/** On the side of the twins: does the rule that silences this one hold? */
function isSuppressed({ rule }: Twin, twins: readonly Twin[], at: number): boolean {
  return twins.some((other) => other.rule.name === rule.suppressedBy && other.holds(at));
}

function compare(twin: Twin, at: number, row: Evaluation | undefined, silent: boolean): Comparison[] {
  const { rule, label } = twin;
  const { holds, ...verdict } = twin.verdict(at);
  const numbers = { ...verdict, breach: Number(holds && !silent) };
  return Object.entries(numbers).flatMap(([value, mine]) => {
    if (mine === null) return [];
    // Where nothing was reported lately a gauge has no row, and does not hold.
    const otherwise = rule.kind === 'gauge' && !holds ? mine : Number.NaN;
    const engine = row === undefined ? otherwise : numberOf(row, value);
    // A stretch of an hour ends between two minutes where orders count some seconds after theirs began.
    const isUsual =
      rule.kind !== 'gauge' && comparesWithUsual(rule) && (value === 'limit' || value === 'expected');
    const equal = Math.abs(engine - mine) <= (isUsual ? Math.max(1, ROOM * Math.abs(mine)) : 0.001);
    return [{ rule: rule.name, label, at: evaluationOf(at).toISOString(), value, engine, twin: mine, equal }];
  });
}

function numberOf(row: Evaluation, value: string): number {
  if (value === 'windowSeconds') return (row.window_to - row.window_from) / 1e6;
  const number = row[value as keyof Evaluation];
  return typeof number === 'number' ? number : Number.NaN;
}

/** Rows for the windows before an instant, and for the same hours of the days that it is compared with. */
export function* seedsAround(
  months: Months,
  at: number,
  gateway: string,
  windowMinutes: number,
): Generator<Seed> {
  yield { rows: { alertSettings: ENABLED.map((name) => enabled(name, gateway)) } };
  // Where a window is longer than a day, the last days are one stretch with it.
  const isLong = windowMinutes > DAY - AFTER_MINUTES;
  yield rowsOf(months, at - (isLong ? 3 * DAY + WINDOW_MINUTES : windowMinutes), at + 1, gateway);
  for (const day of [...(isLong ? [] : [1, 2, 3]), 7, 14, 21, 28]) {
    const then = at - day * DAY;
    yield { orders: rowsOf(months, then - windowMinutes, then + AFTER_MINUTES, gateway).orders ?? [] };
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
