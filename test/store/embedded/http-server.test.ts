import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync, gunzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withEmbedded, type TestStore } from '../../support/embedded.ts';
import { until } from '../../support/until.ts';

let store: TestStore;
beforeAll(async () => {
  // Who must show a password is looked at below.
  store = await withEmbedded({ readerPassword: 'none' });
  await post('CREATE DATABASE gatewatch');
  await post('CREATE TABLE gatewatch.t (id UInt32, note String) ORDER BY id');
});
afterAll(() => store.stop());

interface PostOptions {
  readonly params?: Record<string, string>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  readonly headers?: Record<string, string>;
}

/** Sends as the writer: the statement in the body, or in the URL when a body is given. */
async function send(statement: string, options: PostOptions = {}): Promise<Response> {
  const inUrl: Record<string, string> = options.body === undefined ? {} : { query: statement };
  const search = new URLSearchParams({ ...inUrl, ...options.params });
  return fetch(`${store.url}/?${search}`, {
    method: 'POST',
    body: options.body ?? statement,
    headers: { ...asWriter(), ...options.headers },
  });
}

async function post(statement: string, options: PostOptions = {}): Promise<string> {
  const response = await send(statement, options);
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status}: ${text}`);
  return text;
}

function asWriter(): Record<string, string> {
  return { 'X-ClickHouse-User': store.writer.username, 'X-ClickHouse-Key': store.writer.password };
}

function get(search: Record<string, string>, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${store.url}/?${new URLSearchParams(search)}`, { headers });
}

describe('liveness', () => {
  it.each(['/ping', '/replicas_status', '/'])('answers Ok. on %s without credentials', async (path) => {
    const response = await fetch(`${store.url}${path}`);
    expect(response.status).toBe(200);
    expect(await response.text()).toBe('Ok.\n');
  });

  it('answers 404 on a path that ClickHouse does not have', async () => {
    expect((await fetch(`${store.url}/nowhere?query=SELECT+1`)).status).toBe(404);
  });
});

