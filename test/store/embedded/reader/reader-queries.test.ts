import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withEmbedded, type TestStore } from '../../../support/embedded.ts';

let store: TestStore;
beforeAll(async () => {
  store = await withEmbedded({
    readerViews: ['gatewatch.orders', 'gatewatch.plain'],
    readerLimits: { maxExecutionSeconds: 1, maxMemoryBytes: 100_000_000, maxResultRows: 200_000 },
  });
  for (const sql of [
    'CREATE DATABASE gatewatch',
    'CREATE TABLE gatewatch.orders_store (id UInt32, note String) ORDER BY id',
    "INSERT INTO gatewatch.orders_store SELECT number, 'n' FROM numbers(3)",
    'CREATE VIEW gatewatch.orders DEFINER = CURRENT_USER SQL SECURITY DEFINER AS SELECT id, note FROM gatewatch.orders_store',
    'CREATE TABLE gatewatch.plain (id UInt32) ORDER BY id',
    'INSERT INTO gatewatch.plain SELECT 7',
  ]) {
    const response = await asWriter(sql);
    if (!response.ok) throw new Error(await response.text());
  }
});
afterAll(() => store.stop());

function asWriter(sql: string): Promise<Response> {
  const headers = { 'X-ClickHouse-User': store.writer.username, 'X-ClickHouse-Key': store.writer.password };
  return fetch(store.url, { method: 'POST', body: sql, headers });
}

function readerHeaders(): Record<string, string> {
  return { 'X-ClickHouse-User': store.reader.username, 'X-ClickHouse-Key': store.reader.password };
}

async function asReader(
  sql: string,
  params: Record<string, string> = {},
): Promise<{ status: number; text: string }> {
  const search = new URLSearchParams(params);
  const response = await fetch(`${store.url}/?${search}`, {
    method: 'POST',
    body: sql,
    headers: readerHeaders(),
  });
  return { status: response.status, text: await response.text() };
}

