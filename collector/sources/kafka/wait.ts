/** What `work` resolves to, or undefined when the time is up or the signal says so. */
export async function timeLimit<T>(
  work: Promise<T>,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<T | undefined> {
  if (signal?.aborted) return undefined;
  const over = Promise.withResolvers<undefined>();
  const end = (): void => over.resolve(undefined);
  const timer = setTimeout(end, timeoutMs);
  signal?.addEventListener('abort', end, { once: true });
  try {
    return await Promise.race([work, over.promise]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', end);
  }
}

/** True when `work` is over in time, well or not. */
export async function within(work: Promise<unknown>, timeoutMs: number): Promise<boolean> {
  const [outcome] = (await timeLimit(Promise.allSettled([work]), timeoutMs)) ?? [];
  return outcome !== undefined;
}

/** Resolves after that time, or at once when the signal says so. */
export async function sleep(durationMs: number, signal?: AbortSignal): Promise<void> {
  await timeLimit(new Promise(() => undefined), durationMs, signal);
}