describe('statements', () => {
  it('come in the URL of a GET', async () => {
    expect(await (await get({ query: 'SELECT 1 + 1' })).text()).toBe('2\n');
  });

  it('come in the body of a POST', async () => {
    expect(await post('SELECT 1 + 1')).toBe('2\n');
  });

  it('come half in the URL and half in the body, joined by a line end', async () => {
    expect(await post('SELECT 1,', { body: '2' })).toBe('1\t2\n');
  });

  it('come in the fields of a form, with their parameters', async () => {
    const form = new FormData();
    form.set('query', 'SELECT {list:Array(String)}[2] FORMAT TSVRaw');
    form.set('param_list', "['a','b']");
    const response = await fetch(store.url, { method: 'POST', body: form, headers: asWriter() });
    expect(await response.text()).toBe('b\n');
  });

  it('take parameters from the URL whatever is in them', async () => {
    const text = `it's \\ a "tab\t and\nline; DROP TABLE gatewatch.t; --`;
    const escaped = text.replaceAll('\\', '\\\\').replaceAll('\t', '\\t').replaceAll('\n', '\\n');
    const answer = await post('SELECT {text:String} AS text, {n:UInt8} AS n FORMAT JSONEachRow', {
      params: { param_text: escaped, param_n: '7' },
    });
    expect(JSON.parse(answer)).toEqual({ text, n: 7 });
  });

  it('see the database of the URL or of the header', async () => {
    expect(await post('SELECT currentDatabase()', { params: { database: 'gatewatch' } })).toBe('gatewatch\n');
    const header = { 'X-ClickHouse-Database': 'gatewatch' };
    expect(await post('SELECT currentDatabase()', { headers: header })).toBe('gatewatch\n');
  });

  it('see the settings of the URL', async () => {
    expect(await post("SELECT getSetting('max_threads')", { params: { max_threads: '3' } })).toBe('3\n');
  });

  it.each(['TabSeparated', 'JSON', 'Native'])(
    'in %s use connections of statements before',
    async (format) => {
      const tag = async (): Promise<string | undefined> => {
        const answer = await post(`SELECT getSetting('log_comment') FORMAT ${format}`);
        return /gatewatch-request-\d+/.exec(answer)?.[0];
      };
      // More than one can be waiting, and they take turns.
      const before = new Set<string | undefined>();
      const again = await until(
        'a statement on a connection that was used before',
        async () => {
          const own = await tag();
          const isAgain = before.has(own);
          before.add(own);
          return { own, isAgain };
        },
        ({ isAgain }) => isAgain,
        10_000,
      );
      expect(again.own).toBeDefined();
    },
  );

  it('make the engine fail at nothing that its sandbox closes', async () => {
    await post('INSERT INTO gatewatch.t SELECT 1, toString(1)');
    const failures = "SELECT value FROM system.errors WHERE name = 'CANNOT_OPEN_FILE'";
    expect(await post(failures)).toBe('');
  });

  it('leave no setting, database, role or temporary table to the next request', async () => {
    await post('SET max_threads = 5');
    await post('USE gatewatch');
    await post('CREATE TEMPORARY TABLE leftover (a UInt8)');
    const answer = await post(
      "SELECT getSetting('max_threads') = 5, currentDatabase(), getSetting('readonly')",
    );
    expect(answer).toBe('0\tdefault\t0\n');
    expect((await send('SELECT * FROM leftover')).status).toBe(404);
  });

  it('run in UTC with the pinned settings, which a request cannot change', async () => {
    const params = { async_insert: '1', implicit_select: '1' };
    const answer = await post(
      "SELECT timezone(), getSetting('async_insert'), getSetting('implicit_select')",
      { params },
    );
    expect(answer).toBe('UTC\tfalse\tfalse\n');
  });

  it('may be of several lines with empty ones, comments and a final semicolon', async () => {
    expect(await post('SELECT 1 -- one; two\n\n\n/* ; /* nested ; */ */ + 1;\n\n')).toBe('2\n');
  });

  it('are one a request', async () => {
    for (const text of [
      'SELECT 1; SELECT 2',
      'SELECT 1;\n\nDROP TABLE gatewatch.t',
      'SELECT 1 PARALLEL WITH SELECT 2',
    ]) {
      const response = await send(text);
      expect(await response.text()).toMatch(/^Code: 62\. DB::Exception: .*\(SYNTAX_ERROR\)/);
      expect(response.status).toBe(400);
    }
    expect(await post('EXISTS TABLE gatewatch.t')).toBe('1\n');
  });

  it('with a fault in them get its place, by the reader as by the writer', async () => {
    for (const headers of [{}, asWriter()]) {
      const first = await send('SELEC 1', { headers });
      expect(await first.text()).toMatch(/failed at position 1 \(SELEC\)/);
      const second = await send('SELECT 1,\n2 )', { headers });
      expect(await second.text()).toMatch(/failed at position 13 .*\(line 2, col 3\)/s);
    }
  });

  it('that change something need a POST', async () => {
    const response = await get({ query: 'DROP TABLE gatewatch.t' }, asWriter());
    expect(await response.text()).toMatch(/Code: 164\..*method GET implies readonly.*\(READONLY\)/);
    expect(await post('EXISTS TABLE gatewatch.t')).toBe('1\n');
  });

  it('change nothing when the request asks for readonly', async () => {
    for (const readonly of ['1', '2']) {
      const response = await send('DROP TABLE gatewatch.t', { params: { readonly } });
      expect(await response.text()).toMatch(/Code: 164\..*\(READONLY\)/);
    }
    expect(await post('EXISTS TABLE gatewatch.t')).toBe('1\n');
  });
});

