import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allowedFormats } from '../../../../store/embedded/reader/allowed-formats.ts';
import { allowedFunctions, type AllowedNames } from '../../../../store/embedded/reader/allowed-functions.ts';
import { allowedSettings, settingKind } from '../../../../store/embedded/reader/allowed-settings.ts';
import {
  allowedSystemTables,
  allowedTableFunctions,
} from '../../../../store/embedded/reader/allowed-tables.ts';
import { createReaderPolicy, type ReaderPolicy } from '../../../../store/embedded/reader/policy-client.ts';
import { startPolicy } from '../../../../store/embedded/reader/policy-start.ts';
import { parse as parseYaml } from 'yaml';
import { PAGE_VIEWS } from '../../../../schemas/names.ts';
import { withEmbedded, type TestStore } from '../../../support/embedded.ts';
import { expandPanelSql } from '../../../support/macros.ts';

const ROOT = join(import.meta.dirname, '../../../..');
const namesOf = (groups: readonly AllowedNames[]): string[] => groups.flatMap(({ names }) => [...names]);

describe('what a reader may use', () => {
  let store: TestStore;
  beforeAll(async () => {
    store = await withEmbedded();
  });
  afterAll(() => store.stop());

  async function known(sql: string): Promise<Set<string>> {
    const headers = { 'X-ClickHouse-User': store.writer.username, 'X-ClickHouse-Key': store.writer.password };
    const response = await fetch(store.url, { method: 'POST', body: `${sql} FORMAT TSVRaw`, headers });
    return new Set((await response.text()).trimEnd().split('\n'));
  }

  it.each([
    ['functions', namesOf(allowedFunctions), 'SELECT name FROM system.functions', ['untuple', 'exists']],
    [
      'table functions',
      namesOf(allowedTableFunctions),
      'SELECT name FROM system.table_functions',
      PAGE_VIEWS.flatMap((name) => [name, `gatewatch.${name}`]),
    ],
    [
      'system tables',
      namesOf(allowedSystemTables),
      "SELECT name FROM system.tables WHERE database = 'system'",
      [],
    ],
    ['formats', namesOf(allowedFormats), 'SELECT name FROM system.formats WHERE is_output', []],
  ])('has %s that the engine has, each once', async (_kind, names, sql, besides) => {
    const there = await known(sql);
    expect(names.filter((name) => !there.has(name) && !besides.includes(name))).toEqual([]);
    expect(new Set(names).size).toBe(names.length);
  });

  it('has settings that the engine or its HTTP interface has, each once', async () => {
    const names = allowedSettings.flatMap(({ names: some }) => some);
    const there = await known('SELECT name FROM system.settings');
    expect(names.filter((name) => !there.has(name))).toEqual([]);
    expect(new Set(names).size).toBe(names.length);
    for (const name of there) {
      if (/schema|path|file|template|url|allow_|enable_/.test(name) && settingKind(name) !== null)
        expect(name).toBe('low_cardinality_allow_in_native_format');
    }
  });

  it('has a reason for everything', () => {
    const groups = [
      allowedFunctions,
      allowedTableFunctions,
      allowedSystemTables,
      allowedFormats,
      allowedSettings,
    ];
    for (const { reason } of groups.flat()) expect(reason).toMatch(/^[A-Z0-9].{10,}\.$/);
  });
});

