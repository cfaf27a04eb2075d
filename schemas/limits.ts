/**
 * Limits that an alert rule and a panel share, each written once, with its unit in its name. A share is 0..1.
 */

/** What is promised over `days`, as shares of orders. */
export const OBJECTIVES = {
  days: 30,
  /** Finished orders without a technical failure. */
  technicalSuccess: 0.99,
  /** Finished orders with an item of the merchant callback (stage 6) in time. */
  merchantCallbacks: 0.99,
} as const;

/** The share of orders that may miss an objective. */
export const errorBudget = (objective: number): number => Number((1 - objective).toPrecision(6));

/** One burn rate: how many times faster than the objective allows its error budget is spent. */
export interface BurnRate {
  readonly windowSeconds: number;
  /** A shorter window at the end of it that must burn as fast: it is not over yet. */
  readonly confirmSeconds: number;
  readonly factor: number;
}

/**
 * Burn rates that are an incident (Google's SRE workbook, with 30 days). The fast pair spends 2 % of the
 * month's budget in an hour, or 5 % in six.
 */
export const BURN_RATES = {
  hour: { windowSeconds: 3_600, confirmSeconds: 300, factor: 14.4 },
  sixHours: { windowSeconds: 21_600, confirmSeconds: 1_800, factor: 6 },
  day: { windowSeconds: 86_400, confirmSeconds: 7_200, factor: 3 },
  threeDays: { windowSeconds: 259_200, confirmSeconds: 21_600, factor: 1 },
} as const satisfies Record<string, BurnRate>;

/** Orders that somebody judged and did not approve, where nothing is known of other weeks yet. */
export const NOT_APPROVED = { aboveShare: 0.6 } as const;
/** Status requests of ours without a usable answer. */
export const UNREADABLE = { aboveShare: 0.1 } as const;
/** Age of a gateway's watermark: how far behind our picture of it is. Longer than a restart takes. */
export const PICTURE_BEHIND = { aboveSeconds: 60 } as const;
/** Messages that wait in Kafka. */
export const MESSAGES_WAITING = { aboveMessages: 10_000 } as const;
/** A transaction in Kafka that messages wait for: brokers end one after a minute by default. */
export const TRANSACTION_OPEN = { aboveSeconds: 120 } as const;
/** How far the clocks of gateway and collector may differ, and from where on rules look past the history. */
export const CLOCK_SKEW = { aboveSeconds: 5, blindAboveSeconds: 600 } as const;
/** Circuits of a gateway: any open one is too many. */
export const CIRCUITS = { aboveOpen: 0 } as const;
/** How long after its decision an order's merchant callback (stage 6) is due. */
export const MERCHANT_CALLBACK = { withinSeconds: 600 } as const;
/** How long after it entered processing an order should be decided. */
export const STUCK = { afterSeconds: 1_800 } as const;
