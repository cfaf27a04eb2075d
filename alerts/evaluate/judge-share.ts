import { judgedLengthsOf } from '../count/windows.ts';
import { RECOVERY } from '../rules/conditions.ts';
import type { ShareCondition, ShareRule } from '../rules/rule.ts';

/** Orders of one label by the length of a window that ends now, in seconds. */
export interface WindowCounts {
  readonly seen: (windowSeconds: number) => number;
  readonly hit: (windowSeconds: number) => number;
}

/** What is usual at this hour: a share of 0 to 1, and by how much it varies beyond chance. */
export interface UsualShare {
  readonly share: number;
  readonly spread: number;
}

/** What a rule says of one label at one instant. */
export interface Verdict {
  /**
   * Length of the window that it judges by: that of the incident, or else the shortest with orders enough.
   */
  readonly windowSeconds: number;
  readonly seen: number;
  readonly affected: number;
  /** Null: the rule has no expectation, or does not know it yet. */
  readonly expected: number | null;
  readonly limit: number;
  readonly holds: boolean;
}

/** The numbers of a share rule that a configuration can set. */
export interface ShareSettings {
  readonly shareAbove: number;
  readonly minimumAffectedOrders: number;
}

/**
 * When a share is an incident: see `ShareCondition`. While it is none, the limit is out of reach, so that
 * `affected >= limit` says the same as `holds`.
 *
 * @param amongSlices of a slice, how many there are; null: the whole gateway
 */
export function judgeShare(
  rule: ShareRule,
  counts: WindowCounts,
  usual: UsualShare | null,
  settings: ShareSettings,
  amongSlices: number | null = null,
): Verdict {
  const condition = { ...rule.condition, z: zAmong(rule.condition.z, amongSlices ?? 1) };
  const fixedShare =
    amongSlices === null ? settings.shareAbove : Math.max(settings.shareAbove, COLD_SLICE_SHARE);
  const lengths = judgedLengthsOf(rule);
  const isAnothers = isAboveAll(rule.condition, counts, settings);
  const windows = condition.windows.map(({ windowSeconds, confirmSeconds, shareAbove }) => {
    // A window with a share of its own scales with the gateway's.
    const scale = (shareAbove ?? condition.shareAbove) / condition.shareAbove || 1;
    const floor = settings.shareAbove * scale;
    const p = Math.min(1, usual?.share ?? fixedShare * scale);
    const rise = riseOf(condition, usual === null ? 0 : floor, amongSlices !== null);
    const n = counts.seen(windowSeconds);
    const { z } = condition;
    const limit = limitOrders(n, p, usual?.spread ?? 0, settings.minimumAffectedOrders, { z, rise });
    const over = p + RECOVERY.wayBack * (rise ?? 0);
    // Beyond a floor, a few affected orders are no sign that an incident goes on.
    const bad = condition.baseline?.rise === 'floor' ? p + (rise ?? 0) : over;
    const isBad = (seconds: number): boolean => counts.hit(seconds) > bad * counts.seen(seconds);
    const isOver = lengths.some((length) => length < windowSeconds && isRecovered(counts, length, over));
    const holds =
      counts.hit(windowSeconds) >= limit &&
      !isAnothers &&
      (confirmSeconds === undefined || isBad(confirmSeconds)) &&
      !isOver;
    return { windowSeconds, p, n, limit, holds };
  });
  const chosen =
    windows.find(({ holds }) => holds) ??
    windows.find(({ n }) => n >= RECOVERY.enoughOrders) ??
    windows.at(-1);
  if (chosen === undefined) throw new Error(`${rule.name} has no window`);
  const affected = counts.hit(chosen.windowSeconds);
  return {
    windowSeconds: chosen.windowSeconds,
    seen: chosen.n,
    affected,
    expected: usual === null ? null : chosen.n * chosen.p,
    limit: chosen.holds ? chosen.limit : Math.max(chosen.limit, affected + 1),
    holds: chosen.holds,
  };
}

/**
 * What payers and issuers do differs more from hour to hour in a slice than in the whole: there it has to
 * rise by so much more.
 */
const RISE_OF_SLICE = 2;
/** Of a slice of which it is not known what is usual, so great a part has to be affected at least. 0..1. */
const COLD_SLICE_SHARE = 0.25;

/**
 * Standard deviations that chance is allowed where the worst of several is looked for: the largest of so many
 * is larger than one by about this much.
 */
const zAmong = (z: number, comparisons: number): number =>
  Math.sqrt(z ** 2 + 2 * Math.log(Math.max(1, comparisons)));

/** By how much the usual share must be exceeded, where a floor is known; null: nothing is usual. */
function riseOf({ baseline }: ShareCondition, floor: number, isSlice: boolean): number | null {
  if (baseline === undefined) return null;
  if (baseline.rise === 'floor') return floor;
  return isSlice ? RISE_OF_SLICE * baseline.rise : baseline.rise;
}

/** Are so many orders affected that another rule names the cause? See `unlessAbove`. */
const isAboveAll = (
  { unlessAbove }: ShareCondition,
  counts: WindowCounts,
  { minimumAffectedOrders }: ShareSettings,
): boolean =>
  unlessAbove?.windowsSeconds.some((seconds) => {
    const hit = counts.hit(seconds);
    return hit >= minimumAffectedOrders && hit > unlessAbove.share * counts.seen(seconds);
  }) ?? false;

/** A window whose share is no higher shows that an incident is over, if it has orders enough. */
function isRecovered(counts: WindowCounts, length: number, over: number): boolean {
  const n = counts.seen(length);
  return n >= RECOVERY.enoughOrders && counts.hit(length) <= over * n;
}

/**
 * How many affected orders out of n are beyond chance when the share is p: the lower Wilson bound of a/n lies
 * above p exactly when a exceeds n p + z sqrt(n p (1 - p)). `spread` adds how much the share itself varies
 * from hour to hour. With a rise, the share must also exceed p by that much.
 */
export function limitOrders(
  n: number,
  p: number,
  spread: number,
  minimum: number,
  { z, rise }: { readonly z: number; readonly rise: number | null },
): number {
  const variance = n * p * (1 - p) + (rise === null ? 0 : (n * spread) ** 2);
  const beyond = n * p + z * Math.sqrt(variance);
  if (rise === null) return Math.max(minimum, Math.floor(beyond) + 1);
  // Counts of few orders have a longer tail upwards than the normal curve: the third term of Cornish and
  // Fisher.
  const tail = ((z ** 2 - 1) / 6) * (1 - 2 * p);
  return Math.max(minimum, Math.floor(beyond + tail) + 1, Math.floor(n * (p + rise)) + 1);
}
