import { withDeadline } from '../../schemas/deadline.ts';
import { view } from '../../schemas/measures.ts';
import type { TableResult } from '../../store/store.ts';
import { toFrame } from './frame.ts';

/** Where a browser that opens `/` is sent: the first question is whether the gateway is healthy. */
export const OVERVIEW = '/d/gatewatch-overview';

export interface LandingOptions {
  readonly query: (sql: string) => Promise<TableResult>;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** How long a browser waits for a better range than the dashboard's own. @default 400 */
  readonly timeLimitMs?: number;
}

const HOUR = 60;
/** By the age of the data in minutes: the range to show, and how often the page is refreshed. */
const SHORT_RANGES = [
  [4, 'now-5m', '5s'],
  [15, 'now-15m', '5s'],
  [30, 'now-30m', '10s'],
  [HOUR, 'now-1h', '30s'],
  [3 * HOUR, 'now-3h', '1m'],
] as const;
const OWN_RANGE_HOURS = 6;

const FIRST_SQL = `SELECT min(event_time) AS first, count() AS items
FROM ${view('historyEvents')}
WHERE event_time > now64(6) - INTERVAL ${OWN_RANGE_HOURS} HOUR`;

/**
 * The address of the overview. A store that has just begun would show minutes of data at the edge of hours of
 * nothing: then the range is one that the data fills.
 */
export function createLanding({ query, now, timeLimitMs = 400 }: LandingOptions): () => Promise<string> {
  let fillsOwnRange = false;
  async function withFittingRange(): Promise<string> {
    const [first, items] = toFrame('A', 1, await query(FIRST_SQL)).columns;
    if (Number(items?.values[0] ?? 0) === 0) return OVERVIEW;
    const minutes = (now() - Number(first?.values[0])) / 60_000;
    const short = SHORT_RANGES.find(([most]) => minutes < most);
    if (short === undefined) {
      fillsOwnRange = true;
      return OVERVIEW;
    }
    return `${OVERVIEW}?from=${short[1]}&to=now&refresh=${short[2]}`;
  }
  return async () => {
    if (fillsOwnRange) return OVERVIEW;
    const fallback = (): string => OVERVIEW;
    return withDeadline(withFittingRange().catch(fallback), timeLimitMs, fallback);
  };
}
