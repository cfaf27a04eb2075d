/**
 * Parses JSON, keeping a number under `amount` as its source text: a double holds 15 digits,
 * and a signature covers the exact text. Asking the parser for source texts costs more than all the rest of
 * reading a message, so callers look first whether there is such a number.
 * @param isWanted whether this source text is kept; else the number
 * @throws SyntaxError for text that is not JSON
 */
export function parseKeepingAmount(text: string, isWanted: (source: string) => boolean): unknown {
  return JSON.parse(text, (key: string, value: unknown, context?: { source?: string }) => {
    const source = key === 'amount' && typeof value === 'number' ? context?.source : undefined;
    return source !== undefined && isWanted(source) ? source : value;
  }) as unknown;
}
