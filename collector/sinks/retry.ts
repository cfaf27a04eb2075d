import { sleep, withDeadline } from '../../schemas/deadline.ts';
import { GatewatchError } from '../../schemas/errors.ts';

export interface RetryPolicy {
  /** Wait after the first failure. @default 100 */
  minDelayMs: number;
  /** No wait is longer. @default 10000 */
  maxDelayMs: number;
  /** In [0, 1). @default Math.random */
  random: () => number;
}

export const DEFAULT_RETRY: RetryPolicy = { minDelayMs: 100, maxDelayMs: 10_000, random: Math.random };

/**
 * Exponential backoff with jitter: 50 to 100 % of the doubled delay. `attempt` counts failures, from 1.
 */
export function retryDelayMs(policy: RetryPolicy, attempt: number): number {
  const full = Math.min(policy.maxDelayMs, policy.minDelayMs * 2 ** Math.min(attempt - 1, 20));
  return full * (0.5 + policy.random() / 2);
}

export interface UntilAnsweredOptions {
  readonly policy: RetryPolicy;
  readonly signal: AbortSignal;
  /** Errors that another attempt cannot help: thrown at once. */
  readonly isFinal: (error: unknown) => boolean;
  readonly onFailure: (error: unknown, attempt: number) => void;
  /** A pause that the other side asks for, in milliseconds: no wait is shorter. @default 0 */
  readonly leastDelayMs?: (error: unknown) => number;
}

/**
 * Repeats `attempt` until it answers or fails for good. An attempt that is under way when `signal` is aborted
 * is waited for no longer.
 *
 * @throws what `isFinal` accepts; GatewatchError `stopped` once `signal` is aborted
 */
export async function untilAnswered<T>(attempt: () => Promise<T>, options: UntilAnsweredOptions): Promise<T> {
  for (let failures = 1; ; failures += 1) {
    let least: number;
    if (options.signal.aborted) throw stoppedError();
    try {
      // Not every statement can be cancelled, and some take very long.
      return await withDeadline(attempt(), Infinity, failStopped, options.signal);
    } catch (error) {
      if (options.signal.aborted) throw stoppedError();
      if (options.isFinal(error)) throw error;
      options.onFailure(error, failures);
      least = options.leastDelayMs?.(error) ?? 0;
    }
    await sleep(Math.max(least, retryDelayMs(options.policy, failures)), options.signal);
  }
}

function failStopped(): never {
  throw stoppedError();
}

export function stoppedError(): GatewatchError {
  return new GatewatchError('stopped before the other side had answered', {
    code: 'stopped',
    retryable: true,
  });
}
