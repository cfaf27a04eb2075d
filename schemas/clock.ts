import type { EpochMicros } from './rows.ts';

/**
 * Time as the collector sees it. Wall-clock times are stored and compared with the gateway's; waiting runs on
 * the monotonic clock, so that a step of the wall clock neither starves nor floods the gateway. Tests inject
 * both.
 */
export interface Clock {
  /** Wall clock, microseconds since 1970. */
  now(): EpochMicros;
  /** Milliseconds since some fixed moment; never goes back. */
  monotonicMs(): number;
  /** Calls back after a delay on the monotonic clock; the returned function cancels. */
  after(delayMs: number, callback: () => void): () => void;
}
