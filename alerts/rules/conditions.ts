import type { DropCondition, RuleWindow, ShareCondition } from './rule.ts';

/**
 * Windows and limits of the rules, each written once, with units in the names. A share is 0..1; counts are
 * distinct orders.
 */

/**
 * Standard deviations that chance is allowed beyond what is usual. A rule is evaluated 43,200 times a month.
 */
export const Z = { critical: 4.5, warning: 3.5, info: 3 } as const;
/** Beyond a fixed share: the healthy share lies far below it, so chance has much to bridge already. */
export const Z_FIXED = 3;

/** When a shorter window ends what a longer one still shows. */
export const RECOVERY = {
  /** Seen, or of a drop expected: with fewer, a window may be good by chance. */
  enoughOrders: 20,
  /** Where something is usual: nearer to that than to what is an incident, as a part of the way. */
  wayBack: 0.5,
} as const;

/**
 * Windows of a failure share. Busy gateways are judged within minutes; quiet ones need hours to have orders
 * enough. The longer ones want the recent past to look bad too, so that what is over ends.
 */
export const SHARE_WINDOWS: readonly RuleWindow[] = [
  // A stutter of a minute is in the window for five: the newest minute says whether it goes on.
  { windowSeconds: 300, confirmSeconds: 60 },
  { windowSeconds: 900, confirmSeconds: 300 },
  { windowSeconds: 3_600, confirmSeconds: 900 },
  { windowSeconds: 10_800, confirmSeconds: 3_600 },
];

/** Of baselines: what is usual is not zero, so quiet gateways need one more step between. */
export const BASELINE_WINDOWS: readonly RuleWindow[] = [
  { windowSeconds: 300 },
  { windowSeconds: 900, confirmSeconds: 300 },
  { windowSeconds: 3_600, confirmSeconds: 900 },
  { windowSeconds: 10_800, confirmSeconds: 3_600 },
  { windowSeconds: 21_600, confirmSeconds: 3_600 },
];

/** A symptom that a healthy gateway shows now and then. */
export const fixedShare = (shareAbove: number, minimumAffectedOrders: number, z: number): ShareCondition => ({
  windows: SHARE_WINDOWS,
  shareAbove,
  minimumAffectedOrders,
  z,
});

/**
 * The same with a higher share on the shortest window. When 30 % of the orders fail for two minutes, the window
 * of five has 9 % of them after a minute and a half, and 12 % a minute later: however the evaluations lie, it
 * holds at one of them at most.
 */
export const afterStutter = (condition: ShareCondition, shareAbove: number): ShareCondition => ({
  ...condition,
  windows: condition.windows.map((window, index) => (index === 0 ? { ...window, shareAbove } : window)),
});

/** A symptom whose usual share differs from gateway to gateway and from hour to hour. */
export const aboveBaseline = (
  rise: number,
  coldShare: number,
  minimumAffectedOrders: number,
  z: number,
): ShareCondition => ({
  windows: BASELINE_WINDOWS,
  shareAbove: coldShare,
  minimumAffectedOrders,
  z,
  baseline: { rise },
});

/** Something that never happens by itself: a few orders within the window are enough. */
export const anyOrders = (minimumAffectedOrders: number, windowSeconds: number): ShareCondition => ({
  windows: [{ windowSeconds }],
  shareAbove: 0,
  minimumAffectedOrders,
  z: Z.info,
});

/** Technical success objective, over thirty days. */
export const OBJECTIVE = 0.99;

/**
 * Burn rates (Google's SRE workbook, with 30 days): so many times faster than the objective allows, over a
 * long and a short window. The fast pair spends 2 % of the month's budget in an hour, or 5 % in six.
 */
const burn = (windowSeconds: number, confirmSeconds: number, factor: number): RuleWindow => ({
  windowSeconds,
  confirmSeconds,
  shareAbove: Number((factor * (1 - OBJECTIVE)).toPrecision(6)),
});
export const FAST_BURN: ShareCondition = {
  windows: [burn(3_600, 300, 14.4), burn(21_600, 1_800, 6)],
  shareAbove: 1 - OBJECTIVE,
  minimumAffectedOrders: 10,
  z: Z.critical,
};
export const SLOW_BURN: ShareCondition = {
  windows: [burn(86_400, 7_200, 3), burn(259_200, 21_600, 1)],
  shareAbove: 1 - OBJECTIVE,
  minimumAffectedOrders: 20,
  z: Z.warning,
};

export const TRAFFIC_DROP: DropCondition = {
  windows: [
    { windowSeconds: 300 },
    { windowSeconds: 900 },
    { windowSeconds: 3_600 },
    { windowSeconds: 10_800 },
  ],
  minimumExpectedOrders: 10,
  // Traffic varies with weather, holidays and campaigns, as shares do not.
  z: 5,
  below: 0.57,
  certainBelow: 0.25,
  step: { below: 0.65, variation: 0.06 },
};
export const ANTIFRAUD_SILENT: DropCondition = {
  windows: [
    { windowSeconds: 3_600 },
    { windowSeconds: 10_800 },
    { windowSeconds: 43_200 },
    { windowSeconds: 86_400 },
  ],
  minimumExpectedOrders: 8,
  z: 4,
  below: 0.2,
  certainBelow: 0.2,
};
