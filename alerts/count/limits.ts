import { RECOVERY } from '../rules/gates.ts';
import type { DropGate, DropStep, ShareGate } from '../rules/rule.ts';

/** The arithmetic of gates, as SQL expressions over the columns that `sql.ts` gives them. */

/**
 * How many affected orders out of n are beyond chance when the share is p: the lower Wilson bound of a/n lies
 * above p exactly when a exceeds n p + z sqrt(n p (1 - p)). `spread` adds how much the share itself varies
 * from hour to hour.
 */
export function limitOrders(n: string, p: string, { z, baseline }: ShareGate): string {
  const variance = `${n} * ${p} * (1 - ${p})${baseline === undefined ? '' : ` + pow(${n} * spread, 2)`}`;
  const beyond = `${n} * ${p} + ${z} * sqrt(${variance})`;
  if (baseline === undefined) return `greatest(minimum, floor(${beyond}) + 1)`;
  // Counts of few orders have a longer tail upwards than the normal curve: the third term of Cornish and
  // Fisher.
  const tail = `${Number(((z ** 2 - 1) / 6).toPrecision(9))} * (1 - 2 * ${p})`;
  return `greatest(minimum, floor(${beyond} + ${tail}) + 1, floor(${n} * (${p} + ${baseline.rise})) + 1)`;
}

/** A window whose share is no higher shows that it is over. */
export const recoveredShare = (p: string, { baseline }: ShareGate): string =>
  baseline === undefined ? p : `(${p} + ${RECOVERY.wayBack * baseline.rise})`;

/**
 * So many orders are too few by a limit on the scale of 2 sqrt(n + 3/8), where chance has the same spread at
 * every volume; -1: none are.
 */
export const ordersBelow = (root: string): string => `ceil(pow(greatest(0, ${root}) / 2, 2) - 0.375) - 1`;

/**
 * The limits, by whichever says more: other weeks, or the hour before. What that hour makes one expect is
 * known as well as its own orders are many. Traffic strays from it half as far as from other weeks, and never
 * less than the gate says.
 */
export const stepLimits = ({ below, z }: DropGate, step: DropStep, lengths: readonly number[]): string =>
  `arrayMap((l, e, w) -> if(e < minimum, l, greatest(l, least(floor(${Number((step.below / below).toPrecision(9))} * below * e), ${ordersBelow(
    `(2 * sqrt(e + 0.375) - ${z} * sqrt(1 + e / hour + greatest(${step.variation ** 2} * e, (pow(noise, 2) - 1) * w / 3600)))`,
  )}))), by_weeks, following_in, [${lengths.join(', ')}])`;
