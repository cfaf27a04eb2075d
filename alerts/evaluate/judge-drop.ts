import { lengthsOf } from '../count/windows.ts';
import { RECOVERY } from '../rules/conditions.ts';
import type { DropCondition, DropRule } from '../rules/rule.ts';
import type { Verdict, WindowCounts } from './judge-share.ts';

/** What is usual at this hour, by the length of a window in seconds. */
export interface UsualTraffic {
  /** Orders that other weeks make one expect. */
  readonly expected: (windowSeconds: number) => number;
  /** Orders that the hour before makes one expect; 0 of longer windows. */
  readonly following: (windowSeconds: number) => number;
  /** Standard deviation of a quarter's orders, on the scale where chance alone gives 1. */
  readonly noise: number;
  /** Orders of the hour before. */
  readonly hour: number;
}

export const NOTHING_USUAL: UsualTraffic = { expected: () => 0, following: () => 0, noise: 1, hour: 0 };

/** The numbers of a drop rule that a configuration can set. */
export interface DropSettings {
  readonly below: number;
  readonly minimumExpectedOrders: number;
}

const QUARTER = 900;

/**
 * When fewer orders than usual are an incident: see `DropCondition`. While it is none, the limit is out of
 * reach; -1: no number of orders is too few.
 */
export function judgeDrop(
  rule: DropRule,
  counts: Pick<WindowCounts, 'seen'>,
  usual: UsualTraffic,
  settings: DropSettings,
): Verdict {
  const lengths = lengthsOf(rule);
  const wayBack = settings.below + RECOVERY.wayBack * (1 - settings.below);
  const windows = lengths.map((windowSeconds) => {
    const expected = usual.expected(windowSeconds);
    const seen = counts.seen(windowSeconds);
    return {
      windowSeconds,
      seen,
      expected,
      limit: limitOf(rule.condition, windowSeconds, usual, settings),
      isRecovered: expected >= RECOVERY.enoughOrders && seen > wayBack * expected,
    };
  });
  const recovered = windows.findIndex(({ isRecovered }) => isRecovered);
  const held = windows.findIndex(
    ({ seen, limit }, index) => seen <= limit && (recovered === -1 || recovered >= index),
  );
  const enough = windows.findIndex(({ expected }) => expected >= settings.minimumExpectedOrders);
  const chosen = windows[held !== -1 ? held : enough !== -1 ? enough : windows.length - 1];
  if (chosen === undefined) throw new Error(`${rule.name} has no window`);
  const { windowSeconds, seen, expected, limit } = chosen;
  return {
    windowSeconds,
    seen,
    affected: seen,
    expected,
    limit: held !== -1 ? limit : Math.min(limit, seen - 1),
    holds: held !== -1,
  };
}

/** Down to how many orders it is a drop. */
function limitOf(
  condition: DropCondition,
  windowSeconds: number,
  usual: UsualTraffic,
  settings: DropSettings,
): number {
  const byWeeks = limitByWeeks(condition, windowSeconds, usual, settings);
  const { step, z, below } = condition;
  const following = usual.following(windowSeconds);
  if (step === undefined || following < settings.minimumExpectedOrders) return byWeeks;
  // The expectation from the hour before is only as exact as its number of orders allows. Traffic varies
  // around it half as much as around other weeks, and at least as much as the condition says.
  const varied = Math.max(step.variation ** 2 * following, ((usual.noise ** 2 - 1) * windowSeconds) / 3600);
  const root =
    2 * Math.sqrt(following + 0.375) - z * Math.sqrt(1 + following / Math.max(1, usual.hour) + varied);
  const part = (step.below / below) * settings.below;
  return Math.max(byWeeks, Math.min(Math.floor(part * following), ordersBelow(root)));
}

/** On the square root's scale a Poisson count has the same spread at every volume. */
function limitByWeeks(
  { z, certainBelow }: DropCondition,
  windowSeconds: number,
  usual: UsualTraffic,
  settings: DropSettings,
): number {
  const expected = usual.expected(windowSeconds);
  if (expected < settings.minimumExpectedOrders) return -1;
  const root = 2 * Math.sqrt(expected + 0.375);
  const spread = Math.sqrt(1 + ((usual.noise ** 2 - 1) * windowSeconds) / QUARTER);
  const certain = Math.min(Math.floor(certainBelow * expected), ordersBelow(root - z));
  return Math.min(Math.floor(settings.below * expected), Math.max(ordersBelow(root - z * spread), certain));
}

/**
 * How many orders are too few, by a limit on the scale of 2 sqrt(n + 3/8), where chance has the same spread
 * at every volume; -1: no number is.
 */
const ordersBelow = (root: number): number => Math.ceil((Math.max(0, root) / 2) ** 2 - 0.375) - 1;
