/**
 * Work that starts at the first call. Callers share a run and, once it has succeeded, its answer; after a
 * failure the next call starts it again.
 */
export function untilItSucceeds<T>(run: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | null = null;
  return () => {
    answer ??= run().catch((error: unknown) => {
      answer = null;
      throw error;
    });
    return answer;
  };
}
