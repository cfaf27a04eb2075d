import { withDeadline } from '../../../schemas/deadline.ts';
import { isLostMembership, isRebalance } from './failure.ts';
import type { Ticket } from './membership.ts';

/**
 * How the wait for some work ended; `lost`: before the work was done, because its outcome no longer counts.
 */
export type Outcome =
  { kind: 'done' } | { kind: 'failed'; error: unknown } | { kind: 'lost'; error?: unknown };

export interface KeepAliveLimits {
  heartbeatMs: number;
  /**
   * How long the group is kept waiting in a rebalance, so that the work can finish and be committed.
   */
  rebalanceGraceMs: number;
  giveUp: AbortSignal;
}

/** Waits for `work` while heartbeats keep this member in its group. Never rejects. */
export async function keepAlive(
  work: Promise<void>,
  heartbeat: () => Promise<void>,
  ticket: Ticket,
  { heartbeatMs, rebalanceGraceMs, giveUp }: KeepAliveLimits,
): Promise<Outcome> {
  const settles = work.then(
    (): Outcome => ({ kind: 'done' }),
    (error: unknown): Outcome => ({ kind: 'failed', error }),
  );
  let rebalancingSinceMs: number | undefined;
  let lost: Outcome | undefined;
  const beat = async (): Promise<void> => {
    try {
      await heartbeat();
    } catch (error) {
      // Any other error means that the broker is away: the work goes on, and its commit shows the outcome.
      if (!isRebalance(error)) return;
      rebalancingSinceMs ??= performance.now();
      const isOver = performance.now() - rebalancingSinceMs >= rebalanceGraceMs;
      if (isOver || isLostMembership(error)) lost = { kind: 'lost', error };
    }
  };
  for (;;) {
    const waitMs =
      rebalancingSinceMs === undefined ? heartbeatMs : Math.min(heartbeatMs, rebalanceGraceMs / 4);
    const outcome = await withDeadline(settles, waitMs, undefined, giveUp);
    if (outcome !== undefined) return outcome;
    if (lost !== undefined) return lost;
    if (giveUp.aborted || !ticket.isCurrent()) return { kind: 'lost' };
    void beat();
  }
}