describe('the reader may', () => {
  it.each([
    ['SELECT count() FROM gatewatch.orders', '3\n'],
    ['SELECT id FROM gatewatch.orders FINAL ORDER BY id LIMIT 1', undefined],
    ['SELECT * FROM gatewatch.plain', '7\n'],
    [
      'WITH x AS (SELECT id FROM gatewatch.orders) SELECT sum(id) FROM x WHERE id IN (SELECT id FROM gatewatch.orders)',
      '3\n',
    ],
    ['SELECT count() FROM gatewatch.orders WHERE id IN gatewatch.plain', '0\n'],
    [
      'SELECT o.id FROM gatewatch.orders AS o LEFT JOIN gatewatch.plain AS p USING (id) ORDER BY ALL LIMIT 1',
      '0\n',
    ],
    ['(SELECT 1) UNION ALL (SELECT 1)', '1\n1\n'],
    ['SELECT 1 SETTINGS max_threads = 1, join_use_nulls = 1 FORMAT TSV', '1\n'],
    ['SELECT 1 FORMAT TSV SETTINGS max_threads = 1', '1\n'],
    ['SELECT number FROM numbers(10) GROUP BY number FORMAT Null', ''],
    ["SELECT 1 SETTINGS session_timezone = 'Europe/Berlin' FORMAT CSV SETTINGS extremes = 0;", '1\n'],
    ['FROM gatewatch.plain SELECT id', '7\n'],
    ['SELECT sum(number) FROM numbers(10)', '45\n'],
    ['SELECT count() FROM generateSeries(1, 5)', '5\n'],
    ["SELECT a FROM values('a UInt8', 1, 2) ORDER BY a", '1\n2\n'],
    ['SELECT * FROM view(SELECT 1)', '1\n'],
    [
      'SELECT arrayMap(x -> x + 1, [1, 2]), uniqExactIf(1, 1), quantileTDigest(0.5)(2), toStartOfMinute(toDateTime(0))',
      undefined,
    ],
    ['SELECT sumMap([1], [2]), argMaxMerge(s) FROM (SELECT argMaxState(1, 2) AS s)', undefined],
    ['SELECT * EXCEPT (note) REPLACE (id + 1 AS id) FROM gatewatch.orders ORDER BY id LIMIT 1', '1\n'],
    ['SELECT id AS `errors/min`, note FROM gatewatch.orders ORDER BY `errors/min` LIMIT 1', '0\tn\n'],
    ['SELECT row_number() OVER (PARTITION BY note ORDER BY id) FROM gatewatch.orders LIMIT 1', '1\n'],
    [
      'SELECT id FROM gatewatch.orders ORDER BY id WITH FILL FROM 0 TO 5 STEP 1 INTERPOLATE (note AS note)',
      undefined,
    ],
    ['SELECT 1 -- comment; with a semicolon', '1\n'],
    ['SELECT 1 AS mismatches ORDER BY mismatches', '1\n'],
    ['SELECT t.file FROM (SELECT 1 AS file) AS t', '1\n'],
    ["SELECT version() != '', currentDatabase(), timezone(), displayName() != '', revision() > 0", undefined],
    ["SELECT name FROM system.tables WHERE database = 'gatewatch' AND name = 'orders'", 'orders\n'],
    ['SELECT count() > 0 FROM system.columns', '1\n'],
    ['SELECT count() > 0 FROM system.settings', '1\n'],
    ['SELECT count() > 0 FROM information_schema.tables', '1\n'],
    ['SHOW DATABASES', undefined],
    ['SHOW TABLES FROM gatewatch', undefined],
    ["SHOW TABLES FROM gatewatch LIKE 'ord%'", undefined],
    ['SHOW CREATE TABLE gatewatch.orders', undefined],
    ['SHOW COLUMNS FROM gatewatch.orders', undefined],
    ['DESCRIBE TABLE gatewatch.orders', undefined],
    ['EXISTS TABLE gatewatch.orders', '1\n'],
    ['EXPLAIN SELECT * FROM gatewatch.orders', undefined],
    ['EXPLAIN indexes = 1, json = 1, description = 0 SELECT * FROM gatewatch.plain', undefined],
    ['EXPLAIN AST SELECT 1', undefined],
    ['EXPLAIN PIPELINE SELECT 1', undefined],
  ])('%s', async (sql, expected) => {
    const answer = await asReader(sql);
    expect(answer).toEqual({ status: 200, text: expected ?? answer.text });
  });

  it('choose how results are written', async () => {
    const params = {
      output_format_json_quote_64bit_integers: '1',
      default_format: 'JSONEachRow',
      readonly: '2',
      wait_end_of_query: '1',
    };
    expect((await asReader('SELECT toUInt64(1) AS n', params)).text).toBe('{"n":"1"}\n');
  });

  it('send values as parameters, in the URL or in a form', async () => {
    const sql = 'SELECT {n:UInt8} + 1, {s:String}, {a:Array(String)} LIMIT {limit:UInt64}';
    const params = { param_n: '4', param_s: "it's; file('/etc/passwd')", param_a: "['x']", param_limit: '1' };
    const answer = "5\tit\\'s; file(\\'/etc/passwd\\')\t['x']\n";
    expect((await asReader(sql, params)).text).toBe(answer);
    const form = new FormData();
    for (const [name, value] of Object.entries({ ...params, query: sql })) form.set(name, value);
    const response = await fetch(store.url, { method: 'POST', body: form, headers: readerHeaders() });
    expect(await response.text()).toBe(answer);
  });

  it('lower limits in a SETTINGS clause, and not lift them', async () => {
    const settingOf = "SELECT value FROM system.settings WHERE name = 'max_execution_time'";
    expect((await asReader(`${settingOf} SETTINGS max_execution_time = 0.5`)).text).toBe('0.5\n');
    expect(
      (await asReader(`${settingOf} SETTINGS max_execution_time = 100, max_memory_usage = 0`)).text,
    ).toBe('1\n');
  });

  it.each([
    "{'gatewatch.orders' : ' id = \\'1\\' '}",
    "{'gatewatch.orders': 'id IN (\\'1\\') AND note REGEXP \\'n\\''}",
  ])("filter as Grafana's plugin does, by setting and by clause: %s", async (filters) => {
    const sql = 'SELECT count() FROM gatewatch.orders';
    expect((await asReader(sql, { additional_table_filters: filters })).text).toBe('1\n');
    expect((await asReader(`${sql}\nsettings additional_table_filters=${filters}`)).text).toBe('1\n');
  });
});

