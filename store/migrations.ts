import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { GatewatchError } from '../schemas/errors.ts';
import { tokenize } from './sql/lexer.ts';

/** One numbered file of SQL, e.g. `0001_base.sql`. */
export interface Migration {
  readonly version: number;
  readonly name: string;
  /** SHA-256 of the file's text, line ends as `\n`. */
  readonly checksum: string;
  readonly statements: readonly string[];
}

/**
 * @throws GatewatchError `store_schema` when numbers are missing or used twice, or the folder has no
 * migrations
 */
export async function readMigrations(directory: string): Promise<readonly Migration[]> {
  const files = (await readdir(directory)).filter((file) => file.endsWith('.sql')).sort();
  const migrations: Migration[] = [];
  for (const file of files) {
    const [, number, name] = /^(\d{4})_([a-z0-9_]+)\.sql$/.exec(file) ?? [];
    if (number === undefined || name === undefined) {
      throw schemaError(
        `migration ${file}: the name must be four digits, an underscore and lower-case words`,
      );
    }
    if (Number(number) !== migrations.length + 1) {
      throw schemaError(
        `migration ${file}: expected number ${migrations.length + 1}; numbers neither skip nor repeat`,
      );
    }
    const text = (await readFile(join(directory, file), 'utf8')).replaceAll('\r\n', '\n');
    const checksum = createHash('sha256').update(text).digest('hex');
    migrations.push({ version: Number(number), name, checksum, statements: splitStatements(text) });
  }
  if (migrations.length === 0) throw schemaError(`no migrations in ${directory}`);
  return migrations;
}

/**
 * Splits at semicolons that end a line, comments and quoted text apart. Statements keep their own comments
 * and lose the semicolon; what holds nothing but comments is left out.
 */
export function splitStatements(sql: string): string[] {
  const statements: string[] = [];
  let start = 0;
  let hasCode = false;
  for (const token of tokenize(sql)) {
    if (token.kind !== 'symbol' || token.text !== ';') {
      hasCode = true;
      continue;
    }
    const after = sql.slice(token.end, endOfLine(sql, token.start));
    if (!/^\s*(--.*)?$/.test(after)) continue;
    if (hasCode) statements.push(sql.slice(start, token.start).trim());
    start = token.end;
    hasCode = false;
  }
  if (hasCode) statements.push(sql.slice(start).trim());
  return statements;
}

function endOfLine(sql: string, from: number): number {
  const end = sql.indexOf('\n', from);
  return end === -1 ? sql.length : end;
}

export function schemaError(message: string): GatewatchError {
  return new GatewatchError(message, { code: 'store_schema' });
}
