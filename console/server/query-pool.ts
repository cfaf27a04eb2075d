import { GatewatchError } from '../../schemas/errors.ts';

export interface QueryPoolOptions<T> {
  readonly run: (sql: string) => Promise<T>;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Statements at once; more wait their turn. @default 4 */
  readonly maxConcurrent?: number;
  /** Statements waiting at most; more are refused. @default 200 */
  readonly maxWaiting?: number;
}

export interface Asker {
  /**
   * Aborted when the asker has gone. A statement that nobody asks any more before its turn is not run: a page
   * that changes its range while the store is slow would wait for its own old questions.
   */
  readonly signal?: AbortSignal | undefined;
  /**
   * Where on its page the answer will stand, counted from the top. Of those that wait the topmost is next: it
   * is what people look at first.
   * @default 0
   */
  readonly place?: number | undefined;
}

/**
 * Runs a statement when its turn comes.
 * @throws GatewatchError `store_busy` when too many wait
 */
export type PooledQuery<T> = (sql: string, asker?: Asker) => Promise<T>;

interface Kept<T> {
  readonly answer: Promise<T>;
  until: number;
  /** How many wait for it; one who cannot go stays. */
  askers: number;
}

/** How long an answer is given again to the same statement. */
const KEEP_MS = 1_000;

/**
 * Stands between a page with many panels, open in many tabs, and the store: equal statements share an answer
 * for a moment, and only a few run at once.
 */
export function createQueryPool<T>(options: QueryPoolOptions<T>): PooledQuery<T> {
  const { run, now, maxConcurrent = 4, maxWaiting = 200 } = options;
  const kept = new Map<string, Kept<T>>();
  const waiting: Waiting[] = [];
  let active = 0;

  async function inTurn(sql: string, place: number): Promise<T> {
    if (active >= maxConcurrent) await new Promise<void>((go) => line(waiting, { place, go }));
    else active++;
    try {
      if (kept.get(sql)?.askers === 0) throw busy('Nobody waits for the answer any more.');
      return await run(sql);
    } finally {
      const next = waiting.shift();
      if (next === undefined) active--;
      else next.go();
    }
  }

  return (sql, { signal, place = 0 } = {}) => {
    for (const [key, { until }] of kept) if (until <= now()) kept.delete(key);
    const before = kept.get(sql);
    if (before !== undefined) {
      join(before, signal);
      return before.answer;
    }
    if (waiting.length >= maxWaiting)
      return Promise.reject(busy('Too many queries are waiting. Try again in a moment.'));
    const answer = inTurn(sql, place);
    const entry: Kept<T> = { answer, until: Number.POSITIVE_INFINITY, askers: 0 };
    join(entry, signal);
    kept.set(sql, entry);
    answer.then(
      () => (entry.until = now() + KEEP_MS),
      // A failure is not an answer to give again.
      () => kept.delete(sql),
    );
    return answer;
  };
}

interface Waiting {
  readonly place: number;
  readonly go: () => void;
}

/** Behind those of its place, before those further down. */
function line(waiting: Waiting[], one: Waiting): void {
  const behind = waiting.findIndex(({ place }) => place > one.place);
  waiting.splice(behind < 0 ? waiting.length : behind, 0, one);
}

function join(entry: { askers: number }, signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) return;
  entry.askers++;
  signal?.addEventListener('abort', () => entry.askers--, { once: true });
}

const busy = (message: string): GatewatchError =>
  new GatewatchError(message, { code: 'store_busy', retryable: true });
