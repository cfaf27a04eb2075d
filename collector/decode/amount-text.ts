/**
 * Parses JSON with numbers of the name `amount` as the text that the sender wrote, where `isKept` says so: a
 * double holds 15 digits, and a signature covers the exact text. Asking the parser for source texts costs
 * more than all the rest of reading a message, so callers first look whether they need it.
 */
export function parseWithAmountText(text: string, isKept: (source: string) => boolean): unknown {
  return JSON.parse(text, (key: string, value: unknown, context?: { source?: string }) => {
    if (key !== 'amount' || typeof value !== 'number') return value;
    const source = context?.source ?? String(value);
    return isKept(source) ? source : value;
  });
}