const secretReads = [
  "SELECT file('/etc/passwd')",
  "SELECT FILE('/etc/passwd')",
  "SELECT `file`('/etc/passwd')",
  "SELECT\n--\n file /* */ ( '/etc/passwd' )",
  "SELECT (SELECT file('/etc/passwd'))",
  "WITH (SELECT file('/etc/passwd')) AS f SELECT f",
  "WITH f AS (SELECT file('/etc/passwd') AS c) SELECT * FROM f",
  "WITH x -> file(x) AS f SELECT f('/etc/passwd')",
  "WITH file AS f SELECT f('/etc/passwd')",
  "SELECT arrayMap(x -> file(x), ['/etc/passwd'])",
  "SELECT arrayMap(file, ['/etc/passwd'])",
  "SELECT arrayMap(`file`, ['/etc/passwd'])",
  "SELECT '/etc/passwd' AS p, * APPLY(file) FROM (SELECT '/etc/passwd')",
  "SELECT * APPLY(x -> file(x)) FROM (SELECT '/etc/passwd')",
  "SELECT COLUMNS('.*') APPLY(file) FROM (SELECT '/etc/passwd')",
  "SELECT * REPLACE(file('/etc/passwd') AS id) FROM gatewatch.plain",
  "SELECT 1 UNION ALL SELECT length(file('/etc/passwd'))",
  "(SELECT 1) INTERSECT (SELECT length(file('/etc/passwd')))",
  "SELECT 1 WHERE file('/etc/passwd') != ''",
  "SELECT 1 LIMIT length(file('/etc/passwd'))",
  "SELECT sum(1) OVER (ORDER BY file('/etc/passwd'))",
  "SELECT sum(1) OVER w FROM gatewatch.plain WINDOW w AS (ORDER BY file('/etc/passwd'))",
  "SELECT id FROM gatewatch.plain ORDER BY id WITH FILL FROM length(file('/etc/passwd')) TO 3",
  "SELECT count() FILTER (WHERE file('/etc/passwd') != '') FROM gatewatch.plain",
  "SELECT * FROM numbers(length(file('/etc/passwd')))",
  "SELECT * FROM view(SELECT file('/etc/passwd'))",
  "EXPLAIN SELECT file('/etc/passwd')",
  "EXPLAIN SYNTAX SELECT file('/etc/passwd')",
  "EXPLAIN QUERY TREE SELECT file('/etc/passwd')",
  "DESCRIBE (SELECT file('/etc/passwd'))",
  "SHOW TABLES FROM gatewatch WHERE file('/etc/passwd') != ''",
  "SHOW TABLES FROM gatewatch LIMIT length(file('/etc/passwd'))",
  "SHOW COLUMNS FROM gatewatch.orders WHERE file('/etc/passwd') != ''",
  'SELECT * FROM `/etc/passwd`',
  'SELECT * FROM default.`/etc/passwd`',
  'SELECT * FROM "../writer.secret"',
  "SELECT 'root' IN `/etc/passwd`",
  "SELECT 'root' NOT IN default.`/etc/passwd`",
  'DESCRIBE `/etc/passwd`',
  'EXISTS TABLE `/etc/passwd`',
  "SELECT * FROM file('/etc/passwd', 'LineAsString')",
  "SELECT 'root' IN file('/etc/passwd', 'LineAsString')",
  "DESCRIBE file('/etc/passwd')",
  "SELECT * FROM filesystem('/etc')",
  "SELECT file('/etc/passwd') FORMAT Null",
  "SELECT file('/etc/passwd') FORMAT RawBLOB",
  "SELECT file('/etc/passwd') FORMAT JSON",
  "SELECT throwIf(file('/etc/passwd') != '', file('/etc/passwd'))",
];

