import type { Problem } from './problem.ts';
import type { RejectReason } from './rows.ts';

/** Why input could not be used: a row of `rejects` has this reason. */
export interface Rejected {
  readonly reason: RejectReason;
}

/**
 * What a decoder makes of input: the fields of `T`, or what is wrong with it. Bad data is a value, never an
 * error that is thrown.
 */
export type Decoded<T, More = Rejected> =
  ({ readonly ok: true } & T) | ({ readonly ok: false; readonly problem: Problem } & More);

export function refuse(reason: RejectReason, problem: Problem) {
  return { ok: false, reason, problem } as const;
}
