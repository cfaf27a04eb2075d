import type { DropGate, Rung, ShareGate } from './rule.ts';

/**
 * Windows and limits of the rules, each written once, with units in the names. A share is 0..1; counts are distinct orders.
 */

/** Standard deviations that chance is allowed. A rule is evaluated 43,200 times a month, and only critical ones wake people. */
export const Z = { critical: 4.5, warning: 4, info: 3 } as const;

/**
 * Windows of a failure share. Busy gateways are judged within minutes; quiet ones need hours to have orders enough. The
 * longer ones want the recent past to look bad too, so that what is over ends.
 */
export const SHARE_RUNGS: readonly Rung[] = [
  { windowSeconds: 300 },
  { windowSeconds: 900, confirmSeconds: 300 },
  { windowSeconds: 3_600, confirmSeconds: 900 },
  { windowSeconds: 10_800, confirmSeconds: 3_600 },
];

/** Of baselines: what is usual is not zero, so quiet gateways need one more step between. */
export const BASELINE_RUNGS: readonly Rung[] = [
  { windowSeconds: 300 },
  { windowSeconds: 900, confirmSeconds: 300 },
  { windowSeconds: 3_600, confirmSeconds: 900 },
  { windowSeconds: 7_200, confirmSeconds: 3_600 },
  { windowSeconds: 10_800, confirmSeconds: 3_600 },
];

/** A symptom that a healthy gateway shows now and then. */
export const fixedShare = (shareAbove: number, minimumAffectedOrders: number, z: number): ShareGate => ({
  rungs: SHARE_RUNGS,
  shareAbove,
  minimumAffectedOrders,
  z,
});

/** A symptom whose usual share differs from gateway to gateway and from hour to hour. */
export const aboveBaseline = (
  rise: number,
  coldShare: number,
  minimumAffectedOrders: number,
  z: number,
): ShareGate => ({
  rungs: BASELINE_RUNGS,
  shareAbove: coldShare,
  minimumAffectedOrders,
  z,
  baseline: { rise },
});

/** Something that never happens by itself: a few orders within the window are enough. */
export const anyOrders = (minimumAffectedOrders: number, windowSeconds: number): ShareGate => ({
  rungs: [{ windowSeconds }],
  shareAbove: 0,
  minimumAffectedOrders,
  z: Z.info,
});

/** Technical success objective, over thirty days. */
export const OBJECTIVE = 0.99;

/**
 * Burn rates (Google's SRE workbook, with 30 days): so many times faster than the objective allows, over a long and a short
 * window. The fast pair spends 2 % of the month's budget in an hour, or 5 % in six.
 */
const burn = (windowSeconds: number, confirmSeconds: number, factor: number): Rung => ({
  windowSeconds,
  confirmSeconds,
  shareAbove: Number((factor * (1 - OBJECTIVE)).toPrecision(6)),
});
export const FAST_BURN: ShareGate = {
  rungs: [burn(3_600, 300, 14.4), burn(21_600, 1_800, 6)],
  shareAbove: 1 - OBJECTIVE,
  minimumAffectedOrders: 10,
  z: Z.critical,
};
export const SLOW_BURN: ShareGate = {
  rungs: [burn(86_400, 7_200, 3), burn(259_200, 21_600, 1)],
  shareAbove: 1 - OBJECTIVE,
  minimumAffectedOrders: 20,
  z: Z.warning,
};

export const TRAFFIC_DROP: DropGate = {
  rungs: [
    { windowSeconds: 300 },
    { windowSeconds: 900 },
    { windowSeconds: 3_600 },
    { windowSeconds: 10_800 },
  ],
  minimumExpectedOrders: 10,
  z: Z.critical,
  below: 0.65,
};
export const ANTIFRAUD_SILENT: DropGate = {
  rungs: [{ windowSeconds: 3_600 }, { windowSeconds: 10_800 }],
  minimumExpectedOrders: 10,
  z: Z.warning,
  below: 0.2,
};