const otherEscapes = [
  "SELECT * FROM url('http://127.0.0.1:1/', 'LineAsString')",
  "SELECT 1 IN url('http://127.0.0.1:1/', 'LineAsString')",
  "SELECT * FROM s3('http://127.0.0.1:1/b/k')",
  "SELECT * FROM remote('127.0.0.1', system.one)",
  "SELECT * FROM cluster('default', system.one)",
  "SELECT * FROM executable('id', 'TSV', 'a String')",
  "SELECT * FROM mysql('127.0.0.1:1', 'a', 'b', 'c', 'd')",
  "SELECT * FROM sqlite('/tmp/a', 'b')",
  "SELECT * FROM merge('gatewatch', '.*')",
  'SELECT * FROM loop(gatewatch.orders_store)',
  "SELECT * FROM mergeTreeIndex('gatewatch', 'orders_store')",
  "SELECT * FROM eval('SELECT 1')",
  "EXPLAIN TABLE OVERRIDE mysql('127.0.0.1:1', 'a', 'b', 'c', 'd') PARTITION BY x",
  "SELECT chdb('SELECT 1')",
  "SELECT dictGet('d', 'a', 1)",
  "SELECT joinGet('gatewatch.plain', 'id', 1)",
  "SELECT hasColumnInTable('gatewatch', 'orders_store', 'id')",
  "SELECT getServerSetting('path')",
  'SELECT sleep(3)',
  "SELECT aiGenerate('x', 'y')",
  'SELECT addressToLine(1)',
  'SELECT * FROM gatewatch.orders_store',
  'SELECT * FROM gatewatch.`orders_store` AS o',
  'SELECT 1 IN gatewatch.orders_store',
  'SELECT (SELECT max(id) FROM gatewatch.orders_store)',
  'SELECT * FROM gatewatch.orders JOIN gatewatch.orders_store USING (id)',
  'SELECT * FROM gatewatch.order_watch',
  'SELECT * FROM gatewatch.ingest_ledger',
  'DESCRIBE gatewatch.orders_store',
  'SHOW CREATE TABLE gatewatch.orders_store',
  'EXPLAIN SELECT * FROM gatewatch.orders_store',
  'SELECT * FROM system.processes',
  'SELECT * FROM system.users',
  'SELECT * FROM system.server_settings',
  'SELECT * FROM system.stack_trace',
  'SHOW PROCESSLIST',
  'SHOW GRANTS',
  'SELECT * FROM (SELECT 1 SETTINGS max_execution_time = 0)',
];

const changes = [
  "SELECT 1 INTO OUTFILE '/tmp/gatewatch-outfile'",
  "SELECT 1 INTO OUTFILE '/tmp/gatewatch-outfile' TRUNCATE FORMAT CSV",
  "(SELECT 1) UNION ALL (SELECT 2) INTO OUTFILE '/tmp/gatewatch-outfile'",
  "SHOW TABLES INTO OUTFILE '/tmp/gatewatch-outfile'",
  'KILL QUERY WHERE 1',
  'USE system',
  'SET readonly = 0',
  'SET param_x = 1',
  'SET ROLE gatewatch_writer_role',
  'SET ROLE DEFAULT',
  'SYSTEM FLUSH LOGS',
  'SYSTEM SHUTDOWN',
  'INSERT INTO gatewatch.plain VALUES (1)',
  'INSERT INTO gatewatch.plain SELECT 1',
  "INSERT INTO FUNCTION file('/tmp/gatewatch-outfile') SELECT 1",
  'CREATE TABLE gatewatch.x (a UInt8) ORDER BY a',
  'CREATE TEMPORARY TABLE x (a UInt8)',
  'CREATE FUNCTION f AS x -> file(x)',
  'ALTER TABLE gatewatch.plain DELETE WHERE 1',
  'DELETE FROM gatewatch.plain WHERE 1',
  'DROP TABLE gatewatch.plain',
  'TRUNCATE TABLE gatewatch.plain',
  'OPTIMIZE TABLE gatewatch.plain',
  'DETACH TABLE gatewatch.plain',
  "BACKUP TABLE gatewatch.plain TO File('/tmp/gatewatch-backup')",
  'EXECUTE AS default SELECT 1',
  'GRANT ALL ON *.* TO default',
  'EXPLAIN INSERT INTO gatewatch.plain SELECT 1',
  'EXPLAIN AST INSERT INTO gatewatch.plain FORMAT CSV 1\n\nDROP TABLE gatewatch.plain;',
  'EXPLAIN CREATE TABLE gatewatch.y ENGINE = Memory AS SELECT 1',
  'SELECT 1; DROP TABLE gatewatch.plain',
  'SELECT 1;\n\nDROP TABLE gatewatch.plain;',
  'SELECT 1 PARALLEL WITH DROP TABLE gatewatch.plain',
  'BEGIN TRANSACTION',
];