describe('formats', () => {
  it('is TabSeparated unless asked otherwise', async () => {
    const response = await send("SELECT 1, 'a'");
    expect(response.headers.get('x-clickhouse-format')).toBe('TabSeparated');
    expect(await response.text()).toBe('1\ta\n');
  });

  it('follows the statement before the URL before the header', async () => {
    const options = { params: { default_format: 'CSV' }, headers: { 'X-ClickHouse-Format': 'TSV' } };
    const bare = await send("SELECT 'a'", options);
    expect([bare.headers.get('x-clickhouse-format'), await bare.text()]).toEqual(['CSV', '"a"\n']);
    const own = await send("SELECT 'a' AS x FORMAT JSONEachRow", options);
    expect([own.headers.get('x-clickhouse-format'), await own.text()]).toEqual([
      'JSONEachRow',
      '{"x":"a"}\n',
    ]);
  });

  it.each([
    ['JSON', (text: string) => (JSON.parse(text) as { rows: number }).rows],
    ['JSONCompact', (text: string) => (JSON.parse(text) as { rows: number }).rows],
    ['CSVWithNames', (text: string) => text.split('\n').filter((line) => line === '"n"').length * 150_000],
    ['JSONCompactEachRowWithNamesAndTypes', (text: string) => text.trim().split('\n').length - 2],
    ['JSONEachRow', (text: string) => text.trim().split('\n').length],
  ])('writes %s once and whole over many blocks', async (format, rowsOf) => {
    const text = await post(`SELECT number AS n FROM numbers(150000) FORMAT ${format}`);
    expect(rowsOf(text)).toBe(150_000);
  });

  it('takes a column called format for a column', async () => {
    const sql = "SELECT 'x' AS format, 2 AS values ORDER BY format DESC";
    expect(await post(sql, { params: { default_format: 'JSONEachRow' } })).toBe(
      '{"format":"x","values":2}\n',
    );
    expect(await post(sql, { params: { default_format: 'JSONCompactColumns' } })).toContain('"x"');
  });

  it('writes SHOW, DESCRIBE, EXISTS and EXPLAIN in any format', async () => {
    const params = { default_format: 'JSONCompact' };
    for (const sql of [
      'SHOW TABLES FROM gatewatch',
      'DESCRIBE gatewatch.t',
      'EXISTS gatewatch.t',
      'EXPLAIN SELECT 1',
    ]) {
      expect(JSON.parse(await post(sql, { params }))).toHaveProperty('data');
    }
  });
});

describe('answers', () => {
  it('carry the headers that clients read', async () => {
    const { headers } = await send('SELECT 1', { params: { query_id: 'my-query' } });
    expect(headers.get('x-clickhouse-query-id')).toBe('my-query');
    expect(headers.get('x-clickhouse-timezone')).toBe('UTC');
    expect(headers.get('x-clickhouse-server-display-name')).toBe('gatewatch-embedded');
    expect(JSON.parse(headers.get('x-clickhouse-summary') ?? '')).toHaveProperty('read_rows');
  });

  it('are compressed when the client accepts it, and plain when it asks for that', async () => {
    const sql = "SELECT repeat('a', 100000)";
    const raw = await fetchRaw(sql, { 'Accept-Encoding': 'gzip' }, '1');
    expect(raw.encoding).toBe('gzip');
    expect(gunzipSync(raw.bytes).length).toBe(100_001);
    expect((await fetchRaw(sql, { 'Accept-Encoding': 'gzip' }, '0')).encoding).toBeNull();
    expect((await fetchRaw(sql, { 'Accept-Encoding': 'identity' }, '1')).encoding).toBeNull();
    expect((await fetchRaw(sql, { 'Accept-Encoding': 'zstd;q=1, gzip;q=0' }, '1')).encoding).toBe('zstd');
  });

  it('stay compressed and whole over many blocks', async () => {
    const raw = await fetchRaw('SELECT number FROM numbers(300000)', { 'Accept-Encoding': 'gzip' }, '1');
    expect(gunzipSync(raw.bytes).toString().trim().split('\n')).toHaveLength(300_000);
  });
});

