import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { schemaError, splitStatements } from './migrations.ts';
import type { Store } from './store.ts';

/** A view that holds no rows of its own: its text can be replaced at any time. */
export interface DerivedView {
  readonly name: string;
  /** `CREATE OR REPLACE VIEW`, without the comments before it. */
  readonly definition: string;
}

/**
 * The views of these files, in their order: a view stands after those that it reads.
 * @throws GatewatchError `store_schema` when a file holds anything else, or defines a view again
 */
export async function readDerivedViews(files: readonly string[]): Promise<readonly DerivedView[]> {
  const views = new Map<string, DerivedView>();
  for (const file of files) {
    const text = (await readFile(file, 'utf8')).replaceAll('\r\n', '\n');
    for (const statement of splitStatements(text)) {
      const [, definition, name] = VIEW.exec(statement) ?? [];
      if (definition === undefined || name === undefined)
        throw schemaError(
          `${basename(file)}: expected statements of the form CREATE OR REPLACE VIEW name AS`,
        );
      if (views.has(name)) throw schemaError(`${basename(file)}: the view ${name} is defined a second time`);
      views.set(name, { name, definition });
    }
  }
  return [...views.values()];
}

/** A definition, and the comments before it. */
const VIEW = /^(?:\s*--[^\n]*\n)*\s*(CREATE OR REPLACE VIEW (\w+)\s+AS\b[\s\S]*)$/;

/**
 * What is left of a migration's statements: those that made these views before they had definitions of their
 * own have nothing to do any more.
 */
export function withoutViews(statements: readonly string[], views: readonly DerivedView[]): string[] {
  const names = new Set(views.map(({ name }) => name));
  return statements.filter((statement) => !names.has(VIEW.exec(statement)?.[2] ?? ''));
}

/**
 * The statements that bring the store's views to these definitions; none when they are there already. What a
 * view was made from stands in its comment, which the engine replaces together with the view: two collectors
 * that start at once end with the same, and nothing can be recorded that was not done.
 */
export async function planDerivedViews(store: Store, views: readonly DerivedView[]): Promise<string[]> {
  const tables = await store.query<{ name: string; comment: string }>(
    `SELECT name, comment FROM system.tables WHERE database = {database:String} AND engine = 'View'`,
    { database: store.database },
    { database: 'system' },
  );
  const comments = new Map(tables.map(({ name, comment }) => [name, comment]));
  const wanted = (await runAsMaker(store)) ? views.map(asMaker) : views;
  return wanted
    .filter((view) => comments.get(view.name) !== markOf(view))
    .map((view) => `${view.definition}\nCOMMENT '${markOf(view)}'`);
}

/**
 * Whether views run with the rights of who made them, as in the embedded store, or of who asks: decision
 * 33. The engine heeds its setting only together with one that would change materialized views, too.
 */
async function runAsMaker(store: Store): Promise<boolean> {
  const [setting] = await store.query<{ value: string }>(
    "SELECT value FROM system.settings WHERE name = 'default_normal_view_sql_security'",
    {},
    { database: 'system' },
  );
  return setting?.value === 'DEFINER';
}

function asMaker({ name, definition }: DerivedView): DerivedView {
  const head = `VIEW ${name}`;
  return {
    name,
    definition: definition.replace(head, `${head} DEFINER = CURRENT_USER SQL SECURITY DEFINER`),
  };
}

function markOf({ definition }: DerivedView): string {
  return `gatewatch definition ${createHash('sha256').update(definition).digest('hex')}`;
}
