import { FINDING_TABLES, PAGE_VIEWS, PAYMENT_COUNT_TABLES, TABLES, VIEWS } from '../schemas/names.ts';
import { schemaError } from './definitions.ts';
import { quoteIdentifier, quoteString } from './sql/quote.ts';

/** Views that anybody who reads may ask. */
export const PUBLIC_VIEWS: readonly string[] = [...Object.values(VIEWS), ...PAGE_VIEWS];

export interface GrantOptions {
  readonly database: string;
  /** Names of roles, policies and the settings profile begin with it. @default 'gatewatch' */
  readonly prefix?: string;
  /** Gateways with a role of their own, for analysts who see that gateway alone. @default none */
  readonly gateways?: readonly string[];
}

/** Names of the roles. None is a user: who has which password is the server's affair. */
export interface Roles {
  readonly migrator: string;
  readonly collector: string;
  readonly grafana: string;
  readonly analyst: string;
  /** By gateway. */
  readonly analystOf: ReadonlyMap<string, string>;
}

export function rolesOf({ prefix = 'gatewatch', gateways = [] }: Omit<GrantOptions, 'database'>): Roles {
  return {
    migrator: `${prefix}_migrator`,
    collector: `${prefix}_collector`,
    grafana: `${prefix}_grafana`,
    analyst: `${prefix}_analyst`,
    analystOf: new Map(gateways.map((gateway) => [gateway, `${prefix}_analyst_${gateway}`])),
  };
}

/**
 * Roles with the least that each needs, row policies by gateway and the bounds of readers, for a ClickHouse
 * server. Each statement is safe to repeat, and replaces what an earlier version granted.
 *
 * Views run with the rights of who asks, so that a policy on a table holds however it is reached: readers get
 * the tables beneath the views as well (decision 19).
 *
 * @param statements what makes the schema: see `schemaStatements`
 * @throws GatewatchError `store_schema` when no statement makes a public view
 */
export function grantStatements(statements: readonly string[], options: GrantOptions): string[] {
  const schema = schemaObjects(statements);
  const roles = rolesOf(options);
  const { database, prefix = 'gatewatch' } = options;
  const on = (name: string): string =>
    `${quoteIdentifier(database)}.${name === '*' ? '*' : quoteIdentifier(name)}`;
  const grant = (role: string, rights: readonly string[]): string =>
    `GRANT ${rights.join(', ')} TO ${quoteIdentifier(role)} WITH REPLACE OPTION`;
  const select = (names: readonly string[]): string[] => names.map((name) => `SELECT ON ${on(name)}`);
  const everywhere = [roles.migrator, roles.collector, roles.grafana, roles.analyst];
  const readers = [roles.grafana, roles.analyst, ...roles.analystOf.values()];
  const ofGateways = [...schema.tables].flatMap(([table, { hasGateway }]) => (hasGateway ? [table] : []));
  return [
    ...[...everywhere, ...roles.analystOf.values()].map(
      (role) => `CREATE ROLE IF NOT EXISTS ${quoteIdentifier(role)}`,
    ),
    grant(
      roles.migrator,
      MIGRATOR_RIGHTS.map((right) => `${right} ON ${on('*')}`),
    ),
    grant(roles.collector, [
      `SELECT ON ${on('*')}`,
      ...[TABLES, FINDING_TABLES, PAYMENT_COUNT_TABLES]
        .flatMap((tables): string[] => Object.values(tables))
        .map((table) => `INSERT ON ${on(table)}`),
    ]),
    ...[roles.grafana, roles.analyst].map((role) => grant(role, select(readable(schema, () => true)))),
    ...[...roles.analystOf.values()].map((role) =>
      grant(role, select(readable(schema, (table) => schema.tables.get(table)?.hasGateway === true))),
    ),
    ...ofGateways.flatMap((table) => [
      policy(`${prefix}_all`, on(table), '1', everywhere),
      ...[...roles.analystOf].map(([gateway, role]) =>
        policy(`${prefix}_${gateway}`, on(table), `gateway = ${quoteString(gateway)}`, [role]),
      ),
    ]),
    `CREATE SETTINGS PROFILE OR REPLACE ${quoteIdentifier(`${prefix}_reader`)} SETTINGS ${READER_SETTINGS.join(', ')} TO ${list(readers)}`,
  ];
}

const MIGRATOR_RIGHTS = [
  'CREATE DATABASE',
  'CREATE TABLE',
  'CREATE VIEW',
  'DROP TABLE',
  'DROP VIEW',
  'ALTER TABLE',
  'ALTER VIEW',
  'SELECT',
  'INSERT',
] as const;

/** Grafana's data source sets a time limit with every query, which `readonly` alone would refuse. */
const READER_SETTINGS = [
  'readonly = 1',
  'max_execution_time = 30 MAX 60 CHANGEABLE_IN_READONLY',
  'max_memory_usage = 4000000000',
  'max_result_rows = 1000000',
] as const;

/** Public views whose tables all pass, and those tables. */
function readable(schema: SchemaObjects, passes: (table: string) => boolean): string[] {
  const views = PUBLIC_VIEWS.filter((view) => [...tablesOf(schema, view)].every(passes));
  return [...views, ...new Set(views.flatMap((view) => [...tablesOf(schema, view)]))];
}

function tablesOf({ views }: SchemaObjects, view: string): ReadonlySet<string> {
  const tables = views.get(view);
  if (tables === undefined) throw schemaError(`no statement makes the public view ${view}`);
  return tables;
}

const policy = (name: string, table: string, condition: string, roles: readonly string[]): string =>
  `CREATE ROW POLICY OR REPLACE ${quoteIdentifier(name)} ON ${table} FOR SELECT USING ${condition} TO ${list(roles)}`;

const list = (roles: readonly string[]): string => roles.map(quoteIdentifier).join(', ');

/** Tables and views, as far as rights depend on them. */
export interface SchemaObjects {
  /** Tables, and whether their rows belong to a gateway. */
  readonly tables: ReadonlyMap<string, { readonly hasGateway: boolean }>;
  /** Views, and the tables beneath each, however deep. */
  readonly views: ReadonlyMap<string, ReadonlySet<string>>;
}

/** Reads tables and views from the statements that make them: what is added there is known here. */
export function schemaObjects(statements: readonly string[]): SchemaObjects {
  const tables = new Map<string, { hasGateway: boolean }>();
  const texts = new Map<string, string>();
  for (const statement of statements) {
    const [, table, columns = ''] =
      /^CREATE TABLE IF NOT EXISTS (\w+)\s*\(([\s\S]*?)\n\)/m.exec(statement) ?? [];
    if (table !== undefined) tables.set(table, { hasGateway: /^\s*gateway\s/m.test(columns) });
    const [, view, select = ''] = /^CREATE OR REPLACE VIEW (\w+)([\s\S]*)$/m.exec(statement) ?? [];
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
