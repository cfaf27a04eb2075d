const QUOTE = 0x22;
/** A spreadsheet takes a text for a formula that begins so (OWASP, CSV injection). */
const FORMULA: ReadonlySet<number> = new Set([...'=+-@\t\r'].map((char) => char.charCodeAt(0)));
const APOSTROPHE = Buffer.from("'");
const [BACKSLASH, CAPITAL_N] = [0x5c, 0x4e];
const isNull = (byte: number, before: number): boolean =>
  byte === BACKSLASH || (byte === CAPITAL_N && before === BACKSLASH);

/**
 * CSV of the store, in which texts are quoted, numbers and `\N` (NULL) are not: with nothing for NULL, and an
 * apostrophe before each text that a spreadsheet would run, since ids and names come from strangers. Works on
 * pieces, wherever they are cut.
 */
export async function* forSpreadsheets(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let inText = false;
  let begins = false;
  let last = 0;
  for await (const chunk of chunks) {
    let from = 0;
    for (const [at, byte] of chunk.entries()) {
      if (begins && FORMULA.has(byte)) {
        yield chunk.subarray(from, at);
        yield APOSTROPHE;
        from = at;
      }
      if (!inText && isNull(byte, last)) {
        yield chunk.subarray(from, at);
        from = at + 1;
      }
      // Of a doubled quote the first ends the text and the second begins it again, with nothing in between.
      begins = byte === QUOTE && !inText && last !== QUOTE;
      if (byte === QUOTE) inText = !inText;
      last = byte;
    }
    yield chunk.subarray(from);
  }
}
