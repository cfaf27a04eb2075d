import type { Migration } from './migrations.ts';

/** What the migrations make, as far as rights hang on it. */
export interface SchemaObjects {
  /** Tables, and whether their rows belong to a gateway. */
  readonly tables: ReadonlyMap<string, { readonly hasGateway: boolean }>;
  /** Views, and the tables beneath each, however deep. */
  readonly views: ReadonlyMap<string, ReadonlySet<string>>;
}

/** Reads tables and views from the migrations' own text: what is added there is known here. */
export function schemaObjects(migrations: readonly Migration[]): SchemaObjects {
  const tables = new Map<string, { hasGateway: boolean }>();
  const texts = new Map<string, string>();
  for (const statement of migrations.flatMap(({ statements }) => statements)) {
    const [, table, columns = ''] =
      /^CREATE TABLE IF NOT EXISTS (\w+)\s*\(([\s\S]*?)\n\)/m.exec(statement) ?? [];
    if (table !== undefined) tables.set(table, { hasGateway: /^\s*gateway\s/m.test(columns) });
    // The newest text of a view counts.
    const [, view, select = ''] = /^CREATE OR REPLACE VIEW (\w+)\s+AS\b([\s\S]*)$/m.exec(statement) ?? [];
    if (view !== undefined) texts.set(view, select);
  }
  const beneath = (name: string): string[] => {
    if (tables.has(name)) return [name];
    const sources = Array.from(
      (texts.get(name) ?? '').matchAll(/\b(?:FROM|JOIN)\s+(\w+)/gi),
      ([, source = '']) => source,
    );
    return sources
      .filter((source) => source !== name && (tables.has(source) || texts.has(source)))
      .flatMap(beneath);
  };
  return { tables, views: new Map([...texts.keys()].map((view) => [view, new Set(beneath(view))])) };
}
