import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createStore, type Store } from '../../../store/store.ts';
import type { Exchange } from './exchange.ts';
import { createHttpTap, nameStoreRequest } from './http-tap.ts';
import { openLink, type Link } from './link.ts';

const ROW = { job: 'a', part: 'b', done_batch: 1 };

describe('a link between a collector and its store', () => {
  let server: Server;
  let link: Link;
  let store: Store;
  /** Bodies that reached the server whole. */
  let served: string[];
  let answered: Exchange[];
  beforeEach(async () => {
    served = [];
    answered = [];
    server = createServer((request, reply) => {
      void text(request).then(
        (body) => {
          // Asked after an insert that was repeated, see insert-tokens.ts.
          if (body.includes('uptime()')) return void reply.end('3600\n');
          served.push(body);
          reply.end('{"a":1}\n');
        },
        () => undefined,
      );
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    link = await openLink({
      name: 'to store',
      targetPort: () => port,
      tap: (host) => createHttpTap(host, nameStoreRequest),
    });
    link.onAnswered((exchange) => answered.push(exchange));
    store = createStore({ url: `http://127.0.0.1:${link.port}`, requestTimeoutMs: 1000 });
  });
  afterEach(async () => {
    await store.close();
    await link.close();
    server.closeAllConnections();
    server.close();
  });

  it('names what passes: inserts with their table, changes of the schema, and questions', async () => {
    await store.command('CREATE TABLE x (a UInt8)');
    await store.command('-- why\nALTER TABLE x ADD COLUMN b UInt8');
    await store.query('SELECT 1');
    await store.insert('jobs', [ROW]);
    expect(answered.map(({ name, status }) => `${name} ${status}`)).toEqual([
      'ddl 200',
      'ddl 200',
      'select 200',
      'insert jobs_store 200',
    ]);
  });

  it('springs a trap before the server has seen a byte', async () => {
    const trap = link.trap({ moment: 'request', matches: ({ name }) => name.startsWith('insert') });
    await expect(store.insert('jobs', [ROW])).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(await trap.sprung).toMatchObject({ name: 'insert jobs_store' });
    expect(served).toEqual([]);
    await store.insert('jobs', [ROW]);
    expect(served.length).toBe(1);
  });

  it('springs a trap in the middle of a body', async () => {
    let cut = 0;
    server.prependListener('request', (request) => request.on('aborted', () => (cut += 1)));
    const trap = link.trap({ moment: 'half-request', matches: ({ name }) => name.startsWith('insert') });
    await expect(store.insert('jobs', [ROW])).rejects.toMatchObject({ ambiguous: true });
    await trap.sprung;
    await expect.poll(() => cut).toBe(1);
    expect(served).toEqual([]);
    expect(link.counts.cuts['half-request']).toBe(1);
  });

  it('swallows an answer after the server gave it', async () => {
    const trap = link.trap({ moment: 'answer', matches: ({ status }) => status === 200 });
    await expect(store.insert('jobs', [ROW])).rejects.toMatchObject({ ambiguous: true });
    await trap.sprung;
    expect(served.length).toBe(1);
    expect(answered).toEqual([]);
  });

  it('holds bytes back in a blackhole and lets them go afterwards', async () => {
    link.set({ blackhole: true });
    const insert = store.insert('jobs', [ROW]);
    await expect.poll(() => link.counts.heldBytes).toBeGreaterThan(0);
    expect(served).toEqual([]);
    link.calm();
    await insert;
    expect(served.length).toBe(1);
  });

  it('delays, slows down, refuses and resets, and counts what was hit', async () => {
    link.set({ latencyMs: 20 });
    await store.query('SELECT 1');
    link.set({ latencyMs: 0, bytesPerSecond: 10_000 });
    await store.query('SELECT 1');
    link.calm();
    link.set({ refuse: true });
    expect(link.resetAll()).toBe(1);
    // The first one may still try a connection that is gone.
    for (const _ of [1, 2])
      await expect(store.query('SELECT 1')).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(link.counts.delayedPieces).toBeGreaterThan(0);
    expect(link.counts.throttledBytes).toBeGreaterThan(0);
    expect(link.counts.refused).toBeGreaterThan(0);
  });
});
