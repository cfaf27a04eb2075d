const QUOTE = 0x22;
/** A spreadsheet takes a text for a formula that begins so (OWASP, CSV injection). */
const FORMULA: ReadonlySet<number> = new Set([...'=+-@\t\r'].map((char) => char.charCodeAt(0)));
const APOSTROPHE = Buffer.from("'");

/**
 * CSV of the store, in which texts are quoted and numbers are not, with an apostrophe before each text that a
 * spreadsheet would run: ids and names come from strangers. Works on pieces, wherever they are cut.
 */
export async function* withoutFormulas(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
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
      // Of a doubled quote the first ends the text and the second begins it again, with nothing in between.
      begins = byte === QUOTE && !inText && last !== QUOTE;
      if (byte === QUOTE) inText = !inText;
      last = byte;
    }
    yield chunk.subarray(from);
  }
}
