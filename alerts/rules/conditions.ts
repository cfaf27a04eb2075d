import { BURN_RATES, type BurnRate, errorBudget, OBJECTIVES } from '../../schemas/limits.ts';
import type { DropCondition, RuleWindow, ShareCondition } from './rule.ts';

/**
 * Windows and limits of the rules, each written once, with units in the names. A share is 0..1; counts are
 * distinct orders.
 */

/**
 * Standard deviations that chance is allowed beyond what is usual. A rule is evaluated 43,200 times a month.
 */
export const Z = { critical: 4.5, warning: 3.5, info: 3 } as const;
/** Beyond a fixed share. Less is enough there, since the healthy share lies far below the fixed one. */
export const Z_FIXED = 3;

/** When a shorter window shows that an incident is over, though a longer window still contains it. */
export const RECOVERY = {
  /**
   * Orders that the shorter window needs, seen or (of a drop) expected: with fewer it may be good by chance.
   */
  enoughOrders: 20,
  /** With a baseline: how far back from the incident's limit to the usual share counts as over. 0..1. */
  wayBack: 0.5,
} as const;

/**
 * Windows of a failure share. Busy gateways are judged within minutes; quiet ones need hours to have orders
 * enough. The longer ones also need a bad recent past, so that they end soon after the incident.
 */
const SHARE_WINDOWS: readonly RuleWindow[] = [
  // A failure of one minute stays in the window for five: the newest minute shows whether it goes on.
  { windowSeconds: 300, confirmSeconds: 60 },
  { windowSeconds: 900, confirmSeconds: 300 },
  { windowSeconds: 3_600, confirmSeconds: 900 },
  { windowSeconds: 10_800, confirmSeconds: 3_600 },
];

/**
 * For shares with a baseline: the usual share is not zero, so quiet gateways need one more, longer window.
 */
const BASELINE_WINDOWS: readonly RuleWindow[] = [
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
 * The same beyond what is usual at the gateway: a provider that always refuses some orders pages nobody for
 * it. Until that is known, beyond the fixed share with more evidence.
 */
export const aboveFloor = (shareAbove: number, minimumAffectedOrders: number, z: number): ShareCondition => ({
  ...fixedShare(shareAbove, minimumAffectedOrders, z),
  baseline: { rise: 'floor' },
});

/**
 * The same with a higher share in the shortest window, so that a failure of two minutes does not page: when
 * 30 % of the orders fail for that long, the five-minute window has 9 % after a minute and a half and 12 % a
 * minute later, so the condition holds at no more than one evaluation.
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

const TECHNICAL_BUDGET = errorBudget(OBJECTIVES.technicalSuccess);
/** A burn rate of the technical success objective, as a window with its share. */
const burn = ({ factor, ...windows }: BurnRate): RuleWindow => ({
  ...windows,
  shareAbove: Number((factor * TECHNICAL_BUDGET).toPrecision(6)),
});
export const FAST_BURN: ShareCondition = {
  windows: [burn(BURN_RATES.hour), burn(BURN_RATES.sixHours)],
  shareAbove: TECHNICAL_BUDGET,
  minimumAffectedOrders: 10,
  z: Z.critical,
};
export const SLOW_BURN: ShareCondition = {
  windows: [burn(BURN_RATES.day), burn(BURN_RATES.threeDays)],
  shareAbove: TECHNICAL_BUDGET,
  minimumAffectedOrders: 20,
  z: Z.warning,
};

export const TRAFFIC_DROP: DropCondition = {
  windows: [
    { windowSeconds: 300 },
    { windowSeconds: 900 },
    { windowSeconds: 3_600 },
    { windowSeconds: 10_800 },
    // A gateway of ten orders an hour has hardly any in three hours of the night.
    { windowSeconds: 21_600 },
  ],
  minimumExpectedOrders: 10,
  // Traffic varies with weather, holidays and campaigns; shares do not.
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

/**
 * When an order counts as read again, after its decision became known, and when that is judged: for the
 * default re-reads, after 60, 180 and 630 s. `alerts/settings.ts` works out both for those that are
 * configured.
 */
export const REREADS = { kind: 'rereads', judgedAfterSeconds: 900, rereadFromSeconds: 405 } as const;
