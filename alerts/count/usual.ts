import type { UsualTraffic } from '../evaluate/judge-drop.ts';
import type { UsualShare } from '../evaluate/judge-share.ts';
import type { CountingRule, DropRule, Rule, ShareRule } from '../rules/rule.ts';
import type { Span } from './calendar.ts';
import { lengthsOf } from './windows.ts';

/**
 * What is usual: the same hours of the four weeks before, as `usual-counts.ts` counts them. A median,
 * and the median absolute deviation as spread, so that one incident among those weeks changes little. Which
 * hours are the same ones, the calendar says.
 */

const WEEKS = 4;
export const QUARTER_SECONDS = 900;
/** A median absolute deviation times this is a standard deviation, where values are normal. */
const MAD_TO_SIGMA = 1.4826;
/** The variance of a share over a few weeks is a rough estimate, too low about half of the time. */
const SPREAD_ROOM = 2.25;
/** A median varies this many times as much as a mean of the same values: pi / 2. */
const MEDIAN_VARIANCE = 1.5708;
/** Hours of other weeks that a baseline needs, at least; and orders that an hour needs to count. */
const MINIMUM_SAMPLES = 4;
const MINIMUM_ORDERS = 5;

/** The orders of a stretch of time in one of the weeks; week 0 is this one. */
export interface ActivityRow {
  readonly gateway: string;
  readonly slice: string;
  readonly week: number;
  /** The stretch, counted from the quarter of the instant: 0 begins with it. */
  readonly place: number;
  readonly label: string;
  readonly seen: number;
  readonly hit: number;
}

/** The quarter of an hour of an instant, in seconds since 1970. */
export const quarterOf = (seconds: number): number => Math.floor(seconds / QUARTER_SECONDS) * QUARTER_SECONDS;

/** What a rule's baseline is made of: hours around the instant, or quarters, of this week as well. */
export function spanOf(rule: CountingRule): Span {
  const weeks = Array.from({ length: WEEKS }, (_, index) => index + 1);
  if (rule.kind === 'share') return { weeks, from: -8, to: 5, stretch: 4 };
  const longest = Math.max(...lengthsOf(rule)) / QUARTER_SECONDS;
  return {
    weeks: [0, ...weeks],
    from: Math.min(VARIATION[0], -Math.ceil(longest)),
    to: VARIATION[1],
    stretch: 1,
  };
}

/**
 * The usual share of a gateway and label, and by how much it varies beyond chance and our knowledge of it;
 * null when too little is known. Each sample is one hour of one week; half an affected order is added, since
 * a share of few orders is uncertain.
 */
export function usualShare(rows: readonly ActivityRow[]): UsualShare | null {
  const hours = rows.filter(({ seen }) => seen >= MINIMUM_ORDERS);
  if (hours.length < MINIMUM_SAMPLES) return null;
  const shares = hours.map(({ seen, hit }) => (hit + 0.5) / (seen + 1));
  const middle = upperMedian(shares);
  const deviation = upperMedian(shares.map((share) => Math.abs(share - middle)));
  const orders = Math.max(1, upperMedian(hours.map(({ seen }) => seen)));
  const total = hours.reduce((sum, { seen }) => sum + seen, 0);
  const chance = middle * (1 - middle);
  const varied = SPREAD_ROOM * Math.max(0, (MAD_TO_SIGMA * deviation) ** 2 - chance / orders);
  return { share: middle, spread: Math.sqrt(varied + (MEDIAN_VARIANCE * chance) / Math.max(1, total)) };
}

/** Orders of a slice that are enough to know what is usual there, though few come in an hour. */
const ENOUGH_OF_SLICE = 50;
/** By how much such a share may vary, as a part of it: hours of so few orders do not show it. */
const VARIATION_OF_SLICE = 0.5;

/** The usual share of a slice; where few orders come in an hour, that of all hours together. */
export function usualShareOfSlice(rows: readonly ActivityRow[]): UsualShare | null {
  const byHours = usualShare(rows);
  const seen = rows.reduce((sum, row) => sum + row.seen, 0);
  if (byHours !== null || seen < ENOUGH_OF_SLICE) return byHours;
  const share = (rows.reduce((sum, row) => sum + row.hit, 0) + 0.5) / (seen + 1);
  const chance = (share * (1 - share)) / seen;
  return { share, spread: Math.sqrt(chance + (VARIATION_OF_SLICE * share) ** 2) };
}

