import { RECOVERY } from '../../alerts/rules/conditions.ts';
import type { DropCondition, DropRule } from '../../alerts/rules/rule.ts';
import type { Measure } from './counts.ts';
import { WEEK } from './seasons.ts';

export interface DropVerdict {
  readonly seen: number;
  readonly expected: number;
  readonly limit: number;
  readonly holds: boolean;
}

/** Numbers of `alerts/count/baseline.ts` that have no name to import. Equality with the SQL is tested. */
const WEEKS = 4;
const MAD_TO_SIGMA = 1.4826;
const QUARTER = 15;
const COLD_MINUTES = 120;
const COLD_PART = 0.5;
const COLD_NOISE = 1000;
const SHORT = 15;
const HOURS_BEFORE = [-24, -8] as const;
const NEAR_HOURS = [-12, -4] as const;
const LAST_HOUR = [-6, -2] as const;
/** Quarters of the table, relative to the evaluation's own: the first that the range holds, and the last. */
const firstOf = (minutes: readonly number[]): number =>
  1 - Math.max(24, ...minutes.map((length) => length / QUARTER));
const LAST = 2;

interface Expectation {
  /** Orders by window. */
  readonly expected: readonly number[];
  readonly limits: readonly number[];
}

/** The statistics of a drop rule in TypeScript: the twin of `dropBody`. */
export function createDropTwin(
  rule: DropRule,
  counts: { seen: Measure; usual: Measure },
): {
  readonly verdict: (known: number, end: number, at: number) => DropVerdict;
  readonly holds: (known: number, end: number, at: number) => boolean;
} {
  const { condition } = rule;
  const minutes = condition.windows.map(({ windowSeconds }) => windowSeconds / 60).toSorted((a, b) => a - b);
  const byQuarter = new Map<number, Expectation>();
  const verdict = (known: number, end: number, at: number): DropVerdict => {
    const quarter = Math.floor(at / QUARTER);
    let expectation = byQuarter.get(quarter);
    if (expectation === undefined) {
      expectation = expect(quarter * QUARTER, condition, minutes, counts.usual);
      byQuarter.set(quarter, expectation);
    }
    const { expected, limits } = expectation;
    const seen = minutes.map((length) => counts.seen.within(known, end, length));
    const wayBack = condition.below + RECOVERY.wayBack * (1 - condition.below);
    const recovered = seen.findIndex((n, index) => {
      const usual = expected[index] ?? 0;
      return usual >= RECOVERY.enoughOrders && n > wayBack * usual;
    });
    const held = seen.findIndex(
      (n, index) => n <= (limits[index] ?? -1) && (recovered === -1 || recovered >= index),
    );
    const enough = expected.findIndex((orders) => orders >= condition.minimumExpectedOrders);
    const chosen = held !== -1 ? held : enough !== -1 ? enough : minutes.length - 1;
    const limit = limits[chosen] ?? -1;
    return {
      seen: seen[chosen] ?? 0,
      expected: expected[chosen] ?? 0,
      limit: held !== -1 ? limit : Math.min(limit, (seen[chosen] ?? 0) - 1),
      holds: held !== -1,
    };
  };
  return { verdict, holds: (known, end, at) => verdict(known, end, at).holds };
}

/** The twin of `dropBaseline` and of the limits over it. */
function expect(
  start: number,
  condition: DropCondition,
  minutes: readonly number[],
  usual: Measure,
): Expectation {
  const first = firstOf(minutes);
  const quarterOf = (week: number, quarter: number): number => {
    if (quarter < first || quarter > LAST) return 0;
    const from = start - week * WEEK + quarter * QUARTER;
    return usual.between(from, from + QUARTER);
  };
  const sum = (week: number, from: number, to: number): number => {
    let total = 0;
    for (let quarter = from; quarter < to; quarter++) total += quarterOf(week, quarter);
    return total;
  };
  const weeks = Array.from({ length: WEEKS }, (_, index) => index + 1).filter(
    (week) => sum(week, first, LAST + 1) > 0,
  );
  if (weeks.length < 2) {
    const quarters = COLD_MINUTES / QUARTER;
    const cold = minutes.map((length) =>
      length > COLD_MINUTES ? 0 : (length * COLD_PART * sum(0, -quarters, 0)) / COLD_MINUTES,
    );
    return {
      expected: cold,
      limits: cold.map((orders, index) => limitOf(orders, minutes[index] ?? 0, COLD_NOISE, condition)),
    };
  }
  const today = ([from, to]: readonly [number, number], least: number, most: number): number =>
    Math.min(
      most,
      Math.max(least, (sum(0, from, to) + 10) / (median(weeks.map((week) => sum(week, from, to))) + 10)),
    );
  const usualOf = minutes.map((length) => {
    const [from, to] = length <= SHORT ? [-2, 2] : [-Math.ceil(length / QUARTER), 0];
    const scale = length / ((to - from) * QUARTER);
    return scale * median(weeks.map((week) => sum(week, from, to)));
  });
  const level = today(HOURS_BEFORE, 0.5, 1);
  const nearLevel = today(NEAR_HOURS, 0.5, 1);
  const stepLevel = today(LAST_HOUR, 0.3, 1.2);
  const expected = usualOf.map((orders, index) =>
    (minutes[index] ?? 0) <= SHORT ? nearLevel * orders : level * orders,
  );
  const deviations: number[] = [];
  for (let quarter = -24; quarter < 2; quarter++) {
    const roots = weeks.map((week) => 2 * Math.sqrt(quarterOf(week, quarter) + 0.375));
    const middle = median(roots);
    for (const root of roots) deviations.push(Math.abs(root - middle));
  }
  const noise = Math.max(1, MAD_TO_SIGMA * median(deviations));
  const hour = Math.max(1, sum(0, ...LAST_HOUR));
  const limits = minutes.map((length, index) => {
    const byWeeks = limitOf(expected[index] ?? 0, length, noise, condition);
    if (length > SHORT) return byWeeks;
    return Math.max(byWeeks, stepLimitOf(stepLevel * (usualOf[index] ?? 0), hour, length, noise, condition));
  });
  return { expected, limits };
}

function limitOf(expected: number, minutes: number, noise: number, condition: DropCondition): number {
  if (expected < condition.minimumExpectedOrders) return -1;
  const spread = Math.sqrt(1 + Math.max(0, noise ** 2 - 1) * (minutes / QUARTER));
  const unusual = ordersBelow(2 * Math.sqrt(expected + 0.375) - condition.z * spread);
  const beyondChance = ordersBelow(2 * Math.sqrt(expected + 0.375) - condition.z);
  const certain = Math.min(Math.floor(condition.certainBelow * expected), beyondChance);
  return Math.min(Math.floor(condition.below * expected), Math.max(unusual, certain));
}

/** The twin of `stepLimits`. */
function stepLimitOf(
  expected: number,
  hour: number,
  minutes: number,
  noise: number,
  { step, z, minimumExpectedOrders }: DropCondition,
): number {
  if (step === undefined || expected < minimumExpectedOrders) return -1;
  const strays = Math.max(step.variation ** 2 * expected, ((noise ** 2 - 1) * minutes) / (4 * QUARTER));
  const root = 2 * Math.sqrt(expected + 0.375) - z * Math.sqrt(1 + expected / hour + strays);
  return Math.min(Math.floor(step.below * expected), ordersBelow(root));
}

const ordersBelow = (root: number): number => Math.ceil((Math.max(0, root) / 2) ** 2 - 0.375) - 1;

/** ClickHouse's `median`: halfway between two. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(half)] ?? 0) + (sorted[Math.ceil(half)] ?? 0)) / 2;
}
