import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { createClient, type ClickHouseClient, type ClickHouseSettings } from '@clickhouse/client';
import { tableFromArrays, tableToIPC } from 'apache-arrow';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { withEmbedded, type TestStore } from '../../support/embedded.ts';
import { PATIENCE_MS } from '../../support/until.ts';

/** Ends an inline payload of the engine's library and would drop the table if anything ran it. */
const payload = 'before\n\nDROP TABLE t;\n\nafter';

let store: TestStore;
let client: ClickHouseClient;
beforeAll(async () => {
  store = await withEmbedded();
  client = createClient({ url: store.url, ...store.writer });
});
afterAll(async () => {
  await client.close();
  await store.stop();
});
beforeEach(async () => {
  await client.command({ query: 'DROP TABLE IF EXISTS t' });
  await client.command({ query: 'CREATE TABLE t (id UInt32, note String) ORDER BY id' });
});

async function rows(): Promise<unknown[]> {
  const result = await client.query({ query: 'SELECT id, note FROM t ORDER BY id', format: 'JSONEachRow' });
  return result.json();
}

async function post(body: string | Buffer, query?: string): Promise<Response> {
  const search = query === undefined ? '' : `?${new URLSearchParams({ query })}`;
  return fetch(`${store.url}/${search}`, {
    method: 'POST',
    body: typeof body === 'string' ? body : new Uint8Array(body),
    headers: { 'X-ClickHouse-User': store.writer.username, 'X-ClickHouse-Key': store.writer.password },
  });
}

const arrow = (note: string) =>
  Buffer.from(tableToIPC(tableFromArrays({ id: new Uint32Array([1]), note: [note] }), 'stream'));
const json = `${JSON.stringify({ id: 1, note: payload })}\n`;
const csv = `1,"${payload}"\n`;
const values = `(1, '${payload}')`;

describe('rows that hold SQL behind an empty line', () => {
  it.each([
    ['JSONEachRow in the body', json, 'INSERT INTO t FORMAT JSONEachRow'],
    ['CSV in the body', csv, 'INSERT INTO t FORMAT CSV'],
    ['ArrowStream in the body', arrow(payload), 'INSERT INTO t FORMAT ArrowStream'],
    ['VALUES in the body', values, 'INSERT INTO t VALUES'],
    ['FORMAT Values in the body', values, 'INSERT INTO t FORMAT Values'],
    ['JSONEachRow behind the statement', `INSERT INTO t FORMAT JSONEachRow\n${json}`, undefined],
    ['CSV behind the statement', `INSERT INTO t FORMAT CSV\n${csv}`, undefined],
    [
      'CSV behind the statement, in a form of its own',
      `INSERT INTO t\n\n(id, note)\n\nFORMAT CSV \r\n${csv}`,
      undefined,
    ],
    ['VALUES behind the statement', `INSERT INTO t VALUES ${values}`, undefined],
    ['VALUES with a final semicolon', `INSERT INTO t VALUES ${values};`, undefined],
    ['VALUES behind comments', `/* a;\n\nb */ INSERT INTO t -- c\n\n(id, note) VALUES ${values}`, undefined],
    [
      'settings in front of the format',
      `INSERT INTO t SETTINGS max_threads = 1 FORMAT CSV\n${csv}`,
      undefined,
    ],
    ['settings behind the format', `INSERT INTO t FORMAT CSV SETTINGS max_threads = 1\n${csv}`, undefined],
    ['VALUES in the URL', '', `INSERT INTO t VALUES ${values}`],
    ['half in the URL, half in the body', `VALUES ${values}`, 'INSERT INTO t (id, note)'],
    [
      'FUNCTION as the target',
      csv,
      "INSERT INTO FUNCTION remote('127.0.0.1', currentDatabase(), t) FORMAT CSV",
    ],
  ])('are stored as they are: %s', async (_name, body, query) => {
    const response = await post(body, query);
    const text = await response.text();
    expect({ status: response.status, text }).toEqual({ status: 200, text: '' });
    expect(await rows()).toEqual([{ id: 1, note: payload }]);
  });

  it.each([
    ["(1, 'a')\n\nDROP TABLE t;", 'INSERT INTO t VALUES'],
    ["INSERT INTO t VALUES (1, 'a');\n\nDROP TABLE t;", undefined],
    ["INSERT INTO t VALUES (1, 'a'); DROP TABLE t", undefined],
    ['1,a\n\nDROP TABLE t;\n', 'INSERT INTO t FORMAT CSV'],
    ['INSERT INTO t FORMAT JSONEachRow {"id":1,"note":"a"}\n\nDROP TABLE t;', undefined],
    ['DROP TABLE t;', "INSERT INTO t SELECT 1, 'a';"],
    ["INSERT INTO t SELECT 1, 'a'\n\n; DROP TABLE t", undefined],
    [
      "INSERT INTO t SELECT * FROM input('id UInt32, note String') FORMAT CSV\n1,a\n\nDROP TABLE t;",
      undefined,
    ],
    ['EXPLAIN AST INSERT INTO t FORMAT CSV 1,a\n\nDROP TABLE t;', undefined],
    ['EXPLAIN INSERT INTO t FORMAT CSV\n1,a\n\nDROP TABLE t;', undefined],
    ['INSERT INTO t FORMAT CSV -- 1,a\n\nDROP TABLE t;', undefined],
    ["INSERT INTO t PARTITION BY id VALUES (1,'a')\n\nDROP TABLE t;", undefined],
    ["WITH 1 AS x INSERT INTO t VALUES (1, 'a')\n\nDROP TABLE t;", undefined],
  ])('are refused where the format allows none, and never run: %j', async (body, query) => {
    const response = await post(body, query);
    await response.text();
    expect(response.status).not.toBe(200);
    expect(await rows()).toEqual([]);
  });
});

