import { lengthsOf } from '../count/windows.ts';
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
 */
export function judgeShare(
  rule: ShareRule,
  counts: WindowCounts,
  usual: UsualShare | null,
  settings: ShareSettings,
): Verdict {
  const { condition } = rule;
  const lengths = lengthsOf(rule);
  const share = usual?.share ?? settings.shareAbove;
  const windows = condition.windows.map(({ windowSeconds, confirmSeconds, shareAbove }) => {
    // A window with a share of its own scales with the gateway's.
    const p = Math.min(1, share * ((shareAbove ?? condition.shareAbove) / condition.shareAbove || 1));
    const n = counts.seen(windowSeconds);
    const limit = limitOrders(n, p, usual?.spread ?? 0, settings.minimumAffectedOrders, condition);
    const isBad = (seconds: number): boolean => counts.hit(seconds) > p * counts.seen(seconds);
    const isOver = lengths.some(
      (length) => length < windowSeconds && isRecovered(counts, length, p, condition),
    );
    const holds =
      counts.hit(windowSeconds) >= limit &&
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

/** A window whose share is no higher shows that an incident is over, if it has orders enough. */
function isRecovered(counts: WindowCounts, length: number, p: number, { baseline }: ShareCondition): boolean {
  const n = counts.seen(length);
  const over = baseline === undefined ? p : p + RECOVERY.wayBack * baseline.rise;
  return n >= RECOVERY.enoughOrders && counts.hit(length) <= over * n;
}

/**
 * How many affected orders out of n are beyond chance when the share is p: the lower Wilson bound of a/n lies
 * above p exactly when a exceeds n p + z sqrt(n p (1 - p)). `spread` adds how much the share itself varies
 * from hour to hour.
 */
export function limitOrders(
  n: number,
  p: number,
  spread: number,
  minimum: number,
  { z, baseline }: Pick<ShareCondition, 'z' | 'baseline'>,
): number {
  const variance = n * p * (1 - p) + (baseline === undefined ? 0 : (n * spread) ** 2);
  const beyond = n * p + z * Math.sqrt(variance);
  if (baseline === undefined) return Math.max(minimum, Math.floor(beyond) + 1);
  // Counts of few orders have a longer tail upwards than the normal curve: the third term of Cornish and
  // Fisher.
  const tail = ((z ** 2 - 1) / 6) * (1 - 2 * p);
  return Math.max(minimum, Math.floor(beyond + tail) + 1, Math.floor(n * (p + baseline.rise)) + 1);
}
