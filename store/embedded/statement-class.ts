import { clickhouseError } from './clickhouse-error.ts';
import type { ConnectionSetup, Engine } from './engine.ts';
import { formatStatement, parserError } from './sql/format.ts';
import { isWord, tokenize } from './sql/lexer.ts';

/** `read` leaves no trace; `write` changes something. */
export type StatementClass = 'read' | 'write';

const engineClass = { readOnly: 0, control: 3, unknown: 4 } as const;
const readingWords = ['SELECT', 'WITH', 'FROM', 'SHOW', 'EXPLAIN', 'DESCRIBE', 'DESC', 'EXISTS'];

/**
 * Asks the engine's own parser what a text is.
 *
 * @throws ClickHouseError 62 for none or several statements, with the engine's words for a syntax error; 48
 *   for INTO OUTFILE
 */
export async function classifyStatement(
  engine: Engine,
  sql: string,
  setup: ConnectionSetup,
): Promise<StatementClass> {
  const first = tokenize(sql).next();
  if (first.done === true) throw clickhouseError(62, 'Syntax error: Empty query');
  const { statementCount, queryClass } = await engine.analyze(sql, setup.database ?? 'default');
  // Also what becomes of rows that a statement in front of them hides, as in EXPLAIN INSERT .. FORMAT CSV
  // <rows>.
  if (statementCount > 1) throw clickhouseError(62, 'Syntax error (Multi-statements are not allowed)');
  if (queryClass === engineClass.unknown) throw await syntaxError(engine, sql, setup);
  if (queryClass === engineClass.readOnly) return 'read';
  const reads = isWord(first.value, ...readingWords) || first.value.text === '(';
  if (queryClass === engineClass.control && reads) throw clickhouseError(48, 'INTO OUTFILE is not allowed');
  return 'write';
}

/** Lets the engine word the error: its formatter parses, and runs nothing. */
async function syntaxError(engine: Engine, sql: string, setup: ConnectionSetup): Promise<Error> {
  const general = clickhouseError(62, 'Syntax error: the statement cannot be parsed');
  return engine
    .withConnection({ ...setup, role: 'reader' }, (connection) =>
      connection.run(formatStatement(sql), 'TSVRaw'),
    )
    .then(
      () => general,
      (error: unknown) => parserError(error),
    );
}
