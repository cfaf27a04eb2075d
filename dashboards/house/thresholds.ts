/**
 * Limits that panels draw and rules fire on, each written once, with its unit in its name. A share is 0..1;
 * counts are distinct orders.
 */

/**
 * When a share counts as an incident: at least `minimumAffectedOrders` orders in the window, and a share
 * whose lower Wilson bound is above `shareAbove`. The bound needs no fixed volume: few orders must all be
 * bad, many only a little.
 */
export interface ShareGate {
  readonly windowSeconds: number;
  readonly shareAbove: number;
  readonly minimumAffectedOrders: number;
}

/** Timeouts come and go in small numbers; one in twenty orders is beyond what a retry hides. */
export const TECH_TIMEOUTS: ShareGate = { windowSeconds: 900, shareAbove: 0.05, minimumAffectedOrders: 10 };
/** Refused access is never normal, so the share may be small; the count keeps out a single misread order. */
export const AUTHZ_FAILURES: ShareGate = { windowSeconds: 900, shareAbove: 0.02, minimumAffectedOrders: 6 };
/** A signature that does not match means a wrong key or a forger. */
export const SIGNATURE_MISMATCHES: ShareGate = {
  windowSeconds: 900,
  shareAbove: 0.01,
  minimumAffectedOrders: 6,
};

/** Share of finished orders that did not fail for a technical reason. */
export const TECHNICAL_SUCCESS = { warnBelowShare: 0.99, badBelowShare: 0.95 } as const;
/** Share of judged orders that were paid. Markets differ widely: these only mark what is unusual anywhere. */
export const APPROVAL = { warnBelowShare: 0.7, badBelowShare: 0.5 } as const;
/** From an order's first item to its deciding one. */
export const TIME_TO_FINAL = { warnAboveSeconds: 300, badAboveSeconds: 900 } as const;
/** Age of a gateway's watermark: how far behind our picture of it is. */
export const FRESHNESS = { warnAboveSeconds: 60, badAboveSeconds: 300 } as const;
/** Messages that wait in Kafka. */
export const CONSUMER_LAG = { warnAboveMessages: 1_000, badAboveMessages: 10_000 } as const;
/** Share of the watched orders whose next read is not overdue: how much of what we know is fresh. */
export const COVERAGE = { warnBelowShare: 0.95, badBelowShare: 0.8 } as const;
/**
 * Orders with a failed operation at a stage, out of the orders seen there. Declines are successful
 * operations.
 */
export const OPERATION_FAILURES = { warnAboveShare: 0.02, badAboveShare: 0.1 } as const;
/** Status requests of ours that brought no usable answer. */
export const POLL_FAILURES = { warnAboveShare: 0.05, badAboveShare: 0.25 } as const;
/** How long the gateway takes to answer a status request. */
export const POLL_DURATION = { warnAboveMs: 2_000, badAboveMs: 5_000 } as const;
/** How much later than planned a status request goes out: the budget is too small for the orders watched. */
export const POLL_LATENESS = { warnAboveMs: 5_000, badAboveMs: 30_000 } as const;
/**
 * Share of the requests a second, or at once, that the configuration allows: near 1, orders wait for their
 * reads.
 */
export const POLL_BUDGET = { warnAboveShare: 0.8, badAboveShare: 0.95 } as const;
/** From an item's own time to our first sight of it. */
export const ARRIVAL_DELAY = { warnAboveSeconds: 120, badAboveSeconds: 600 } as const;
/**
 * Payers who submitted the payment form, out of those it was presented to. Markets differ: only what is
 * unusual anywhere.
 */
export const FORM_SUBMITTED = { warnBelowShare: 0.6, badBelowShare: 0.4 } as const;
/** Payers who failed 3-D Secure or the one-time password, out of those who submitted. */
export const CONFIRM_FAILURES = { warnAboveShare: 0.1, badAboveShare: 0.25 } as const;
/** Batches of stored rows whose spans are not exported yet. */
export const SPAN_BACKLOG = { warnAboveBatches: 100, badAboveBatches: 1_000 } as const;
