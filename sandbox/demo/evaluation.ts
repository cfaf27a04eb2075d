import type { AlertsAnswer } from '../../schemas/console.ts';

const MINUTE_MS = 60_000;

/** The first whole minute from this moment on, in milliseconds since 1970. */
export const nextMinute = (ms: number): number => Math.ceil(ms / MINUTE_MS) * MINUTE_MS;

/**
 * The newest minute for which the alert rules are evaluated, in milliseconds since 1970; null when there is
 * none, or no answer.
 * @param collector address of its interface
 */
export async function newestEvaluation(collector: string): Promise<number | null> {
  try {
    const reply = await fetch(`${collector}/console/api/alerts`, { signal: AbortSignal.timeout(5_000) });
    return ((await reply.json()) as AlertsAnswer).asOf;
  } catch {
    return null;
  }
}