describe('an insert', () => {
  it('by the unmodified client stores objects, streams and Arrow, and says how many rows it wrote', async () => {
    const first = await client.insert({
      table: 't',
      values: [{ id: 1, note: payload }],
      format: 'JSONEachRow',
    });
    expect(first.summary?.written_rows).toBe('1');
    const stream = Readable.from([
      { id: 2, note: 'b' },
      { id: 3, note: 'c' },
    ]);
    await client.insert({ table: 't', values: stream, format: 'JSONEachRow', columns: ['id', 'note'] });
    const sent = await client.exec({
      query: 'INSERT INTO t (id, note) FORMAT ArrowStream',
      values: Readable.from([arrow('d')], { objectMode: false }),
    });
    sent.stream.resume();
    expect(await rows()).toHaveLength(4);
  });

  it('by a client that compresses both ways stores the same', async () => {
    const compressing = createClient({
      url: store.url,
      ...store.writer,
      compression: { request: true, response: true },
    });
    await compressing.insert({ table: 't', values: [{ id: 1, note: payload }], format: 'JSONEachRow' });
    const result = await compressing.query({ query: 'SELECT * FROM t', format: 'JSONEachRow' });
    expect(await result.json()).toEqual([{ id: 1, note: payload }]);
    await compressing.close();
  });

  it('of expressions in VALUES evaluates them', async () => {
    await client.command({ query: "INSERT INTO t VALUES (1 + 1, upper('x'))" });
    expect(await rows()).toContainEqual({ id: 2, note: 'X' });
  });

  it('from a SELECT runs as it is', async () => {
    await client.command({ query: "INSERT INTO t SELECT number, 'n' FROM numbers(3)" });
    await client.command({
      query: "INSERT INTO t WITH 10 AS base SELECT base + number, 'n' FROM numbers(3)",
    });
    expect(await rows()).toHaveLength(6);
  });

  it('of no rows stores none', async () => {
    expect((await post('', 'INSERT INTO t FORMAT JSONEachRow')).status).toBe(200);
    expect(await rows()).toEqual([]);
  });

  it('with one bad row stores none of them', async () => {
    const response = await post('1,a\n2,b\nthree,c\n', 'INSERT INTO t FORMAT CSV');
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('(at row 3)');
    expect(await rows()).toEqual([]);
  });

  it('into a table whose name needs quotes finds it', async () => {
    await client.command({ query: 'CREATE TABLE `od``d "t` (`a ) b` UInt8) ORDER BY tuple()' });
    expect((await post('1\n', 'INSERT INTO `od``d "t` (`a ) b`) FORMAT CSV')).status).toBe(200);
    expect((await post('INSERT INTO "od`d ""t" VALUES (2)')).status).toBe(200);
    const result = await client.query({
      query: 'SELECT count() AS c FROM `od``d "t`',
      format: 'JSONEachRow',
    });
    expect(await result.json()).toEqual([{ c: 2 }]);
  });

  it('leaves nothing of its settings to the next one', async () => {
    await client.command({
      query: 'ALTER TABLE t MODIFY SETTING non_replicated_deduplication_window = 100',
    });
    const insert = (id: number, settings: ClickHouseSettings) =>
      client.insert({
        table: 't',
        values: [{ id, note: '' }],
        format: 'JSONEachRow',
        clickhouse_settings: { insert_deduplicate: 1, ...settings },
      });
    // A token that outlived its insert would let the store drop the rows of the next one, and say that it had
    // stored them.
    await insert(1, { insert_deduplication_token: 'one' });
    await insert(2, {});
    await insert(3, { insert_deduplication_token: 'three' });
    await insert(3, { insert_deduplication_token: 'three' });
    await client.command({
      query: "INSERT INTO t SETTINGS insert_deduplication_token = 'four' VALUES (4, '')",
    });
    await client.command({ query: "INSERT INTO t VALUES (5, '')" });
    await expect(insert(6, { max_threads: 'many' as never })).rejects.toThrow();
    await insert(7, {});
    expect(await rows()).toEqual([1, 2, 3, 4, 5, 7].map((id) => ({ id, note: '' })));
  });

  it('is stored by whichever connection, when senders ask for more settings than connections are kept', async () => {
    const ids = Array.from({ length: 48 }, (_, i) => i);
    await Promise.all(
      ids.map((id) =>
        client.insert({
          table: 't',
          values: [{ id, note: '' }],
          format: 'JSONEachRow',
          clickhouse_settings: { max_threads: 1 + (id % 9) },
        }),
      ),
    );
    expect(await rows()).toEqual(ids.map((id) => ({ id, note: '' })));
  });

  it('that the client cuts off stores nothing', async () => {
    const search = new URLSearchParams({ query: 'INSERT INTO t FORMAT CSV' });
    await expect(
      fetch(`${store.url}/?${search}`, {
        method: 'POST',
        body: Readable.toWeb(Readable.from(broken())),
        duplex: 'half',
        headers: { 'X-ClickHouse-User': store.writer.username, 'X-ClickHouse-Key': store.writer.password },
      } as RequestInit),
    ).rejects.toThrow();
    expect(await rows()).toEqual([]);
  });

  it('of 300 MB goes through the disk and leaves no file behind', async () => {
    const line = Buffer.from(`7,"${'x'.repeat(1015)}"\n`);
    const block = Buffer.concat(Array.from({ length: 1024 }, () => line));
    async function* blocks() {
      for (let i = 0; i < 300; i++) yield block;
    }
    const sent = await client.exec({
      query: 'INSERT INTO t FORMAT CSV',
      values: Readable.from(blocks(), { objectMode: false }),
    });
    sent.stream.resume();
    const result = await client.query({ query: 'SELECT count() AS c FROM t', format: 'JSONEachRow' });
    expect(await result.json()).toEqual([{ c: 300 * 1024 }]);
    // The file of the insert that was cut off goes once the store notices, a few seconds later on a busy
    // machine.
    const spooled = () => readdirSync(join(store.dataDir, 'work', 'spool'));
    await vi.waitFor(() => expect(spooled()).toEqual([]), { timeout: PATIENCE_MS });
  });
});

async function* broken() {
  yield Buffer.from('1,a\n');
  throw new Error('the sender died');
}