/**
 * Without two other weeks, half of the orders of the two hours before are expected: half, since traffic falls
 * in the evening. Its variance is unknown, so only `certainBelow` counts. Longer windows expect nothing: the
 * gateway may not have been known for most of that time.
 */
const COLD = { seconds: 7_200, part: 0.5, noise: 1_000 } as const;
/** Windows up to this length are short: they judge what has just begun. */
const SHORT_SECONDS = 900;
/**
 * Hours from which today's level is taken, as quarters relative to that of the instant: for long windows, for
 * short ones, and for a step.
 */
const HOURS_BEFORE = [-24, -8] as const;
const NEAR_HOURS = [-12, -4] as const;
const LAST_HOUR = [-6, -2] as const;
/** Quarters whose variation is the noise. */
const VARIATION = [-24, 2] as const;

/**
 * What traffic is usual. Today's level counts too: on a quiet day, such as a holiday, fewer orders are
 * expected. For long windows the level is taken from before the window.
 */
export function usualTraffic(rows: readonly ActivityRow[]): UsualTraffic {
  const byPlace = new Map(rows.map(({ week, place, seen }) => [week * 10_000 + place, seen]));
  const quarter = (week: number, place: number): number => byPlace.get(week * 10_000 + place) ?? 0;
  const sum = (week: number, from: number, to: number): number => {
    let total = 0;
    for (let place = from; place < to; place++) total += quarter(week, place);
    return total;
  };
  const weeks = [...new Set(rows.map(({ week }) => week))].filter((week) => week > 0);
  const hour = sum(0, ...LAST_HOUR);
  if (weeks.length < 2) {
    const before = sum(0, -COLD.seconds / QUARTER_SECONDS, 0);
    const cold = (seconds: number): number =>
      seconds > COLD.seconds ? 0 : (seconds * COLD.part * before) / COLD.seconds;
    return { expected: cold, following: () => 0, noise: COLD.noise, hour };
  }
  const overWeeks = (from: number, to: number): number => median(weeks.map((week) => sum(week, from, to)));
  // Today compared with other weeks; with few orders it stays near 1.
  const today = ([from, to]: readonly [number, number], least: number, most: number): number =>
    Math.min(most, Math.max(least, (sum(0, from, to) + 10) / (overWeeks(from, to) + 10)));
  const levels = {
    long: today(HOURS_BEFORE, 0.5, 1),
    near: today(NEAR_HOURS, 0.5, 1),
    step: today(LAST_HOUR, 0.3, 1.2),
  };
  const usual = (seconds: number): number => {
    // Centred where the window is short, the window itself where it is long.
    const [from, to] = seconds <= SHORT_SECONDS ? [-2, 2] : [-Math.ceil(seconds / QUARTER_SECONDS), 0];
    return (seconds / ((to - from) * QUARTER_SECONDS)) * overWeeks(from, to);
  };
  return {
    expected: (seconds) => usual(seconds) * (seconds <= SHORT_SECONDS ? levels.near : levels.long),
    following: (seconds) => (seconds <= SHORT_SECONDS ? usual(seconds) * levels.step : 0),
    noise: noiseOf(weeks, quarter),
    hour,
  };
}

function noiseOf(weeks: readonly number[], quarter: (week: number, place: number) => number): number {
  const deviations: number[] = [];
  for (let place: number = VARIATION[0]; place < VARIATION[1]; place++) {
    const roots = weeks.map((week) => 2 * Math.sqrt(quarter(week, place) + 0.375));
    const middle = median(roots);
    for (const root of roots) deviations.push(Math.abs(root - middle));
  }
  return Math.max(1, MAD_TO_SIGMA * median(deviations));
}

/** The upper one of two in the middle. */
export function upperMedian(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

/** Halfway between two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(half)] ?? 0) + (sorted[Math.ceil(half)] ?? 0)) / 2;
}

/** Rules that compare with what is usual. */
export const hasBaseline = (
  rule: CountingRule,
): rule is DropRule | (ShareRule & { condition: { baseline: object } }) =>
  rule.kind === 'drop' || rule.condition.baseline !== undefined;

/** Rules that are judged in slices of the orders too: it takes what is usual there. */
export const hasSlices = (rule: Rule): rule is ShareRule => rule.kind === 'share' && hasBaseline(rule);
