const MAX_LENGTH = 300;

/**
 * An error of the store for a panel: one paragraph without the statement, which may be pages long. Stack
 * traces and the engine's version help nobody here.
 */
export function storeErrorText(error: unknown): string {
  const text = (error instanceof Error ? error.message : String(error))
    .replace(/\s*\(version [^)]*\)(?: \(official build\))?/g, '')
    .replace(/:? ?(?:While|In scope|in scope|while) [\s\S]*$/, '')
    .replace(/\s+/g, ' ')
    .trim();
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH - 1)}…` : text;
}
