import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cli, cliOnTerminal, MAIN } from './support/cli.ts';
import { migratedStore, ORDER, seedOrder, type MigratedStore } from './support/seeded-order.ts';

let db: MigratedStore;
let env: Record<string, string>;
let empty: string;

beforeAll(async () => {
  empty = mkdtempSync(join(tmpdir(), 'gatewatch-empty-'));
  db = await migratedStore();
  await seedOrder(db.store);
  env = { GATEWATCH_DATA_DIR: db.embedded.dataDir };
});
afterAll(async () => {
  await db.stop();
  rmSync(empty, { recursive: true, force: true });
});

const sql = (statement: string, ...args: string[]) => cli(['sql', statement, ...args], { env });

describe('sql on the running embedded store', () => {
  test('prints tab-separated text in a pipe', async () => {
    const result = await sql('SELECT action, stage FROM history_events ORDER BY event_time LIMIT 2');
    expect(result).toEqual({ code: 0, stdout: '1.1.1.00\tINTERNAL\n2.1.1.00\tGATEWAY_CREATE\n', stderr: '' });
  });

  test('prints a table on a terminal', async () => {
    const { code, stdout } = await cliOnTerminal(['sql', 'SELECT 1 AS one'], {
      env: { ...env, NO_COLOR: '1' },
    });
    expect(stdout).toMatch(/┌─one─┐/);
    expect(code).toBe(0);
  });

  test('shows on a terminal that it is waiting, and only there', async () => {
    const statement = 'SELECT sleep(3)';
    const terminal = await cliOnTerminal(['sql', statement, '--format', 'TSV', '--write'], { env });
    expect(terminal.stdout).toContain('waiting for the store ... 2 s');
    expect(terminal.stdout.endsWith('0\n')).toBe(true);
    expect(await sql(statement, '--write')).toEqual({ code: 0, stdout: '0\n', stderr: '' });
  });

  test('prints JSON lines with --json, and any format of ClickHouse with --format', async () => {
    const json = await sql(`SELECT external_id, status FROM orders`, '--json');
    expect(JSON.parse(json.stdout)).toEqual({ external_id: ORDER.external_id, status: 'Failed' });
    const csv = await sql('SELECT 1 AS a, 2 AS b', '--format', 'CSVWithNames');
    expect(csv.stdout).toBe('"a","b"\n1,2\n');
    const cells = await sql("SELECT NULL AS a, '=1+1' AS b, -1 AS c", '--format', 'CSV');
    expect(cells.stdout).toBe(',"\'=1+1",-1\n');
    const own = await sql('SELECT 1 AS a FORMAT CSVWithNames');
    expect(own.stdout).toBe('"a"\n1\n');
  });

  test('reads the statement from stdin for -', async () => {
    const result = await cli(['sql', '-'], { env, input: '-- how many?\nSELECT count()\nFROM orders\n' });
    expect(result.stdout).toBe('1\n');
  });

  test('cannot change anything, and says what it takes', async () => {
    const { code, stdout, stderr } = await sql('DROP TABLE history_events_store');
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toMatch(/^error: Code: \d+/);
    expect(stderr).toContain('--write');
    expect((await sql('SELECT count() FROM history_events')).stdout).toBe('5\n');
  });

  test('can with --write', async () => {
    expect(await sql('CREATE TABLE mine (x UInt8) ENGINE = Memory', '--write')).toMatchObject({ code: 0 });
    expect((await sql('EXISTS TABLE mine', '--write')).stdout).toBe('1\n');
    expect(await sql('DROP TABLE mine', '--write')).toMatchObject({ code: 0, stdout: '', stderr: '' });
  });

  test("shows ClickHouse's own words about a wrong statement", async () => {
    const { code, stderr } = await sql('SELECT statuss FROM orders');
    expect(code).toBe(1);
    expect(stderr).toContain('UNKNOWN_IDENTIFIER');
    expect(stderr).toContain('statuss');
    const unknown = await sql('SELECT 1 FROM ordersss');
    expect(unknown.stderr).toContain('SHOW TABLES');
  });

  test('streams a large result, and stops when its reader has enough', async () => {
    const statement = "SELECT number, repeat('x', 100) FROM numbers(300000)";
    const child = spawn(
      'bash',
      ['-c', `"$0" "$1" sql "$2" | head -n 1; echo "\${PIPESTATUS[0]}"`, process.execPath, MAIN, statement],
      { env: { PATH: process.env['PATH'] ?? '', ...env }, stdio: ['ignore', 'pipe', 'pipe'] },
    );
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
    expect(stderr).toBe('');
    expect(stdout).toBe(`0\t${'x'.repeat(100)}\n0\n`);
    expect((await sql(statement)).stdout.split('\n')).toHaveLength(300_001);
  });
});

