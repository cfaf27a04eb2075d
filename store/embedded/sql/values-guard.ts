import { clickhouseError } from '../clickhouse-error.ts';

const [singleQuote, doubleQuote, backtick, backslash, semicolon] = [...Buffer.from(`'"\`\\;`)];

/**
 * Passes the rows of a VALUES clause on and refuses what stands behind their semicolon. The engine's library
 * would leave it unread, and with it a second statement that the sender believes to have run.
 *
 * @throws ClickHouseError 62
 */
export async function* guardValues(rows: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  let quote = 0;
  let escaped = false;
  let ended = false;
  for await (const chunk of rows) {
    for (const byte of chunk) {
      if (ended) {
        if (byte > 0x20) throw clickhouseError(62, 'Syntax error (Multi-statements are not allowed)');
      } else if (escaped) escaped = false;
      else if (quote !== 0) {
        if (byte === backslash) escaped = true;
        // A doubled quote closes and opens again at once, which comes to the same.
        else if (byte === quote) quote = 0;
      } else if (byte === singleQuote || byte === doubleQuote || byte === backtick) quote = byte;
      else if (byte === semicolon) ended = true;
    }
    yield chunk;
  }
}
