/** The value of a JSON text; undefined when it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Parses JSON, keeping some numbers as their source texts: a double holds 15 digits, and a signature covers
 * the exact text. Asking the parser for source texts costs more than all the rest of reading a message, so
 * callers look first whether there is such a number.
 * @param keeps whether the number under this key is kept as this source text
 * @throws SyntaxError for text that is not JSON
 */
export function parseKeepingSources(text: string, keeps: (key: string, source: string) => boolean): unknown {
  return JSON.parse(text, (key: string, value: unknown, context?: { source?: string }) => {
    const source = typeof value === 'number' ? context?.source : undefined;
    return source !== undefined && keeps(key, source) ? source : value;
  }) as unknown;
}

const ID_KEY = /^external(?:Transaction)?Id$/;
const WHOLE = /^\d{1,200}$/;
const NUMBER_ID = /"external(?:Transaction)?Id"\s*:\s*\d/;

/** Is it an order's id, written as a whole number? One with an exponent has lost digits. */
export function isNumberId(key: string, source: string): boolean {
  return ID_KEY.test(key) && WHOLE.test(source);
}

/** Could the JSON text hold one? */
export function hasNumberId(text: string): boolean {
  return NUMBER_ID.test(text);
}

/**
 * Parses JSON about orders, ids that are numbers as their texts.
 * @throws SyntaxError for text that is not JSON
 */
export function parseKeepingIds(text: string): unknown {
  return hasNumberId(text) ? parseKeepingSources(text, isNumberId) : JSON.parse(text);
}