function configured(more: Record<string, string> = {}): Record<string, string> {
  return {
    GATEWATCH_CLICKHOUSE_URL: db.embedded.url,
    GATEWATCH_CLICKHOUSE_USER: db.embedded.writer.username,
    GATEWATCH_CLICKHOUSE_PASSWORD: db.embedded.writer.password,
    ...more,
  };
}

describe('sql on a configured server', () => {
  test('reads with the configured user', async () => {
    const read = await cli(['sql', 'SELECT count() FROM orders'], { env: configured() });
    expect(read).toEqual({ code: 0, stdout: '1\n', stderr: '' });
  });

  test('asks it to only read, unless --write is given', async () => {
    const asked: URLSearchParams[] = [];
    const relay = createServer((request, response) => {
      asked.push(new URL(request.url ?? '', 'http://relay').searchParams);
      const onward = httpRequest(
        db.embedded.url + (request.url ?? ''),
        { method: 'POST', headers: request.headers },
        (reply) => {
          response.writeHead(reply.statusCode ?? 500, reply.headers);
          reply.pipe(response);
        },
      );
      request.pipe(onward);
    });
    await once(relay.listen(0, '127.0.0.1'), 'listening');
    const { port } = relay.address() as AddressInfo;
    const relayed = configured({ GATEWATCH_CLICKHOUSE_URL: `http://127.0.0.1:${port}` });
    expect((await cli(['sql', 'SELECT 1'], { env: relayed })).stdout).toBe('1\n');
    expect((await cli(['sql', 'SELECT 2', '--write'], { env: relayed })).stdout).toBe('2\n');
    await new Promise((resolve) => relay.close(resolve));
    expect(asked.map((params) => params.get('readonly'))).toEqual(['2', null]);
  });

  test('reports a wrong password, and never prints it', async () => {
    const { code, stderr } = await cli(['sql', 'SELECT 1'], {
      env: configured({ GATEWATCH_CLICKHOUSE_PASSWORD: 's3cret-wrong' }),
    });
    expect(code).toBe(1);
    expect(stderr).toContain('Authentication failed');
    expect(stderr).not.toContain('s3cret');
  });

  test('reports an address where nothing answers', async () => {
    const { code, stderr } = await cli(['sql', 'SELECT 1'], {
      env: configured({ GATEWATCH_CLICKHOUSE_URL: 'http://127.0.0.1:1' }),
    });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error: The store at http:\/\/127\.0\.0\.1:1 does not answer \(\w+/);
  });

  test('reports a database that is not there yet', async () => {
    const { code, stderr } = await cli(['sql', 'SELECT 1 FROM orders'], {
      env: configured({ GATEWATCH_CLICKHOUSE_DATABASE: 'not_yet' }),
    });
    expect(code).toBe(1);
    expect(stderr).toContain('gatewatch migrate');
  });
});

describe('sql without a running store', () => {
  test('makes none: where there is no data, it says how to go on', async () => {
    const { code, stdout, stderr } = await cli(['sql', 'SELECT 1'], { cwd: empty });
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toContain('There is no store in .gatewatch');
    expect(stderr).toContain('gatewatch run');
    expect(readdirSync(empty)).toEqual([]);
  });
});
