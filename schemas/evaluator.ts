import type { EpochMicros } from './rows.ts';

/** How the evaluation of the alert rules does, as this collector knows it. */
export interface EvaluatorStatus {
  /** This collector evaluates, and no other one. */
  readonly holdsLease: boolean;
  /** The newest stored evaluation, whoever made it; null: none is known. */
  readonly newestAsOf: EpochMicros | null;
  /** Seconds since then; without an evaluation, since this collector began to look. */
  readonly ageSeconds: number;
  /** Alerts that fire, by severity; empty where another collector evaluates. */
  readonly firing: Readonly<Record<string, number>>;
  /** Why the last attempt failed; null after one that did not. */
  readonly lastError: string | null;
}
