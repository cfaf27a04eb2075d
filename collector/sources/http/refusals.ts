import type { Logger } from 'pino';
import type { Refused } from './guard.ts';

/**
 * A line about each reason is written once in so long: whoever is refused a thousand times writes no thousand
 * lines.
 */
const LOG_EVERY_MS = 60_000;

/** Counts what the listeners turn back, and tells of it now and then. Nothing of a request is in the line. */
export function createRefusals(
  log: Logger,
  count: (reason: Refused) => void,
  monotonicMs: () => number,
): (reason: Refused) => void {
  const told = new Map<Refused, { atMs: number; since: number }>();
  return (reason) => {
    count(reason);
    const last = told.get(reason) ?? { atMs: -Infinity, since: 0 };
    last.since += 1;
    told.set(reason, last);
    if (monotonicMs() - last.atMs < LOG_EVERY_MS) return;
    log.warn({ reason, times: last.since }, 'requests were refused unread');
    told.set(reason, { atMs: monotonicMs(), since: 0 });
  };
}
