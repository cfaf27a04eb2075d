import type { PollConfig } from '../../schemas/config.ts';
import type { Endpoint } from '../../schemas/polling.ts';
import { createRequestBudget, type RequestBudget } from './request-budget.ts';

/** Why the gateway was not asked. */
export type NotAsked = 'circuit_open' | 'budget' | 'stopped';

/** A status request that somebody waits for, who has to know the status now. */
export interface Question {
  readonly endpoint: Endpoint;
  /** null: it may be sent, and has been counted. */
  readonly settle: (refusal: NotAsked | null) => void;
}

/**
 * Questions are asked before everything that is polled, within the gateway's budget. They get at most half of
 * it, so that however many come, orders are still read. Their requests have connections of their own: a
 * gateway that keeps all polls waiting keeps no question out.
 */
export interface Questions {
  readonly waiting: Set<Question>;
  readonly budget: RequestBudget;
  /** Requests at once. */
  readonly concurrency: number;
  inFlight: number;
}

export function createQuestions({ requestsPerSecond, concurrency }: PollConfig): Questions {
  return {
    waiting: new Set(),
    budget: createRequestBudget(requestsPerSecond / 2),
    concurrency: Math.max(2, Math.ceil(concurrency / 4)),
    inFlight: 0,
  };
}