describe('the reader may not read what is not its own', () => {
  it.each([...secretReads, ...otherEscapes])('%s', async (sql) => {
    for (const params of [{}, { database: 'gatewatch' }, { default_format: 'JSON' }] as Record<
      string,
      string
    >[]) {
      const { status, text } = await asReader(sql, params);
      expect(status).not.toBe(200);
      expect(text).toMatch(/^Code: (497|164)\. DB::Exception/);
      expect(text).not.toContain('root:');
    }
  });

  it('under the name of a parameter', async () => {
    for (const name of ['orders', 'orders_store', '/etc/passwd']) {
      const { text } = await asReader('SELECT * FROM {t:Identifier}', {
        param_t: name,
        database: 'gatewatch',
      });
      expect(text).toMatch(/^Code: 497/);
    }
    const { text } = await asReader('SELECT arrayMap({f:Identifier}, [1])', { param_f: 'file' });
    expect(text).toMatch(/^Code: 497/);
  });

  it("under a table's inner id, which the canonical text does not have", async () => {
    const { text } = await asReader("SELECT * FROM x UUID '00000000-0000-0000-0000-000000000001'");
    expect(text).toMatch(/^Code: 60\..* in scope SELECT \* FROM x\./);
  });

  it('in the system database under a bare name', async () => {
    const { text } = await asReader('SELECT * FROM processes', { database: 'system' });
    expect(text).toMatch(/^Code: 497/);
  });

  it('in its own folder, whose files a bare name would find', async () => {
    writeFileSync(join(store.dataDir, 'work', 'word'), 'found\n');
    const { status } = await asReader('SELECT * FROM `writer.secret`');
    expect(status).not.toBe(200);
  });
});

describe('the reader may not change anything', () => {
  it.each(changes)('%s', async (sql) => {
    for (const method of ['GET', 'POST']) {
      const search = method === 'GET' ? `?${new URLSearchParams({ query: sql })}` : '';
      const request = method === 'GET' ? {} : { method, body: sql };
      const response = await fetch(`${store.url}/${search}`, { ...request, headers: readerHeaders() });
      const text = await response.text();
      expect(text).toMatch(/^Code: (497|48|62|164)\. DB::Exception/);
    }
    expect(existsSync('/tmp/gatewatch-outfile')).toBe(false);
    expect(await (await asWriter('SELECT count() FROM gatewatch.plain')).text()).toBe('1\n');
  });

  it.each([
    { max_threads: '1', allow_ddl: '1' },
    { max_memory_usage_for_user: '0' },
    { additional_result_filter: 'id = 1' },
    { format_schema: '/etc/passwd' },
    { format_template_row: '/etc/passwd' },
    { dialect: 'prql' },
    { enable_analyzer: '0' },
  ])('by the settings %o', async (params) => {
    const { text } = await asReader('SELECT 1', params as Record<string, string>);
    expect(text).toMatch(/^Code: 164\. DB::Exception: Cannot modify '\w+' setting in readonly mode/);
  });
});

