import { withDeadline } from '../../schemas/deadline.ts';
import { view } from '../../schemas/measures.ts';
import type { TableResult } from '../../store/store.ts';
import { toFrame } from './frame.ts';

/** Where a browser that opens `/` is sent: the first question is whether the gateway is healthy. */
export const HOME = '/d/gatewatch-overview';

export interface HomeOptions {
  readonly query: (sql: string) => Promise<TableResult>;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** How long a browser is kept waiting for a better range than the dashboard's own. @default 400 */
  readonly patienceMs?: number;
}

const HOUR = 60;
/** Ranges in minutes, and how often the page is refreshed. */
const YOUNG = [
  [4, 'now-5m', '5s'],
  [15, 'now-15m', '5s'],
  [30, 'now-30m', '10s'],
  [HOUR, 'now-1h', '30s'],
  [3 * HOUR, 'now-3h', '1m'],
] as const;
const OWN_RANGE_HOURS = 6;

const FIRST_SQL = `SELECT min(event_time) AS first, count() AS items FROM ${view('historyEvents')} WHERE event_time > now64(6) - INTERVAL ${OWN_RANGE_HOURS} HOUR`;

/**
 * The address of the overview. A store that has just begun would show minutes of data at the edge of hours of
 * nothing: then the range is one that the data fills.
 */
export function createHome({ query, now, patienceMs = 400 }: HomeOptions): () => Promise<string> {
  let grownUp = false;
  async function fitting(): Promise<string> {
    const [first, items] = toFrame('A', 1, await query(FIRST_SQL)).columns;
    if (Number(items?.values[0] ?? 0) === 0) return HOME;
    const minutes = (now() - Number(first?.values[0])) / 60_000;
    const young = YOUNG.find(([most]) => minutes < most);
    if (young === undefined) {
      grownUp = true;
      return HOME;
    }
    return `${HOME}?from=${young[1]}&to=now&refresh=${young[2]}`;
  }
  return async () => {
    if (grownUp) return HOME;
    const fallback = (): string => HOME;
    return withDeadline(fitting().catch(fallback), patienceMs, fallback);
  };
}
