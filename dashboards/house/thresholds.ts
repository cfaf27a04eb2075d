import {
  BURN_RATES,
  errorBudget,
  MESSAGES_WAITING,
  NOT_APPROVED,
  OBJECTIVES,
  PICTURE_BEHIND,
  UNREADABLE,
} from '../../schemas/limits.ts';

/**
 * Limits that colour panels, each written once, with its unit in its name; those that a rule has too come
 * from `schemas/limits.ts`. A share is 0..1; counts are distinct orders.
 */

/**
 * Share of finished orders that did not fail for a technical reason: the objective, and where six hours spend
 * its error budget so fast that a rule pages.
 */
export const TECHNICAL_SUCCESS = {
  warnBelowShare: OBJECTIVES.technicalSuccess,
  badBelowShare: Number(
    (1 - BURN_RATES.sixHours.factor * errorBudget(OBJECTIVES.technicalSuccess)).toPrecision(6),
  ),
} as const;
/** What is left of an error budget. Below zero the objective is missed. */
export const ERROR_BUDGET = { warnBelowShare: 0.25, badBelowShare: 0 } as const;
/** Share of judged orders that were paid. Markets differ widely: these only mark what is unusual anywhere. */
export const APPROVAL = {
  warnBelowShare: 0.7,
  badBelowShare: Number((1 - NOT_APPROVED.aboveShare).toPrecision(6)),
} as const;
/** From an order's first item to its deciding one. */
export const TIME_TO_FINAL = { warnAboveSeconds: 300, badAboveSeconds: 900 } as const;
/** Age of a gateway's watermark: how far behind our picture of it is. */
export const FRESHNESS = { warnAboveSeconds: 30, badAboveSeconds: PICTURE_BEHIND.aboveSeconds } as const;
/** Messages that wait in Kafka. */
export const CONSUMER_LAG = {
  warnAboveMessages: 1_000,
  badAboveMessages: MESSAGES_WAITING.aboveMessages,
} as const;
/** Share of the watched orders whose next read is not overdue: how much of what we know is fresh. */
export const COVERAGE = { warnBelowShare: 0.95, badBelowShare: 0.8 } as const;
/**
 * Orders with a failed operation at a stage, out of the orders seen there. Declines are successful
 * operations.
 */
export const OPERATION_FAILURES = { warnAboveShare: 0.02, badAboveShare: 0.1 } as const;
/** Status requests of ours that returned no usable answer. */
export const POLL_FAILURES = { warnAboveShare: 0.05, badAboveShare: UNREADABLE.aboveShare } as const;
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
/** Age of the newest evaluation of the rules, which comes once a minute: how late a page may be. */
export const EVALUATION_AGE = { warnAboveSeconds: 150, badAboveSeconds: 300 } as const;
/** How long a pass over all rules takes, out of the minute that it has. */
export const EVALUATION_DURATION = { warnAboveMs: 15_000, badAboveMs: 45_000 } as const;
/** Batches of stored rows whose spans are not exported yet. */
export const SPAN_BACKLOG = { warnAboveBatches: 100, badAboveBatches: 1_000 } as const;
