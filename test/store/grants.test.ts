import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadChdb } from '../../store/embedded/chdb-library.ts';
import type { EngineSession } from '../../store/embedded/engine.ts';
import { grantStatements, PUBLIC_VIEWS, rolesOf, schemaObjects } from '../../store/grants.ts';
import { schemaStatements } from '../../store/migrate.ts';
import { FINDING_TABLES, PAGE_VIEWS, PAYMENT_COUNT_TABLES, TABLES } from '../../schemas/names.ts';

const OPTIONS = { database: 'gatewatch', gateways: ['acme-eu'] } as const;
const ROLES = rolesOf(OPTIONS);
const ACME = ROLES.analystOf.get('acme-eu') ?? '';

let folder: string;
let schema: readonly string[];
let statements: string[];
let session: EngineSession;

/**
 * What a role is granted, without what only SQL knows: the engine reads grants from its configuration here.
 */
const rightsOf = (role: string): string =>
  statements
    .find((one) => one.startsWith('GRANT') && one.includes(` TO \`${role}\``))
    ?.replace(/ TO `.*$/, '') ?? '';

/**
 * The engine as a library has no place to keep roles that SQL makes. Its configuration can have the same
 * grants, and the same conditions of row policies, for a user: here all rows are narrowed to one gateway.
 */
beforeAll(async () => {
  schema = await schemaStatements();
  statements = grantStatements(schema, OPTIONS);
  folder = mkdtempSync(join(tmpdir(), 'gatewatch-grants-'));
  mkdirSync(join(folder, 'data'));
  const roles = [ROLES.migrator, ROLES.collector, ROLES.analyst, ACME];
  const filters = statements.flatMap((one) => {
    const [, table, condition] = /ON `gatewatch`\.`(\w+)` FOR SELECT USING (gateway = .*) TO/.exec(one) ?? [];
    return table === undefined ? [] : [`<${table}><filter>${condition}</filter></${table}>`];
  });
  writeFileSync(
    join(folder, 'users.xml'),
    `<clickhouse><profiles><default/></profiles><quotas><default/></quotas>
<roles>${roles.map((role) => `<${role}><grants><query>${rightsOf(role)}</query></grants></${role}>`).join('\n')}
<all><grants><query>GRANT ALL ON *.*</query></grants></all></roles>
<users><default><password></password><networks><ip>::/0</ip></networks><profile>default</profile><quota>default</quota>
<grants><query>GRANT all, ${roles.map((role) => `\`${role}\``).join(', ')}</query></grants>
<databases><gatewatch>${filters.join('\n')}</gatewatch></databases></default></users></clickhouse>`,
  );
  writeFileSync(
    join(folder, 'config.xml'),
    `<clickhouse><users_config>${folder}/users.xml</users_config>
<user_directories><users_xml><path>${folder}/users.xml</path></users_xml></user_directories></clickhouse>`,
  );
  session = (await loadChdb()).openSession(join(folder, 'data'), [`--config-file=${folder}/config.xml`]);
});
afterAll(async () => {
  await session.close();
  rmSync(folder, { recursive: true, force: true });
});

const ask = async (sql: string): Promise<string> => (await session.query(sql, 'TSVRaw')).text().trim();
const as = async (role: string, sql: string): Promise<string> => {
  await ask(`SET ROLE \`${role}\``);
  try {
    return await ask(sql);
  } finally {
    await ask('SET ROLE `all`');
  }
};
const parameters = ['rule', 'gateway'].map((name) => `${name} = ''`).join(', ');
const range = ['from', 'to'].map((name) => `${name} = toDateTime64(0, 6, 'UTC')`).join(', ');
const argumentsOf = (view: string): string => {
  return PAGE_VIEWS.includes(view) ? `(${parameters}, ${range}, as_of = toDateTime64(0, 6, 'UTC'))` : '';
};
const countOf = (view: string): string => `SELECT count() FROM gatewatch.${view}${argumentsOf(view)}`;

describe('the grants', () => {
  it('are statements that the engine can read, and can be repeated', async () => {
    for (const statement of statements) {
      await expect(
        ask(`SELECT formatQuery('${statement.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}')`),
      ).resolves.not.toBe('');
      expect(statement).toMatch(
        /^(CREATE ROLE IF NOT EXISTS|CREATE (ROW POLICY|SETTINGS PROFILE) OR REPLACE|GRANT .* WITH REPLACE OPTION$)/,
      );
    }
  });

  it('know every view and table of the schema: a new one is not forgotten', () => {
    const { tables, views } = schemaObjects(schema);
    expect([...views.keys()].toSorted()).toEqual([...PUBLIC_VIEWS].toSorted());
    expect([...tables.keys()]).toEqual(
      expect.arrayContaining(
        [TABLES, FINDING_TABLES, PAYMENT_COUNT_TABLES].flatMap((tables): string[] => Object.values(tables)),
      ),
    );
    for (const [table, { hasGateway }] of tables)
      expect(
        statements.some((one) =>
          one.includes(`ROW POLICY OR REPLACE \`gatewatch_acme-eu\` ON \`gatewatch\`.\`${table}\``),
        ),
      ).toBe(hasGateway);
  });

  it('quote names: a gateway is a name and not SQL', () => {
    const sql = grantStatements(schema, { database: 'a`b', gateways: ["x' OR '1"] }).find((one) =>
      one.includes('gateway ='),
    );
    expect(sql).toContain("USING gateway = 'x\\' OR \\'1' TO");
    expect(sql).toContain('ON `a\\`b`.');
  });
});

