import { clickhouseError, type ClickHouseError } from '../clickhouse-error.ts';

/** Longest statement of a reader, and the default of ClickHouse servers (`max_query_size`). */
export const MAX_STATEMENT_BYTES = 262_144;
/** Longest body of a reader's request, packed or not: a statement and its parameters. */
export const MAX_BODY_BYTES = 1_048_576;

export function tooLong(): ClickHouseError {
  const text = `Max query size exceeded: a reader's statement has at most ${MAX_STATEMENT_BYTES} bytes.`;
  return clickhouseError(62, text);
}

export function refused(what: string): ClickHouseError {
  return clickhouseError(497, `gatewatch_reader: Not enough privileges. The reader may not use ${what}.`);
}
