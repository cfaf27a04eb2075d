import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withEmbedded, type TestStore } from '../../support/embedded.ts';

const run = promisify(execFile);
const cache = join(import.meta.dirname, '../../../.cache');

let store: TestStore;
beforeAll(async () => {
  store = await withEmbedded({ readerPassword: 'none', readerViews: ['default.c', 'default.p'] });
});
afterAll(() => store.stop());

async function curl(...args: string[]): Promise<string> {
  return (await run('curl', args)).stdout;
}

describe('curl', () => {
  const missing = spawnSync('curl', ['--version']).error !== undefined;

  it.skipIf(missing)("reads, writes and gets the engine's own errors", async () => {
    const writer = ['-sS', '--user', `${store.writer.username}:${store.writer.password}`];
    await curl(...writer, store.url, '--data-binary', 'CREATE TABLE c (a UInt8, b String) ORDER BY a');
    await curl(
      ...writer,
      `${store.url}/?query=INSERT%20INTO%20c%20FORMAT%20CSV`,
      '--data-binary',
      '1,"x\n\nDROP TABLE c;"\n',
    );
    await curl(...writer, store.url, '-d', "INSERT INTO c VALUES (2, 'y')");
    expect(
      await curl('-sS', '-G', store.url, '--data-urlencode', 'query=SELECT sum(a), count() FROM c'),
    ).toBe('3\t2\n');
    expect(
      await curl('-sS', '--compressed', `${store.url}/?query=SELECT+b+FROM+c+WHERE+a=1+FORMAT+TSV`),
    ).toBe('x\\n\\nDROP TABLE c;\n');
    expect(await curl('-sS', store.url, '-d', 'SELEC 1')).toMatch(/^Code: 62\. DB::Exception: Syntax error/);
  });
});

const python = `
import sys, datetime, decimal, clickhouse_connect
port, password = int(sys.argv[1]), sys.argv[2]
writer = clickhouse_connect.get_client(host='127.0.0.1', port=port, username='gatewatch', password=password)
writer.command("CREATE TABLE p (id UInt32, note String, at DateTime64(6, 'UTC'), tags Array(LowCardinality(String)), "
               "amount Nullable(Decimal(18, 2)), kind Enum8('a' = 1, 'b' = 2), m Map(String, UInt8)) ORDER BY id")
at = datetime.datetime(2026, 1, 2, tzinfo=datetime.timezone.utc)
rows = [[1, 'x\\n\\nDROP TABLE p;', at, ['t', 'u'], decimal.Decimal('1.50'), 'a', {'k': 1}],
        [2, 'y', at, [], None, 'b', {}]]
columns = ['id', 'note', 'at', 'tags', 'amount', 'kind', 'm']
assert writer.insert('p', rows, column_names=columns).written_rows == 2
reader = clickhouse_connect.get_client(host='127.0.0.1', port=port)
got = reader.query('SELECT * FROM p WHERE id < {n:UInt8} ORDER BY id', parameters={'n': 5}).result_rows
assert [(r[1], r[3], r[4], r[5], r[6]) for r in got] == [(r[1], r[3], r[4], r[5], r[6]) for r in rows], got
with reader.query_row_block_stream('SELECT number, toString(number) FROM numbers(200000)') as blocks:
    assert sum(len(block) for block in blocks) == 200000
assert reader.query('SELECT 1 WHERE 0').result_rows == []
for refused in ['DROP TABLE p', "SELECT file('/etc/passwd')"]:
    try:
        reader.command(refused)
        sys.exit('not refused: ' + refused)
    except clickhouse_connect.driver.exceptions.DatabaseError as error:
        assert 'ACCESS_DENIED' in str(error), error
print('done')
`;

describe("Python's clickhouse-connect", () => {
  it('reads and writes unmodified, in its own binary format', async (context) => {
    const [interpreter, reason] = await clickhouseConnect();
    if (interpreter === null) return context.skip(`clickhouse-connect is not available: ${reason}`);
    const { stdout } = await run(interpreter, [
      '-c',
      python,
      String(store.store.port),
      store.writer.password,
    ]);
    expect(stdout.trim()).toBe('done');
  });
});

/** A virtual environment with the client, kept from run to run; or why there is none. */
async function clickhouseConnect(): Promise<[string, null] | [null, string]> {
  const folder = join(cache, 'clickhouse-connect');
  const interpreter = join(folder, 'bin', 'python');
  try {
    if (existsSync(interpreter)) {
      await run(interpreter, ['-c', 'import clickhouse_connect']);
      return [interpreter, null];
    }
  } catch {
    // An installation that was cut off: made anew.
  }
  try {
    await run('python3', ['-m', 'venv', '--clear', folder]);
    await run(interpreter, [
      '-m',
      'pip',
      'install',
      '--quiet',
      '--disable-pip-version-check',
      'clickhouse-connect==1.12.0',
    ]);
    return [interpreter, null];
  } catch (error) {
    return [null, error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)];
  }
}

describe('blocks of the format Native', () => {
  const everything = `SELECT number AS n, toString(number) AS s, [toLowCardinality('a'), 'b'] AS a,
    CAST(if(number = 1, NULL, 'v') AS LowCardinality(Nullable(String))) AS lc, toDecimal64(1.5, 2) AS d,
    CAST('x' AS Enum8('x' = 1, 'it''s, (2)' = 2)) AS e, map('k', [number]) AS m, (1, 'z') AS t,
    CAST((1, 'q') AS Tuple(x UInt8, \`y z\` Nullable(String))) AS named, toFixedString('abc', 3) AS f,
    toDateTime64('2026-01-01 00:00:00.5', 6, 'UTC') AS at, toIPv6('::1') AS ip, INTERVAL 1 DAY AS i
    FROM numbers(3)`;

  it('come with what a newer client expects around each column', async () => {
    const old = Buffer.from(await (await native(everything)).arrayBuffer());
    const head = Buffer.from([1, 0, 2, 255, 255, 255, 255, 0]);
    const v54405 = Buffer.from(await (await native(everything, '54405')).arrayBuffer());
    expect(v54405.length).toBe(old.length + head.length);
    expect(v54405.subarray(0, head.length)).toEqual(head);
    const v54460 = Buffer.from(await (await native(everything, '54460')).arrayBuffer());
    expect(v54460.length).toBe(old.length + head.length + 13);
    const small = Buffer.from(await (await native('SELECT toUInt8(7) AS n', '54460')).arrayBuffer());
    expect(small).toEqual(
      Buffer.concat([head, Buffer.from([1, 1, 1]), Buffer.from('n\u0005UInt8'), Buffer.from([0, 7])]),
    );
  });

  it('are refused in words where a type cannot be distinguished', async () => {
    const response = await native('SELECT sumState(1) AS s, 1 AS other', '54460');
    expect([response.status, await response.text()]).toEqual([
      501,
      expect.stringContaining('convert them to String'),
    ]);
    expect((await native('SELECT 1', '99999')).status).toBe(501);
  });
});

async function native(sql: string, version?: string): Promise<Response> {
  const search = new URLSearchParams({ query: sql, default_format: 'Native' });
  if (version !== undefined) search.set('client_protocol_version', version);
  return fetch(`${store.url}/?${search}`);
}
