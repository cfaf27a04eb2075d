import { hashOf, readDefinitions, storedHashes, withMark, type Definition } from './definitions.ts';
import type { Store } from './store.ts';

const VIEW = /^CREATE OR REPLACE VIEW (\w+)\s/;

/**
 * The views of these files, which hold no rows: their text can be replaced at any time. A view stands after
 * those that it reads.
 * @throws GatewatchError `store_schema` when a file holds anything else, or defines a view again
 */
export async function readDerivedViews(files: readonly string[]): Promise<readonly Definition[]> {
  const views = await readDefinitions(files, VIEW, 'statements of the form CREATE OR REPLACE VIEW name AS');
  const ordered = new Set<Definition>();
  const add = (view: Definition): void => {
    for (const other of views) if (other !== view && reads(view, other) && !reads(other, view)) add(other);
    ordered.add(view);
  };
  views.forEach(add);
  return [...ordered];
}

/** Names of views are names of columns, too: what counts is where a query reads from. */
const reads = (view: Definition, { name }: Definition): boolean =>
  new RegExp(`\\b(?:FROM|JOIN|IN)\\s+(?:\\w+\\.)?${name}\\b`).test(view.statement);

/** The statements that bring the store's views to these definitions; none when they are there already. */
export async function planDerivedViews(store: Store, views: readonly Definition[]): Promise<string[]> {
  const stored = await storedHashes(store);
  const wanted = (await runAsMaker(store)) ? views.map(asMaker) : views;
  return wanted
    .filter(({ name, statement }) => stored.get(name) !== hashOf(statement))
    .map((view) => withMark(view, view.statement));
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

/** A view's name and the list of its columns, where there is one. */
const HEAD = /^CREATE OR REPLACE VIEW \w+(?:\s*\(\n[\s\S]*?\n\))?/;

const asMaker = (view: Definition): Definition => ({
  ...view,
  statement: view.statement.replace(HEAD, (head) => `${head} DEFINER = CURRENT_USER SQL SECURITY DEFINER`),
});
