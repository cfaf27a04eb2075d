import { Readable } from 'node:stream';
import { createClient, type ClickHouseClient } from '@clickhouse/client';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { withEmbedded, type TestStore } from '../../support/embedded.ts';
import { PATIENCE_MS } from '../../support/until.ts';

let store: TestStore;
let writer: ClickHouseClient;
let reader: ClickHouseClient;
beforeAll(async () => {
  store = await withEmbedded({ readerPassword: 'none', readerViews: ['default.big'] });
  writer = createClient({ url: store.url, ...store.writer, max_open_connections: 20 });
  reader = createClient({ url: store.url, ...store.reader, max_open_connections: 50 });
});
afterAll(async () => {
  await Promise.all([writer.close(), reader.close()]);
  await store.stop();
});

async function one<T>(client: ClickHouseClient, query: string, query_params = {}): Promise<T> {
  const result = await client.query({ query, query_params, format: 'JSONEachRow' });
  const [row] = await result.json<T>();
  return row as T;
}

const running = async (like: string) => {
  const sql = 'SELECT count() AS c FROM system.processes WHERE query LIKE {like:String}';
  const { c } = await one<{ c: number }>(writer, `${sql} AND query NOT LIKE '%system.processes%'`, { like });
  return Number(c);
};

describe('requests after one another', () => {
  it('see nothing of each other, whoever asks and whatever became of the one before', async () => {
    const seen = async (client: ClickHouseClient, size: number) => {
      const result = await client.query({
        query:
          "SELECT name, value FROM system.settings WHERE name IN ('max_block_size', 'readonly') ORDER BY name",
        clickhouse_settings: { max_block_size: String(size) },
        format: 'JSONEachRow',
      });
      return (await result.json<{ value: string }>()).map(({ value }) => value);
    };
    const roles = [
      [writer, '0'],
      [reader, '1'],
    ] as const;
    for (let round = 0; round < 3; round++)
      for (const [client, readonly] of roles)
        for (const size of [2_000, 3_000]) {
          expect(await seen(client, size)).toEqual([String(size), readonly]);
          await expect(client.query({ query: "SELECT throwIf(1, 'no')" })).rejects.toThrow('no');
        }
  });

  it('are not ended by the client of another that has gone', async () => {
    const slow = 'SELECT sum(sleepEachRow(0.1)) FROM numbers(20) SETTINGS max_block_size = 1';
    for (let round = 0; round < 5; round++) {
      const gone = new AbortController();
      const asked = writer.query({ query: slow, abort_signal: gone.signal });
      setTimeout(() => gone.abort(), 20 * round);
      await expect(asked).rejects.toThrow();
      const sums = Array.from({ length: 4 }, () =>
        one<{ n: string }>(
          writer,
          'SELECT sum(sleepEachRow(0.02)) + 1 AS n FROM numbers(10) SETTINGS max_block_size = 1',
        ),
      );
      for (const { n } of await Promise.all(sums)) expect(Number(n)).toBe(1);
    }
  });
});

describe('requests at the same time', () => {
  it("do not see each other's parameters and settings", async () => {
    const answers = await Promise.all(
      Array.from({ length: 200 }, async (_, i) => {
        const client = i % 2 === 0 ? reader : writer;
        const result = await client.query({
          query:
            "SELECT {text:String} AS text, (SELECT value FROM system.settings WHERE name = 'max_block_size') AS size",
          query_params: { text: `own-${i}` },
          clickhouse_settings: { max_block_size: String(1000 + i) },
          format: i % 3 === 0 ? 'JSON' : 'JSONEachRow',
        });
        const body = await result.json<{ text: string; size: string }>();
        return Array.isArray(body) ? body[0] : body.data[0];
      }),
    );
    expect(answers).toEqual(answers.map((_, i) => ({ text: `own-${i}`, size: String(1000 + i) })));
  });

  it('are answered while large inserts run', async () => {
    await writer.command({ query: 'CREATE TABLE big (a UInt64, b String) ORDER BY a' });
    const state = { inserting: true };
    const block = Buffer.from(
      Array.from({ length: 20_000 }, (_, i) => `${i},"${'x'.repeat(100)}"\n`).join(''),
    );
    const inserts = Promise.all(
      [1, 2, 3].map(async () => {
        const values = Readable.from(
          Array.from({ length: 40 }, () => block),
          { objectMode: false },
        );
        const { stream } = await writer.exec({ query: 'INSERT INTO big FORMAT CSV', values });
        stream.resume();
      }),
    ).finally(() => {
      state.inserting = false;
    });
    let answered = 0;
    while (state.inserting) {
      expect(await one(reader, 'SELECT 1 AS a')).toEqual({ a: 1 });
      answered++;
    }
    await inserts;
    expect(answered).toBeGreaterThan(5);
    expect(await one(reader, 'SELECT count() AS c FROM big')).toEqual({ c: 3 * 40 * 20_000 });
  });

  it('of readers beyond the limit wait for their turn', async () => {
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        one(reader, `SELECT ${i} AS i, count() AS c FROM numbers(1000000)`),
      ),
    );
    expect(answers).toEqual(answers.map((_, i) => ({ i, c: 1_000_000 })));
  });

  it('stream a result much larger than the memory they may hold', async () => {
    const response = await fetch(
      `${store.url}/?query=${encodeURIComponent("SELECT number, repeat('x', 100) FROM numbers(3000000) FORMAT TSV")}`,
    );
    let bytes = 0;
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) bytes += chunk.length;
    expect(bytes).toBeGreaterThan(300_000_000);
  });
});

describe('a client that leaves', () => {
  it.each(['JSONEachRow', 'JSON'])('ends its statement and frees its place: %s', async (format) => {
    const controller = new AbortController();
    const sql = `SELECT max(sipHash64(number)) AS left_${format} FROM numbers(100000000000)`;
    const left = fetch(`${store.url}/?${new URLSearchParams({ query: sql, default_format: format })}`, {
      signal: controller.signal,
    });
    left.catch(() => undefined);
    await vi.waitUntil(async () => (await running(`%left_${format}%`)) === 1, { timeout: PATIENCE_MS });
    controller.abort();
    await vi.waitUntil(async () => (await running(`%left_${format}%`)) === 0, { timeout: PATIENCE_MS });
    await expect(left).rejects.toThrow();
  });

  it('in the middle of its result ends the stream', async () => {
    const sql = "SELECT repeat('y', 1000) AS left_midway FROM numbers(100000000) FORMAT TSV";
    const controller = new AbortController();
    const { username, password } = store.writer;
    const response = await fetch(`${store.url}/?query=${encodeURIComponent(sql)}`, {
      signal: controller.signal,
      headers: { 'X-ClickHouse-User': username, 'X-ClickHouse-Key': password },
    });
    expect(await running('%left_midway%')).toBe(1);
    controller.abort();
    await response.body?.cancel().catch(() => undefined);
    await vi.waitUntil(async () => (await running('%left_midway%')) === 0, { timeout: PATIENCE_MS });
  });
});
