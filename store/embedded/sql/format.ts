import { ClickHouseError, fromEngineError } from '../clickhouse-error.ts';
import { quoteString } from '../../sql/quote.ts';

const FORMATTER = 'SELECT formatQuerySingleLine';
const SHOWN_CHARACTERS = 600;

/** A statement whose one value is the text of another in the engine's own words, on one line. */
export function formatStatement(sql: string): string {
  return `${FORMATTER}(${quoteString(sql)})`;
}

/**
 * What the formatter threw, about the statement that it was to format: the engine quotes the one around it as
 * well.
 */
export function parserError(error: unknown): ClickHouseError {
  const failure = fromEngineError(error);
  const scope = failure.message.indexOf(`: In scope ${FORMATTER}(`);
  if (scope < 0) return failure;
  const name = /\([A-Z_]+\)$/.exec(failure.message)?.[0] ?? '';
  const text = failure.message.slice(0, Math.min(scope, SHOWN_CHARACTERS));
  return new ClickHouseError(failure.clickhouseCode, `${text} ${name}`.trim(), { cause: failure.cause });
}
