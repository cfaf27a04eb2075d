import { withDeadline } from '../schemas/deadline.ts';
import { GatewatchError } from '../schemas/errors.ts';
import type { RowSink } from '../schemas/sink.ts';

/** How long the store may be away before new input is turned back instead of held. */
const TOLERATED_ABSENCE_MS = 2_000;

/**
 * Makes a check that throws while the store is away, so that new input is turned back: Kafka's partitions
 * pause, the intake answers 503, and memory stays bounded. What was taken in before keeps waiting.
 */
export function createBackpressure(sink: RowSink, monotonicMs: () => number): () => void {
  let away: { readonly sinceMs: number; readonly lastAckAt: number | null } | null = null;
  return () => {
    const { state, lastError, lastAckAt } = sink.status();
    if (state === 'ok') {
      away = null;
      return;
    }
    // Nobody may have asked while it was back.
    if (away === null || away.lastAckAt !== lastAckAt) away = { sinceMs: monotonicMs(), lastAckAt };
    if (monotonicMs() - away.sinceMs < TOLERATED_ABSENCE_MS) return;
    throw new GatewatchError(`The store does not take rows: ${lastError ?? 'no answer'}`, {
      code: 'store_unavailable',
      retryable: true,
    });
  };
}

/**
 * Waits for the acknowledgement as long as a sender over HTTP can be expected to. What is given up here may
 * still be stored; sent again, it is another delivery of the same callback.
 * @throws GatewatchError `store_timeout`, retryable
 */
export async function acknowledgedWithin<T>(work: Promise<T>, ms: number): Promise<T> {
  return withDeadline(work, ms, () => {
    throw new GatewatchError('The store did not acknowledge in time', {
      code: 'store_timeout',
      retryable: true,
    });
  });
}