describe('errors', () => {
  it.each([
    ['SELEC 1', 400, '62'],
    ['SELECT * FROM gatewatch.missing', 404, '60'],
    ['SELECT * FROM missing.t', 404, '81'],
    ['SELECT missing FROM gatewatch.t', 404, '47'],
    ['SELECT missing(1)', 404, '46'],
    ['SELECT 1 FORMAT Missing', 404, '73'],
    ["SELECT toUInt8('x')", 400, '6'],
    ['SELECT throwIf(1)', 500, '395'],
    ['SELECT {p:String}', 400, '456'],
    ["SELECT 1 INTO OUTFILE '/tmp/x'", 501, '48'],
    ['INSERT INTO gatewatch.missing VALUES (1)', 404, '60'],
    ["INSERT INTO gatewatch.t VALUES ('x', 'y')", 400, /./],
    ['INSERT INTO gatewatch.t FORMAT Missing\n1', 404, '73'],
    ['', 400, '62'],
    ['   -- nothing', 400, '62'],
  ])('of %j: status %i and code %s', async (sql, status, code) => {
    const response = await send(sql);
    const text = await response.text();
    expect(text).toMatch(/^Code: \d+\. DB::Exception: .*\([A-Z_0-9]+\)\n$/s);
    expect({ text, status: response.status }).toEqual({ text, status });
    expect(response.headers.get('x-clickhouse-exception-code')).toMatch(code);
  });

  it('of a wrong setting name the setting', async () => {
    const response = await send('SELECT 1', { params: { no_such_setting: '1' } });
    expect(response.headers.get('x-clickhouse-exception-code')).toBe('115');
    expect(await response.text()).toContain('no_such_setting');
  });

  it('do not show where rows were spooled', async () => {
    const text = await (
      await send('INSERT INTO gatewatch.t FORMAT CSV', { body: 'not a number,x\n' })
    ).text();
    expect(text).toContain('DB::Exception');
    expect(text).not.toContain(store.dataDir);
    expect(text).not.toContain('spool');
  });

  it('in the middle of a stream, which only the writer has, are framed and cut the transfer', async () => {
    const { raw, tag } = await rawExchange(
      'SELECT throwIf(number = 5000000) FROM numbers(10000000) FORMAT JSONEachRow',
    );
    expect(raw).toContain(`__exception__\r\n${tag}\r\nCode: 395. DB::Exception`);
    expect(raw.endsWith('0\r\n\r\n')).toBe(false);
  });

  it('have their own status for the reader, whose results are complete before they are sent', async () => {
    const sql = 'SELECT throwIf(number = 5000000) FROM numbers(10000000) FORMAT JSONEachRow';
    const response = await fetch(store.url, { method: 'POST', body: sql });
    expect([response.status, response.headers.get('x-clickhouse-exception-code')]).toEqual([500, '395']);
  });

  it('have their own status when the client waits for the end', async () => {
    const sql = 'SELECT throwIf(number = 5000000) FROM numbers(10000000) FORMAT JSONEachRow';
    const response = await send(sql, { params: { wait_end_of_query: '1' } });
    expect([response.status, response.headers.get('x-clickhouse-exception-code')]).toEqual([500, '395']);
  });
});

describe('users', () => {
  it('prove themselves in any of the three ways', async () => {
    const { username, password } = store.writer;
    expect(await whoCan(basic(username, password))).toBe('writer');
    expect(await whoCan({ 'X-ClickHouse-User': username, 'X-ClickHouse-Key': password })).toBe('writer');
    expect(await whoCan({}, { user: username, password })).toBe('writer');
  });

  it('are the reader without credentials, when the configuration says so', async () => {
    for (const headers of [{}, basic('default', ''), basic('gatewatch_reader', ''), basic('', '')]) {
      expect(await whoCan(headers)).toBe('497');
    }
  });

  it('are refused with a wrong password or an unknown name', async () => {
    const { username, password } = store.writer;
    const wrong = [
      [username, ''],
      [username, `${password}x`],
      ['root', password],
    ] as const;
    for (const [user, guess] of wrong) {
      const response = await fetch(store.url, {
        method: 'POST',
        body: 'SELECT 1',
        headers: basic(user, guess),
      });
      expect(response.status).toBe(403);
      expect(response.headers.get('x-clickhouse-exception-code')).toBe('516');
      expect(await response.text()).not.toContain(guess === '' ? '\0' : guess);
    }
    expect(
      (await fetch(store.url, { headers: { Authorization: 'Bearer x' }, method: 'POST', body: 'SELECT 1' }))
        .status,
    ).toBe(403);
  });
});

