import type { Clock } from '../../schemas/clock.ts';

/** Requests a second to a gateway since it was asked about before, or since the process started. */
export type RequestRates = (gateway: string, requestsSoFar: number) => number;

/** Measured on the monotonic clock: a wall clock that is set must not change what was used of a budget. */
export function createRequestRates(clock: Clock): RequestRates {
  const startedMs = clock.monotonicMs();
  const last = new Map<string, { requests: number; ms: number }>();
  return (gateway, requests) => {
    const before = last.get(gateway) ?? { requests: 0, ms: startedMs };
    const ms = clock.monotonicMs();
    last.set(gateway, { requests, ms });
    return ms > before.ms ? ((requests - before.requests) * 1000) / (ms - before.ms) : 0;
  };
}
