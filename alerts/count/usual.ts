import type { UsualTraffic } from '../evaluate/judge-drop.ts';
import type { UsualShare } from '../evaluate/judge-share.ts';
import type { CountingRule, DropRule, Rule, ShareRule } from '../rules/rule.ts';
import { isOtherWeek, type Span } from './calendar.ts';
import { lengthsOf } from './windows.ts';

/**
 * What is usual: the same hours of the four weeks before, and for shares those of the last days as well, as
 * `usual-counts.ts` counts them. A median, and the median absolute deviation as spread, so that one incident
 * among them changes little. Which hours are the same ones, the calendar says.
 */

/** The same day of the four weeks before, as days back. */
const WEEKS = [7, 14, 21, 28] as const;
/** The last days: what a gateway does since it changed its habits, and all there is in a first week. */
const LAST_DAYS = [1, 2, 3] as const;
export const QUARTER_SECONDS = 900;
/** A median absolute deviation times this is a standard deviation, where values are normal. */
const MAD_TO_SIGMA = 1.4826;
/** The variance of a share over a few weeks is a rough estimate, too low about half of the time. */
const SPREAD_ROOM = 2.25;
/** A median varies this many times as much as a mean of the same values: pi / 2. */
const MEDIAN_VARIANCE = 1.5708;
/** Hours that a baseline needs at least, and orders that an hour needs to count. */
const MINIMUM_SAMPLES = { weeks: 4, days: 6 } as const;
const MINIMUM_ORDERS = 5;

/** The orders of a stretch of time of one day. */
export interface ActivityRow {
  readonly gateway: string;
  readonly slice: string;
  /** How many days back. */
  readonly day: number;
  /** The stretch, counted from the quarter of the instant: 0 begins with it. */
  readonly place: number;
  readonly label: string;
  readonly seen: number;
  readonly hit: number;
}

/** The quarter of an hour of an instant, in seconds since 1970. */
export const quarterOf = (seconds: number): number => Math.floor(seconds / QUARTER_SECONDS) * QUARTER_SECONDS;

/** What a rule's baseline is made of: hours around the instant, or quarters, of this day as well. */
export function spanOf(rule: CountingRule): Span {
  if (rule.kind === 'share') return { days: [...WEEKS, ...LAST_DAYS], from: -8, to: 5, stretch: 4 };
  const longest = Math.max(...lengthsOf(rule)) / QUARTER_SECONDS;
  return {
    days: rule.condition.step === undefined ? [0, ...WEEKS] : [0, ...WEEKS, ...LAST_DAYS],
    from: Math.min(VARIATION[0], -Math.ceil(longest)),
    to: VARIATION[1],
    stretch: 1,
  };
}

/**
 * The usual share of a gateway and label, and by how much it varies beyond chance and our knowledge of it;
 * null when too little is known. That of the last days counts where it is greater than that of the weeks: a
 * deployment that changed what is usual pages for some days at most, not for weeks.
 */
export const usualShare = (rows: readonly ActivityRow[]): UsualShare | null => greaterOf(rows, shareOfHours);

type Period = keyof typeof MINIMUM_SAMPLES;

function greaterOf(
  rows: readonly ActivityRow[],
  shareOf: (rows: readonly ActivityRow[], period: Period) => UsualShare | null,
): UsualShare | null {
  const byWeeks = shareOf(
    rows.filter(({ day }) => isOtherWeek(day)),
    'weeks',
  );
  const byDays = shareOf(
    rows.filter(({ day }) => !isOtherWeek(day)),
    'days',
  );
  if (byWeeks === null || byDays === null) return byWeeks ?? byDays;
  return byDays.share > byWeeks.share ? byDays : byWeeks;
}

