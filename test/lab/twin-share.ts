import { RECOVERY } from '../../alerts/rules/conditions.ts';
import type { ShareCondition, ShareRule } from '../../alerts/rules/rule.ts';
import type { Measure } from './counts.ts';
import { WEEK } from './seasons.ts';

/** What a rule says about one label at one instant, as its queries would. */
export interface Verdict {
  readonly affected: number;
  readonly seen: number;
  readonly limit: number;
  readonly holds: boolean;
}

export interface ShareCounts {
  readonly seen: Measure;
  readonly hit: Measure;
  /** As the quarter-hour activity counts them; only rules with a baseline have these. */
  readonly usualSeen: Measure;
  readonly usualHit: Measure;
}

/**
 * Numbers of `alerts/count/share-sql.ts` and `baseline.ts` that have no name to import. Equality with the SQL
 * is tested.
 */
const MINIMUM_SAMPLES = 4;
const WEEKS = 4;
const MAD_TO_SIGMA = 1.4826;
const MEDIAN_VARIANCE = 1.5708;
const SPREAD_ROOM = 2.25;
const QUARTER = 15;

interface Usual {
  readonly share: number;
  readonly spread: number;
}

export interface ShareTwin {
  readonly verdict: (known: number, end: number, at: number) => Verdict;
  /** Whether the condition holds; quick where it plainly does not. */
  readonly holds: (known: number, end: number, at: number) => boolean;
}

/**
 * The statistics of a share rule in TypeScript: the twin of `shareBody`, evaluated for any minute from
 * running sums.
 */
export function createShareTwin(rule: ShareRule, counts: ShareCounts): ShareTwin {
  const { condition } = rule;
  const windows = condition.windows.map(({ windowSeconds, confirmSeconds, shareAbove }) => ({
    minutes: windowSeconds / 60,
    confirm: confirmSeconds === undefined ? null : confirmSeconds / 60,
    share: Math.min(1, shareAbove ?? condition.shareAbove),
  }));
  const usualAt = condition.baseline === undefined ? null : createUsual(condition, counts);
  const lengths = [
    ...new Set(windows.flatMap(({ minutes, confirm }) => [minutes, confirm ?? minutes])),
  ].toSorted((a, b) => a - b);
  const longest = lengths.at(-1) ?? 0;
  const verdict: ShareTwin['verdict'] = (known, end, at) => {
    const usual = usualAt === null ? null : usualAt(at);
    const seen = windows.map(({ minutes }) => counts.seen.within(known, end, minutes));
    const hit = windows.map(({ minutes }) => counts.hit.within(known, end, minutes));
    const limits = windows.map(({ share }, index) =>
      limitOrders(seen[index] ?? 0, usual?.share ?? share, usual?.spread ?? 0, condition),
    );
    const held = windows.findIndex(({ minutes, confirm, share }, index) => {
      if ((hit[index] ?? 0) < (limits[index] ?? 0)) return false;
      const p = usual?.share ?? share;
      const over = p + RECOVERY.wayBack * (condition.baseline?.rise ?? 0);
      const recovered = lengths.some((length) => {
        if (length >= minutes) return false;
        const n = counts.seen.within(known, end, length);
        return n >= RECOVERY.enoughOrders && counts.hit.within(known, end, length) <= over * n;
      });
      if (recovered) return false;
      return (
        confirm === null ||
        counts.hit.within(known, end, confirm) > p * counts.seen.within(known, end, confirm)
      );
    });
    const enough = seen.findIndex((n) => n >= RECOVERY.enoughOrders);
    const chosen = held !== -1 ? held : enough !== -1 ? enough : windows.length - 1;
    const limit = limits[chosen] ?? 0;
    const affected = hit[chosen] ?? 0;
    return {
      affected,
      seen: seen[chosen] ?? 0,
      limit: held !== -1 ? limit : Math.max(limit, affected + 1),
      holds: held !== -1,
    };
  };
  return {
    verdict,
    holds: (known, end, at) =>
      counts.hit.within(known, end, longest) >= condition.minimumAffectedOrders &&
      verdict(known, end, at).holds,
  };
}

/** The twin of `limitOrders`. */
export function limitOrders(n: number, p: number, spread: number, condition: ShareCondition): number {
  const variance = n * p * (1 - p) + (condition.baseline === undefined ? 0 : (n * spread) ** 2);
  const tail = condition.baseline === undefined ? 0 : ((condition.z ** 2 - 1) / 6) * (1 - 2 * p);
  const beyondChance = Math.floor(n * p + condition.z * Math.sqrt(variance) + tail) + 1;
  const rise = condition.baseline === undefined ? 0 : Math.floor(n * (p + condition.baseline.rise)) + 1;
  return Math.max(condition.minimumAffectedOrders, beyondChance, rise);
}

/** The twin of `shareBaseline`: it changes with the quarter of the hour only. */
function createUsual(condition: ShareCondition, { usualSeen, usualHit }: ShareCounts): (at: number) => Usual {
  const known = new Map<number, Usual>();
  return (at) => {
    const quarter = Math.floor(at / QUARTER);
    const before = known.get(quarter);
    if (before !== undefined) return before;
    const usual = usualOf(quarter * QUARTER, condition, usualSeen, usualHit);
    known.set(quarter, usual);
    return usual;
  };
}

/**
 * Quarters relative to the evaluation's own, by hour; the last one is the quarter that the range just
 * touches.
 */
const HOURS = [
  [-8, -4],
  [-4, 0],
  [0, 4],
  [4, 5],
] as const;

function usualOf(start: number, condition: ShareCondition, seen: Measure, hit: Measure): Usual {
  const shares: number[] = [];
  const orders: number[] = [];
  for (let week = 1; week <= WEEKS; week++)
    for (const [first, last] of HOURS) {
      const from = start - week * WEEK + first * QUARTER;
      const to = start - week * WEEK + last * QUARTER;
      const n = seen.between(from, to);
      if (n < 5) continue;
      shares.push((hit.between(from, to) + 0.5) / (n + 1));
      orders.push(n);
    }
  if (shares.length < MINIMUM_SAMPLES) return { share: condition.shareAbove, spread: 0 };
  const middle = medianExact(shares);
  const mad = medianExact(shares.map((share) => Math.abs(share - middle)));
  const chance = (middle * (1 - middle)) / Math.max(1, medianExact(orders));
  const total = orders.reduce((sum, n) => sum + n, 0);
  const known = (MEDIAN_VARIANCE * middle * (1 - middle)) / Math.max(1, total);
  const varied = SPREAD_ROOM * Math.max(0, (MAD_TO_SIGMA * mad) ** 2 - chance);
  return { share: middle, spread: Math.sqrt(varied + known) };
}

/** ClickHouse's `medianExact`: the upper one of two. */
export function medianExact(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
