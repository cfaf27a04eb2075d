import { ClickHouseError, fromEngineError } from './clickhouse-error.ts';

const PREFIX = 'EXPLAIN AST ';

/**
 * Has the engine parse a statement without running it. What it says of a syntax error names places in the statement, not in the
 * longer text that it was given.
 * @throws ClickHouseError
 */
export async function explainAst<T>(run: (sql: string) => Promise<T>, sql: string): Promise<T> {
  try {
    return await run(`${PREFIX}${sql}`);
  } catch (error) {
    const { clickhouseCode, message } = fromEngineError(error);
    const back = (text: string, before: string, place: string): string =>
      Number(place) > PREFIX.length ? `${before}${Number(place) - PREFIX.length}` : text;
    const placed = message.replace(/(failed at position )(\d+)/, back).replace(/(\(line 1, col )(\d+)/, back);
    throw new ClickHouseError(clickhouseCode, placed, { cause: error });
  }
}