describe('the reader', () => {
  let closed: TestStore;
  beforeAll(async () => {
    closed = await withEmbedded();
  });
  afterAll(() => closed.stop());

  const ask = async (headers: Record<string, string>, search: Record<string, string> = {}) => {
    const url = `${closed.url}/?${new URLSearchParams({ query: 'SELECT 1', ...search })}`;
    const response = await fetch(url, { headers });
    return [response.status, await response.text()] as const;
  };

  it('has a random password of its own, in a file for its owner alone', async () => {
    const file = join(closed.dataDir, 'reader.secret');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8').trim()).toBe(closed.reader.password);
    expect(closed.reader.password).toMatch(/^[\w-]{43}$/);
    expect(closed.reader.password).not.toBe(closed.writer.password);
  });

  it('shows it in any of the three ways', async () => {
    const { username: user, password } = closed.reader;
    expect(await ask(basic(user, password))).toEqual([200, '1\n']);
    expect(await ask({ 'X-ClickHouse-User': user, 'X-ClickHouse-Key': password })).toEqual([200, '1\n']);
    expect(await ask({}, { user, password })).toEqual([200, '1\n']);
    expect(await ask(basic('default', password))).toEqual([200, '1\n']);
  });

  it('is refused without it, with an answer that says where it is', async () => {
    for (const headers of [{}, basic('default', ''), basic('gatewatch_reader', ''), basic('', '')]) {
      const [status, text] = await ask(headers);
      expect([status, text]).toEqual([401, expect.stringContaining('reader.secret')]);
    }
  });

  it('is refused with a wrong one', async () => {
    for (const password of ['guess', closed.writer.password, `${closed.reader.password}x`]) {
      const [status, text] = await ask(basic('gatewatch_reader', password));
      expect([status, text.includes(password)]).toEqual([403, false]);
    }
  });
});

describe('compressed requests', () => {
  const csv = '1,"a"\n2,"b"\n';
  it.each([
    ['gzip', gzipSync(csv)],
    ['zstd', zstdCompressSync(csv)],
  ])('are unpacked: %s', async (encoding, body) => {
    await post('TRUNCATE TABLE gatewatch.t');
    await post('INSERT INTO gatewatch.t FORMAT CSV', {
      body: new Uint8Array(body),
      headers: { 'Content-Encoding': encoding },
    });
    expect(await post('SELECT count(), max(note) FROM gatewatch.t')).toBe('2\tb\n');
  });

  it('may hold the statement too', async () => {
    const headers = { ...asWriter(), 'Content-Encoding': 'gzip' };
    const body = new Uint8Array(gzipSync('SELECT 40 + 2'));
    expect(await (await fetch(store.url, { method: 'POST', body, headers })).text()).toBe('42\n');
  });

  it("that are broken are the sender's fault", async () => {
    const headers = { ...asWriter(), 'Content-Encoding': 'gzip' };
    const response = await fetch(store.url, { method: 'POST', body: 'not gzip', headers });
    expect([response.status, response.headers.get('x-clickhouse-exception-code')]).toEqual([400, '354']);
  });
});

async function fetchRaw(sql: string, headers: Record<string, string>, enable: string) {
  const http = await import('node:http');
  const search = new URLSearchParams({ query: sql, enable_http_compression: enable });
  return new Promise<{ encoding: string | null; bytes: Buffer }>((resolve, reject) => {
    http
      .get(`${store.url}/?${search}`, { headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          resolve({ encoding: response.headers['content-encoding'] ?? null, bytes: Buffer.concat(chunks) });
        });
      })
      .on('error', reject);
  });
}

async function rawExchange(sql: string): Promise<{ raw: string; tag: string }> {
  const { connect } = await import('node:net');
  const socket = connect(store.store.port, '127.0.0.1');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  const headers = Object.entries({ Host: 'localhost', ...asWriter() }).map((pair) => pair.join(': '));
  const search = new URLSearchParams({ query: sql });
  socket.write(`GET /?${search} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`);
  await new Promise((done) => socket.once('close', done));
  const raw = Buffer.concat(chunks).toString('latin1');
  return { raw, tag: /x-clickhouse-exception-tag: (\S+)/i.exec(raw)?.[1] ?? '' };
}

/** Finds out by what the sender may do who it is: the writer, or the code of the refusal. */
async function whoCan(headers: Record<string, string>, search: Record<string, string> = {}) {
  const url = `${store.url}/?${new URLSearchParams(search)}`;
  const response = await fetch(url, {
    method: 'POST',
    body: 'CREATE TABLE gatewatch.x (a UInt8) ORDER BY a',
    headers,
  });
  const text = await response.text();
  if (response.status === 200) await post('DROP TABLE gatewatch.x');
  return response.status === 200 ? 'writer' : /^Code: (\d+)/.exec(text)?.[1];
}

const basic = (user: string, password: string) => ({
  Authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
});
