import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { GatewatchError } from '../schemas/errors.ts';
import { quoteString } from './sql/quote.ts';
import { splitStatements } from './sql/statements.ts';
import type { Store } from './store.ts';

/** What makes one table, materialized view or view. */
export interface Definition {
  readonly name: string;
  /** What one row is, as the comment before the statement says; '' where it does not. */
  readonly grain: string;
  /** The statement, without the comments before it. */
  readonly statement: string;
}

/** The comments before a statement, and the statement. */
const COMMENTED = /^((?:\s*--[^\n]*\n)*)\s*([\s\S]*)$/;
/** It ends with a full stop at the end of a line, and may go on in the next one. */
const GRAIN = /^-- One row: ([\s\S]*?)\.$/m;
/** `name Type COMMENT 'text'`, a column each. */
const COLUMN = /^ {4}`?([\w.]+)`? ([A-Z].*) COMMENT '((?:[^']|'')*)'/gm;

/** What one row is, as the comments before a definition say; '' where they do not. */
export const grainOf = (comments: string): string =>
  (GRAIN.exec(comments)?.[1] ?? '').replaceAll('\n-- ', ' ');

export interface DefinedColumn {
  readonly name: string;
  /** With its default, where it has one. */
  readonly type: string;
  /** Meaning, with the unit where there is one. */
  readonly text: string;
}

/** The columns that a definition lists. */
export const columnsOf = (statement: string): readonly DefinedColumn[] =>
  Array.from(statement.matchAll(COLUMN), ([, name = '', type = '', text = '']) => ({
    name,
    type,
    text: text.replaceAll("''", "'").replaceAll('\\\\', '\\'),
  }));

/**
 * The definitions of these files, in their order.
 * @param form a statement's beginning, whose first group is the name
 * @throws GatewatchError `store_schema` when a file holds anything else, or defines a name again
 */
export async function readDefinitions(
  files: readonly string[],
  form: RegExp,
  expected: string,
): Promise<readonly Definition[]> {
  const found = new Map<string, Definition>();
  for (const file of files) {
    const text = (await readFile(file, 'utf8')).replaceAll('\r\n', '\n');
    for (const commented of splitStatements(text)) {
      const [, comments = '', statement = ''] = COMMENTED.exec(commented) ?? [];
      const name = form.exec(statement)?.[1];
      if (name === undefined) throw schemaError(`${basename(file)}: expected ${expected}`);
      if (found.has(name)) throw schemaError(`${basename(file)}: ${name} is defined a second time`);
      found.set(name, { name, grain: grainOf(comments), statement });
    }
  }
  return [...found.values()];
}

/**
 * The statement with a comment that says what one row is, and what the thing was made from, as a hash. The
 * engine writes it together with the thing: two collectors that start at once end with the same, and nothing
 * can be recorded that was not done.
 * @param text what counts: a statement of another text makes another thing
 */
export const withMark = ({ grain, statement }: Definition, text: string): string =>
  `${statement}\nCOMMENT ${quoteString(`${grain === '' ? '' : `One row: ${grain}. `}(definition ${hashOf(text)})`)}`;

export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32);

/** From what the store's tables and views were made, by name; '' where that is not known. */
export async function storedHashes(store: Store): Promise<ReadonlyMap<string, string>> {
  const rows = await store.query<{ name: string; comment: string }>(
    'SELECT name, comment FROM system.tables WHERE database = {database:String}',
    { database: store.database },
    { database: 'system' },
  );
  return new Map(rows.map(({ name, comment }) => [name, /\(definition (\w+)\)$/.exec(comment)?.[1] ?? '']));
}

export function schemaError(message: string): GatewatchError {
  return new GatewatchError(message, { code: 'store_schema' });
}