describe('with its role and nothing more', () => {
  it('the migrator makes the whole schema', async () => {
    await ask('CREATE DATABASE gatewatch');
    await ask('USE gatewatch');
    await ask(`SET ROLE \`${ROLES.migrator}\``);
    for (const statement of schema) await ask(statement);
    await ask('SET ROLE `all`');
    await expect(as(ROLES.migrator, 'CREATE TABLE default.x (y UInt8) ENGINE = Memory')).rejects.toThrow(
      'ACCESS_DENIED',
    );
  });

  it('the migrator replaces a view and its mark, and the collector sees that nothing is left to do', async () => {
    const view = schema.findLast((statement) => /^CREATE OR REPLACE VIEW callbacks\b/.test(statement)) ?? '';
    await as(ROLES.migrator, `${view}\nCOMMENT 'a mark'`);
    // What a start compares; a view that it does not see it would make again, which its role may not.
    const marks = `SELECT groupArrayIf(comment, name = 'callbacks'), count() FROM system.tables
      WHERE database = 'gatewatch' AND engine = 'View'`;
    const { views } = schemaObjects(schema);
    await expect(as(ROLES.collector, marks)).resolves.toBe(`['a mark']\t${views.size}`);
    await expect(as(ROLES.collector, view)).rejects.toThrow('ACCESS_DENIED');
  });

  it('the collector inserts what it stores, reads what it stored, and changes no table', async () => {
    const insert = (gateway: string): string =>
      `INSERT INTO gatewatch.annotations_store (annotation_id, gateway, title, starts_at) VALUES ('${gateway}', '${gateway}', '', now64(6))`;
    for (const gateway of ['acme-eu', 'other'])
      await as(ROLES.collector, insert(gateway).replace(/VALUES \((.*)\)$/, 'SELECT $1'));
    await as(
      ROLES.collector,
      `INSERT INTO gatewatch.${FINDING_TABLES.moves} (gateway, before, after) SELECT 'acme', '', ''`,
    );
    for (const table of Object.values(TABLES))
      await as(ROLES.collector, `SELECT count() FROM gatewatch.${table}`);
    for (const sql of [
      'DROP TABLE gatewatch.polls_store',
      'TRUNCATE TABLE gatewatch.polls_store',
      'ALTER TABLE gatewatch.polls_store REMOVE TTL',
      'ALTER TABLE gatewatch.polls_store DELETE WHERE 1',
    ])
      await expect(as(ROLES.collector, sql)).rejects.toThrow(/ACCESS_DENIED|UNKNOWN_TABLE/);
  });

  it('an analyst reads every public view, and nothing beside them', async () => {
    for (const view of PUBLIC_VIEWS) await expect(as(ROLES.analyst, countOf(view))).resolves.toMatch(/^\d+$/);
    for (const sql of [
      'SELECT * FROM gatewatch.ingest_ledger',
      'SELECT * FROM gatewatch.jobs_store',
      "INSERT INTO gatewatch.annotations_store (annotation_id) SELECT 'x'",
      'DROP VIEW gatewatch.orders',
      "SELECT * FROM file('/etc/passwd', 'LineAsString')",
      "SELECT * FROM url('http://127.0.0.1:1', 'CSV', 'x String')",
    ])
      await expect(as(ROLES.analyst, sql)).rejects.toThrow('ACCESS_DENIED');
  });

  it('an analyst of one gateway sees its rows only, through the view and beneath it', async () => {
    const stored = "SELECT sum(rows) FROM system.parts WHERE table = 'annotations_store' AND active";
    expect(await ask(stored)).toBe('2');
    for (const table of ['annotations', 'annotations_store'])
      expect(await as(ACME, `SELECT groupUniqArray(gateway) FROM gatewatch.${table}`)).toBe("['acme-eu']");
    // It holds what concerns no single gateway.
    await expect(as(ACME, 'SELECT * FROM gatewatch.collector_status')).rejects.toThrow('ACCESS_DENIED');
    await expect(as(ACME, countOf('orders'))).resolves.toMatch(/^\d+$/);
    for (const view of PAGE_VIEWS) await expect(as(ACME, countOf(view))).resolves.toMatch(/^\d+$/);
  });
});
