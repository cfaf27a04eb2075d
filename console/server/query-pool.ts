import { GatewatchError } from '../../schemas/errors.ts';

export interface QueryPoolOptions<T> {
  readonly run: (sql: string) => Promise<T>;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Statements at once; more wait their turn. @default 4 */
  readonly maxConcurrent?: number;
  /** Statements waiting at most; more are refused. @default 200 */
  readonly maxWaiting?: number;
  /** How long an answer is given again to the same statement. @default 1000 */
  readonly keepMs?: number;
}

/**
 * Stands between a page with many panels, open in many tabs, and the store: equal statements share an answer
 * for a moment, and only a few run at once.
 * @throws GatewatchError `store_busy` when too many wait
 */
export function createQueryPool<T>(options: QueryPoolOptions<T>): (sql: string) => Promise<T> {
  const { run, now, maxConcurrent = 4, maxWaiting = 200, keepMs = 1_000 } = options;
  const kept = new Map<string, { readonly answer: Promise<T>; until: number }>();
  const waiting: (() => void)[] = [];
  let active = 0;

  async function inTurn(sql: string): Promise<T> {
    if (active >= maxConcurrent) await new Promise<void>((resolve) => waiting.push(resolve));
    else active++;
    try {
      return await run(sql);
    } finally {
      const next = waiting.shift();
      if (next === undefined) active--;
      else next();
    }
  }

  return (sql) => {
    for (const [key, { until }] of kept) if (until <= now()) kept.delete(key);
    const before = kept.get(sql);
    if (before !== undefined) return before.answer;
    if (waiting.length >= maxWaiting)
      return Promise.reject(
        new GatewatchError('Too many queries are waiting. Try again in a moment.', {
          code: 'store_busy',
          retryable: true,
        }),
      );
    const answer = inTurn(sql);
    const entry = { answer, until: Number.POSITIVE_INFINITY };
    kept.set(sql, entry);
    answer.then(
      () => (entry.until = now() + keepMs),
      // A failure is not an answer to give again.
      () => kept.delete(sql),
    );
    return answer;
  };
}
