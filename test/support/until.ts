/**
 * How long tests wait for what is bound to come. Long enough for a machine many times slower than the
 * author's: a wait ends when its condition holds, so that only a test that fails takes so long.
 */
export const PATIENCE_MS = 120_000;

/**
 * Waits for a condition, also in hooks. @throws Error that says what did not happen, and what was the case
 * instead
 */
export async function until<T>(
  what: string,
  look: () => Promise<T> | T,
  isSo: (seen: T) => boolean,
  timeoutMs = PATIENCE_MS,
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const seen = await look();
    if (isSo(seen)) return seen;
    if (Date.now() > deadline) {
      throw new Error(`Waited ${timeoutMs} ms in vain for: ${what}. Last seen: ${JSON.stringify(seen)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