/** Requests of programs that people point at the store. */
const CLIENTS: readonly (readonly [string, string])[] = [
  ['Grafana: databases', 'SHOW DATABASES'],
  ['Grafana: tables', 'SHOW TABLES FROM "gatewatch"'],
  ['Grafana: columns', 'DESC TABLE "gatewatch"."orders"'],
  ['Grafana: version', 'SELECT version()'],
  ['Grafana: tags', "SELECT name, type, table FROM system.columns WHERE database IN ('gatewatch')"],
  ['Grafana: tag values', 'select distinct stage from gatewatch.history_events limit 1000'],
  ['Grafana: keys', 'SELECT DISTINCT arrayJoin(m.keys) as keys FROM "gatewatch"."t" LIMIT 1000'],
  [
    'Grafana: paths',
    'SELECT arrayJoin(distinctJSONPathsAndTypes(j)) FROM "t" SETTINGS max_execution_time=10',
  ],
  [
    'Grafana: functions',
    'SELECT name, is_aggregate, case_insensitive, alias_to, origin, description, syntax, arguments, returned_value, examples, categories FROM system.functions LIMIT 10000',
  ],
  [
    'Grafana: filters',
    "SELECT count() FROM gatewatch.orders\nsettings additional_table_filters={'gatewatch.orders' : ' gateway = \\'a\\' AND status IN (\\'x\\', \\'y\\') '}",
  ],
  ['Go', 'SELECT displayName(), version(), revision(), timezone()'],
  ['Python', 'SELECT version(), timezone()'],
  ['Python: settings', 'SELECT name, value, readonly FROM system.settings'],
  [
    'Python: columns',
    "SELECT name, type FROM system.columns WHERE table = 'orders' AND database = 'gatewatch'",
  ],
  [
    'JDBC',
    "SELECT currentUser() AS user, timezone() AS timezone, version() AS version, getSizeOfEnumType(CAST('a', 'Enum8(\\'a\\' = 1)'))",
  ],
  ['Superset', "SELECT name FROM system.tables WHERE database = 'gatewatch' AND engine LIKE '%View%'"],
  [
    'Metabase',
    'SELECT * FROM (SELECT count() AS c FROM gatewatch.orders WHERE created_at BETWEEN now() - 60 AND now()) LIMIT 2000',
  ],
  ['DBeaver', 'SELECT * FROM information_schema.columns WHERE table_schema = currentDatabase()'],
  ['DBeaver: DDL', 'SHOW CREATE TABLE gatewatch.orders'],
];

describe('the policy lets pass', () => {
  let folder: string;
  let policy: ReaderPolicy;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gatewatch-policy-'));
    policy = createReaderPolicy({ connect: () => startPolicy(join(folder, 'policy')), log: () => undefined });
  });
  afterAll(async () => {
    policy.close();
    await rm(folder, { recursive: true, force: true });
  });

  const judge = (sql: string) =>
    policy.judge({
      search: [],
      database: 'gatewatch',
      contentType: '',
      contentEncoding: '',
      body: Buffer.from(sql),
    });

  it.each(CLIENTS)('%s', async (_client, sql) => {
    await expect(judge(sql)).resolves.toBeDefined();
  });

  it.each(['dashboards/out', 'alerts/out', 'alerts/runbooks', 'docs'])(
    'every statement of %s, and its canonical text is canonical',
    async (where) => {
      const statements = statementsOf(join(ROOT, where));
      expect(statements.length).toBeGreaterThan(2);
      const failures: string[] = [];
      for (const sql of statements) {
        try {
          const { statement } = await judge(sql);
          const again = await judge(statement.sql);
          if (again.statement.sql !== statement.sql) failures.push(`not canonical: ${statement.sql}`);
        } catch (error) {
          failures.push(`${(error as Error).message.slice(0, 200)}: ${sql.slice(0, 300)}`);
        }
      }
      expect(failures).toEqual([]);
    },
    300_000,
  );
});

/** All that is SQL in the files below a folder: `rawSql` of JSON and YAML, and blocks of Markdown. */
function statementsOf(folder: string): string[] {
  const found = new Set<string>();
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  for (const file of files) {
    if (file.endsWith('.json')) collect(JSON.parse(readFileSync(join(folder, file), 'utf8')), found);
    if (/\.ya?ml$/.test(file)) collectYaml(readFileSync(join(folder, file), 'utf8'), found);
    if (file.endsWith('.md'))
      for (const [, sql = ''] of readFileSync(join(folder, file), 'utf8').matchAll(/```sql\n(.*?)```/gs))
        found.add(sql);
  }
  const now = new Date('2026-01-01T12:00:00Z');
  const context = { from: new Date(now.getTime() - 3_600_000), to: now, intervalMs: 60_000 };
  return [...found].map((sql) => expandPanelSql(sql.replace(/;\s*$/, ''), context, variablesOf(sql)));
}

/** Every variable of Grafana's has a value. */
function variablesOf(sql: string): Record<string, readonly string[]> {
  const names = [...sql.matchAll(/\$\{?([a-z]\w*)/g)].map((match) => match[1] ?? '');
  return Object.fromEntries(names.map((name) => [name, ['a']]));
}

function collect(value: unknown, found: Set<string>): void {
  if (Array.isArray(value)) for (const one of value) collect(one, found);
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    if (key === 'rawSql' && typeof inner === 'string') found.add(inner);
    else collect(inner, found);
  }
}

function collectYaml(text: string, found: Set<string>): void {
  // Generated files write each statement as one JSON string or as a block; the parser knows both.
  collect(parseYaml(text), found);
}