describe('the limits of the reader', () => {
  it('end a statement that takes too long', async () => {
    const started = performance.now();
    const { status, text } = await asReader('SELECT max(sipHash64(number)) FROM numbers(100000000000)');
    expect(text).toMatch(/^Code: 159\..*TIMEOUT_EXCEEDED/s);
    expect(status).toBe(408);
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  it('end a statement that takes too much memory', async () => {
    const { text } = await asReader('SELECT groupArray(number) FROM numbers(1000000000)');
    expect(text).toMatch(/MEMORY_LIMIT_EXCEEDED/);
  });

  it('let a statement go by way of the disk for groups that its memory has no room for', async () => {
    const sql =
      'SELECT count(), sum(n) FROM (SELECT number AS k, uniqExact(number) AS n FROM numbers(400000) GROUP BY k)';
    // By the writer with as much memory, to whom nothing of that applies.
    const refused = await asWriter(`${sql} SETTINGS max_memory_usage = 100000000`);
    expect(await refused.text()).toMatch(/MEMORY_LIMIT_EXCEEDED/);
    expect(await asReader(sql)).toEqual({ status: 200, text: '400000\t400000\n' });
  });

  it.each(['JSONEachRow', 'JSON'])(
    'end a statement whose result in %s is too large',
    async (default_format) => {
      const { text } = await asReader('SELECT number FROM numbers(1000000)', {
        default_format,
        wait_end_of_query: '1',
      });
      expect(text).toMatch(/TOO_MANY_ROWS_OR_BYTES/);
    },
  );

  it('can be lowered and not raised', async () => {
    expect(await seen({ max_execution_time: '0.5' })).toBe('0.5\n');
    expect(await seen({ max_execution_time: '100' })).toBe('1\n');
    expect(await seen({ max_execution_time: '0' })).toBe('1\n');
    expect(await seen({ max_execution_time: '-1' })).toBe('1\n');
  });

  it('let inserts go first', async () => {
    const priority = "SELECT value FROM system.settings WHERE name = 'priority'";
    expect(await asReader(priority)).toMatchObject({ text: '10\n' });
    expect(await asReader(priority, { priority: '1' })).toMatchObject({ text: '10\n' });
  });
});

describe('web pages', () => {
  it.each([
    [{ Host: 'evil.example' }],
    [{ Host: 'evil.example:8123' }],
    [{ Host: '127.0.0.1.evil.example' }],
    [{ Host: 'localhost', Origin: 'https://evil.example' }],
    [{ Host: 'localhost', Origin: 'null' }],
    [{ Host: 'localhost', Origin: 'http://localhost.evil.example' }],
    [{ Host: 'localhost', 'Sec-Fetch-Site': 'cross-site' }],
    [{ Host: 'localhost', 'Sec-Fetch-Site': 'same-site' }],
    [{ Host: 'localhost', 'Sec-Fetch-Site': 'same-origin' }],
    [{ Host: 'localhost', Origin: 'http://localhost:3000' }],
    [{ Host: 'localhost', Origin: 'http://127.0.0.1:8080' }],
  ])('cannot ask, wherever they come from: %o', async (headers) => {
    expect(await rawStatus(headers)).toBe(403);
  });

  it.each([
    [{ Host: 'localhost' }],
    [{ Host: `127.0.0.1:8123` }],
    [{ Host: '[::1]:8123' }],
    [{ Host: 'localhost', 'Sec-Fetch-Site': 'none' }],
  ])('are not what a program or a typed address is: %o', async (headers) => {
    expect(await rawStatus(headers)).toBe(200);
  });
});

async function rawStatus(headers: Record<string, string>): Promise<number> {
  const { request } = await import('node:http');
  return new Promise((resolve, reject) => {
    request(`${store.url}/?query=SELECT+1`, { headers: { ...headers, ...readerHeaders() } }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .on('error', reject)
      .end();
  });
}

async function seen(params: Record<string, string>): Promise<string> {
  const sql = "SELECT value FROM system.settings WHERE name = 'max_execution_time'";
  return (await asReader(sql, params)).text;
}
