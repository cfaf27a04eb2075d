import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { GatewatchError } from '../schemas/errors.ts';
import { splitStatements } from './sql/statements.ts';
import type { Store } from './store.ts';

/** What makes one table, materialized view or view. */
export interface Definition {
  readonly name: string;
  /** The statement, without the comments before it. */
  readonly statement: string;
}

/** The comments before a statement, and the statement. */
const COMMENTED = /^(?:\s*--[^\n]*\n)*\s*([\s\S]*)$/;

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
      const statement = COMMENTED.exec(commented)?.[1] ?? '';
      const name = form.exec(statement)?.[1];
      if (name === undefined) throw schemaError(`${basename(file)}: expected ${expected}`);
      if (found.has(name)) throw schemaError(`${basename(file)}: ${name} is defined a second time`);
      found.set(name, { name, statement });
    }
  }
  return [...found.values()];
}

/**
 * What something was made from stands in its comment, which the engine writes together with it: two
 * collectors that start at once end with the same, and nothing can be recorded that was not done.
 */
export const markOf = (text: string): string =>
  `gatewatch definition ${createHash('sha256').update(text).digest('hex')}`;

/** The comments of what the store's database holds, by name. */
export async function storedComments(store: Store): Promise<ReadonlyMap<string, string>> {
  const rows = await store.query<{ name: string; comment: string }>(
    'SELECT name, comment FROM system.tables WHERE database = {database:String}',
    { database: store.database },
    { database: 'system' },
  );
  return new Map(rows.map(({ name, comment }) => [name, comment]));
}

export function schemaError(message: string): GatewatchError {
  return new GatewatchError(message, { code: 'store_schema' });
}
