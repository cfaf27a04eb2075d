import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  columnsOf,
  hashOf,
  readDefinitions,
  schemaError,
  storedHashes,
  withMark,
  type Definition,
} from './definitions.ts';
import type { Store } from './store.ts';

const TABLE = /^CREATE (?:TABLE|MATERIALIZED VIEW) IF NOT EXISTS (\w+)\s/;

/**
 * The tables of a folder, one file each, then the materialized views that fill some of them and stand in
 * their files.
 * @throws GatewatchError `store_schema` when a file holds anything else
 */
export async function readTables(folder: string): Promise<readonly Definition[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.sql')).toSorted();
  const expected = 'statements of the form CREATE TABLE IF NOT EXISTS name or CREATE MATERIALIZED VIEW ...';
  const all = await readDefinitions(
    files.map((file) => join(folder, file)),
    TABLE,
    expected,
  );
  const isTable = ({ statement }: Definition): boolean => statement.startsWith('CREATE TABLE');
  return [...all.filter(isTable), ...all.filter((one) => !isTable(one))];
}

/**
 * The statements that make what the store lacks; none when all is there.
 *
 * Until the first release there is no way from one schema to the next: a table that was made by another
 * version is refused. One that an operator made, with an engine of his choice, stays if it has all columns.
 *
 * @throws GatewatchError `store_schema`, which says what to do
 */
export async function planTables(store: Store, tables: readonly Definition[]): Promise<string[]> {
  const stored = await storedHashes(store);
  const statements: string[] = [];
  for (const table of tables) {
    const hash = stored.get(table.name);
    if (hash === undefined) statements.push(withMark(table, shapeOf(table)));
    else if (hash === '' ? !(await hasAllColumns(store, table)) : hash !== hashOf(shapeOf(table)))
      throw madeByAnother(store, table);
  }
  return statements;
}

/** Meanings of columns and the time that rows are kept may change without another table. */
const shapeOf = ({ statement }: Definition): string =>
  statement
    .replaceAll(/ COMMENT '(?:[^']|'')*'/g, '')
    .replace(/\nTTL .*/, '')
    .replaceAll(/\s+/g, ' ');

async function hasAllColumns(store: Store, { name, statement }: Definition): Promise<boolean> {
  const rows = await store.query<{ name: string }>(
    'SELECT name FROM system.columns WHERE database = {database:String} AND table = {table:String}',
    { database: store.database, table: name },
    { database: 'system' },
  );
  const stored = new Set(rows.map((row) => row.name));
  return columnsOf(statement).every((column) => stored.has(column.name));
}

const madeByAnother = (store: Store, { name }: Definition) =>
  schemaError(
    `${name} of the database ${store.database} was made by another version of gatewatch, and before 0.2.0 there is no way from one to the next: ` +
      'start with an empty data folder or database, and have orders read again with "gatewatch backfill"',
  );