/** Each sample is one hour of one day; half an affected order is added, since a share of few is uncertain. */
function shareOfHours(rows: readonly ActivityRow[], period: Period): UsualShare | null {
  const hours = rows.filter(({ seen }) => seen >= MINIMUM_ORDERS);
  if (hours.length < MINIMUM_SAMPLES[period]) return null;
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
export const usualShareOfSlice = (rows: readonly ActivityRow[]): UsualShare | null =>
  greaterOf(rows, shareOfSlice);

function shareOfSlice(rows: readonly ActivityRow[], period: Period): UsualShare | null {
  const byHours = shareOfHours(rows, period);
  const seen = rows.reduce((sum, row) => sum + row.seen, 0);
  if (byHours !== null || seen < ENOUGH_OF_SLICE) return byHours;
  const share = (rows.reduce((sum, row) => sum + row.hit, 0) + 0.5) / (seen + 1);
  const chance = (share * (1 - share)) / seen;
  return { share, spread: Math.sqrt(chance + (VARIATION_OF_SLICE * share) ** 2) };
}

/**
 * Without two days to compare with, half of the orders of the two hours before are expected: half, since
 * traffic falls in the evening. Its variance is unknown, so only `certainBelow` counts. Longer windows expect
 * nothing: the gateway may not have been known for most of that time.
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

/** By how much today's level may differ from that of other weeks, and from that of the last days. */
const LEVELS = { weeks: { least: 0.5, most: 1 }, days: { least: 0.5, most: 1.5 } } as const;

/**
 * What traffic is usual: the fewer orders of what other weeks and the last days make one expect. Weeks know
 * the day of the week, the last days know when the course of a day changed. Today's level counts too: on a
 * quiet day, such as a holiday, fewer orders are expected. For long windows the level is taken from before
 * the window.
 */
export function usualTraffic(rows: readonly ActivityRow[]): UsualTraffic {
  const byPlace = new Map(rows.map(({ day, place, seen }) => [day * 10_000 + place, seen]));
  const quarter: OrdersOf = (day, place) => byPlace.get(day * 10_000 + place) ?? 0;
  const days = [...new Set(rows.map(({ day }) => day))].filter((day) => day > 0);
  const known = [
    { days: days.filter(isOtherWeek), ...LEVELS.weeks },
    { days: days.filter((day) => !isOtherWeek(day)), ...LEVELS.days },
  ].filter((period) => period.days.length >= 2);
  const hour = sumOf(quarter, 0, LAST_HOUR);
  const [first] = known;
  if (first === undefined) {
    const before = sumOf(quarter, 0, [-COLD.seconds / QUARTER_SECONDS, 0]);
    const cold = (seconds: number): number =>
      seconds > COLD.seconds ? 0 : (seconds * COLD.part * before) / COLD.seconds;
    return { expected: cold, following: () => 0, noise: COLD.noise, hour };
  }
  const expectations = known.map((period) => expectationOf(quarter, period));
  return {
    expected: (seconds) => Math.min(...expectations.map(({ expected }) => expected(seconds))),
    following: (seconds) => Math.min(...expectations.map(({ following }) => following(seconds))),
    noise: noiseOf(first.days, quarter),
    hour,
  };
}

/** Orders of a quarter of an hour. */
type OrdersOf = (day: number, place: number) => number;
type Places = readonly [from: number, to: number];

function sumOf(quarter: OrdersOf, day: number, [from, to]: Places): number {
  let total = 0;
  for (let place = from; place < to; place++) total += quarter(day, place);
  return total;
}

/** What some days make one expect. */
function expectationOf(
  quarter: OrdersOf,
  { days, least, most }: { readonly days: readonly number[]; readonly least: number; readonly most: number },
): Pick<UsualTraffic, 'expected' | 'following'> {
  const usualIn = (places: Places): number => median(days.map((day) => sumOf(quarter, day, places)));
  // Today compared with these days; with few orders it stays near 1.
  const today = (places: Places, lowest: number, highest: number): number =>
    Math.min(highest, Math.max(lowest, (sumOf(quarter, 0, places) + 10) / (usualIn(places) + 10)));
  const levels = {
    long: today(HOURS_BEFORE, least, most),
    near: today(NEAR_HOURS, least, most),
    step: today(LAST_HOUR, 0.3, 1.2 * most),
  };
  const usual = (seconds: number): number => {
    // Centred where the window is short, the window itself where it is long.
    const [from, to] = seconds <= SHORT_SECONDS ? [-2, 2] : [-Math.ceil(seconds / QUARTER_SECONDS), 0];
    return (seconds / ((to - from) * QUARTER_SECONDS)) * usualIn([from, to]);
  };
  return {
    expected: (seconds) => usual(seconds) * (seconds <= SHORT_SECONDS ? levels.near : levels.long),
    following: (seconds) => (seconds <= SHORT_SECONDS ? usual(seconds) * levels.step : 0),
  };
}

function noiseOf(days: readonly number[], quarter: OrdersOf): number {
  const deviations: number[] = [];
  for (let place: number = VARIATION[0]; place < VARIATION[1]; place++) {
    const roots = days.map((day) => 2 * Math.sqrt(quarter(day, place) + 0.375));
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
