import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freezeInsert } from '../../store/frozen-insert.ts';
import { createClickHouseSink } from '../../collector/sinks/clickhouse/sink.ts';
import { createStore } from '../../store/store.ts';
import { withEmbedded } from '../support/embedded.ts';
import { startFaultProxy } from '../collector/sinks/support/fault-proxy.ts';
import { count, openDatabase, openStore } from '../support/migrated-store.ts';
import { historyEvents } from '../collector/sinks/support/rows.ts';

const TABLES = ['history_events_store'];

describe('a store that was killed when it had noted the token, and not yet put the rows in their place', () => {
  let dataDir: string;
  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'gatewatch-noted-'));
  });
  afterAll(() => rm(dataDir, { recursive: true, force: true }));

  it('has the rows all the same once the insert is acknowledged', async () => {
    let embedded = await withEmbedded({ dataDir });
    const port = Number(new URL(embedded.url).port);
    const direct = await openDatabase(embedded);
    const { database } = direct;
    const proxy = await startFaultProxy(embedded.url);
    const proxied = openStore(embedded, { url: proxy.url, database });
    const sink = createClickHouseSink({
      store: proxied,
      collectorId: 'c1',
      retry: { minDelayMs: 5, maxDelayMs: 50 },
    });
    // The rows get in, no answer gets out, and nothing gets in any more.
    proxy.setFault((statement) => {
      if (!statement.startsWith('INSERT INTO history_events_store')) return null;
      return proxy.faults() === 0 ? 'swallow' : 'cut';
    });
    const write = sink.write({ historyEvents: historyEvents('noted', 50) });
    await expect.poll(() => proxy.faults()).toBeGreaterThan(1);
    // What such a kill leaves behind: the token in the table's log, and no part.
    const parts = await direct.query<{ path: string }>(
      'SELECT path FROM system.parts WHERE active AND database = {database:String} AND table IN {tables:Array(String)}',
      { database, tables: TABLES },
    );
    expect(parts.length).toBeGreaterThanOrEqual(TABLES.length);
    await direct.close();
    await embedded.stop();
    for (const { path } of parts) await rm(path, { recursive: true });

    embedded = await withEmbedded({ dataDir, port });
    const again = openStore(embedded, { database });
    expect(await count(again, 'history_events')).toBe(0);
    proxy.setFault(() => null);
    await write;
    expect(await count(again, 'history_events')).toBe(50);
    expect(await count(again, 'history_events_store')).toBe(50);
    await sink.stop(1_000);
    await Promise.all([again.close(), proxied.close()]);
    await proxy.close();
    await embedded.stop();
  });
});

describe('the token of an insert that is repeated', () => {
  type Answer = 'stored' | 'nothing' | number;
  const insert = freezeInsert('historyEvents', historyEvents('token', 3));

  /**
   * The tokens that a store is sent which gives these answers, one after another, and has run for so long. It
   * does not say so the first `mute` times that it is asked.
   */
  async function tokensSent(answers: readonly Answer[], uptimeS: number, mute = 0): Promise<string[]> {
    const tokens: string[] = [];
    const left = [...answers];
    let leftMute = mute;
    const server = createServer((request, response) => {
      void buffer(request).then((body) => {
        const { searchParams } = new URL(request.url ?? '/', 'http://store');
        if (`${searchParams.get('query') ?? ''}${body.toString()}`.includes('uptime()')) {
          leftMute -= 1;
          return void (leftMute < 0 ? response.end(`${uptimeS}\n`) : request.socket.destroy());
        }
        tokens.push(searchParams.get('insert_deduplication_token') ?? '');
        const answer = left.shift() ?? 'stored';
        if (answer === 'nothing') return void request.socket.destroy();
        if (answer === 'stored') return void response.end();
        response.writeHead(500, { 'X-ClickHouse-Exception-Code': String(answer) });
        response.end(`Code: ${answer}. DB::Exception: no. (NO)`);
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const store = createStore({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
    let stored = false;
    while (!stored) {
      stored = await store.insertFrozen(insert).then(
        () => true,
        () => false,
      );
    }
    await store.close();
    server.closeAllConnections();
    server.close();
    return tokens;
  }
  const own = (tokens: readonly string[]): boolean[] => tokens.map((token) => token === insert.token);

  it('stays the same for a store that gave no answer and has run on', async () => {
    expect(own(await tokensSent(['nothing', 'nothing'], 3600))).toEqual([true, true, true]);
  });

  it('is trusted again by no store that began anew: the rows go out once more, under a new one', async () => {
    const tokens = await tokensSent(['nothing', 'stored', 'nothing', 'stored'], 0);
    expect(own(tokens)).toEqual([true, true, false, false, false]);
    // Without an answer the new one is repeated as well, and doubted as well.
    expect(tokens[2]).toBe(tokens[3]);
    expect(new Set(tokens).size).toBe(3);
  });

  it.each([243, 75, 1001])('is not used again after error %i of its disk', async (code) => {
    const tokens = await tokensSent([code, code], 3600);
    expect(own(tokens)).toEqual([true, false, false]);
    expect(new Set(tokens).size).toBe(3);
  });

  it.each([241, 252, 395])('stays the same after error %i, which came before or behind it', async (code) => {
    expect(own(await tokensSent([code, code], 3600))).toEqual([true, true, true]);
  });

  it('is not trusted before the store has said how long it has run', async () => {
    expect(own(await tokensSent(['nothing'], 3600, 2))).toEqual([true, true, true, true]);
    expect(own(await tokensSent(['nothing'], 0, 1))).toEqual([true, true, true, false]);
  });
});
