import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Pool } from 'undici';
import type { OrdersContext } from '../../collector/orders/context.ts';
import { exchange } from '../../collector/sources/gateway/exchange.ts';
import { createStatusClient } from '../../collector/sources/gateway/status-client.ts';
import { gatewayConfigSchema } from '../../schemas/config.ts';
import { watchedOrder } from '../support/watched-order.ts';
import { createEncoder } from './pipeline-sink.ts';
import { readOurs, TOTAL } from './polls.ts';

const CONCURRENCY = 32;
const ORDERS = 8_000;

/** Makes TOTAL status reads in one of the ways. */
type Way = (port: number, round: number) => Promise<void>;

/**
 * Processor time a status read, part by part: each way does what the one before it does and one thing more.
 * The first is the floor: what the system takes for a request on a connection that is there.
 */
const WAYS: Readonly<Record<string, Way>> = {
  'bare sockets, nothing read': readBareSockets,
  async "undici's request"(port, round) {
    await withPool(port, async (pool) => {
      await readAll(`request-${round}`, async (path) => {
        const reply = await pool.request({ method: 'GET', path, headers: HEADERS });
        await reply.body.text();
      });
    });
  },
  async 'our exchange, deadline and size limit'(port, round) {
    await withPool(port, (pool) =>
      readAll(`exchange-${round}`, (path) =>
        exchange(pool, {
          origin: `http://127.0.0.1:${port}`,
          path,
          headers: HEADERS,
          deadlineMs: 10_000,
          maxBytes: 1 << 20,
        }),
      ),
    );
  },
  async 'the status client'(port, round) {
    const gateway = gatewayConfigSchema.parse({
      name: 'acme-eu',
      secureUrl: `http://127.0.0.1:${port}`,
      token: 'a-token',
      callbackKeys: ['0123456789abcdef0123456789abcdef'],
      poll: { concurrency: CONCURRENCY },
    });
    const client = createStatusClient(gateway);
    await readAll(`client-${round}`, (_path, orderId) => client.read(watchedOrder({ orderId })));
    await client.close();
  },
  'with poller, decoder and rows': (port, round) =>
    readOrders(port, 1_000 + round, async () => void (await turn())),
  'with rows that are queued and encoded': (port, round) => readOrders(port, 2_000 + round, createEncoder()),
};

const HEADERS = { authorization: 'Bearer a-token' };
const pathOf = (id: string): string => `/api/v1/integration/deposit-order/${id}/status`;
const ids = (name: string) =>
  Array.from({ length: TOTAL }, (_, index) => `${name}-${index % ORDERS}`).values();

async function readAll(name: string, read: (path: string, id: string) => Promise<unknown>): Promise<void> {
  const todo = ids(name);
  const work = async (): Promise<void> => {
    for (const id of todo) await read(pathOf(id), id);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
}

async function withPool(port: number, work: (pool: Pool) => Promise<void>): Promise<void> {
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: CONCURRENCY });
  await work(pool);
  await pool.destroy();
}

/** A reply of this server comes in one piece. */
async function readBareSockets(port: number, round: number): Promise<void> {
  const todo = ids(`socket-${round}`);
  const work = async (): Promise<void> => {
    const socket = connect(port, '127.0.0.1').setNoDelay(true);
    for (const id of todo) {
      socket.write(
        `GET ${pathOf(id)} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer a-token\r\n\r\n`,
        'latin1',
      );
      await once(socket, 'data');
    }
    socket.destroy();
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
}

async function readOrders(port: number, round: number, write: OrdersContext['write']): Promise<void> {
  await readOurs(`http://127.0.0.1:${port}`, round, () => Promise.resolve([]), write);
}

if (import.meta.main) {
  const rounds = Number(process.argv[2] ?? 5);
  const server = fork(fileURLToPath(new URL('./status-server.ts', import.meta.url)), {
    execArgv: ['--no-warnings'],
  });
  const [port] = (await once(server, 'message')) as [number];
  const took = new Map<string, number[]>();
  // The first round warms up.
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, way] of Object.entries(WAYS)) {
      const before = process.cpuUsage();
      await way(port, round);
      const { user, system } = process.cpuUsage(before);
      if (round > 0) took.set(name, [...(took.get(name) ?? []), (user + system) / TOTAL]);
    }
  }
  for (const [name, values] of took) {
    const sorted = values.toSorted((a, b) => a - b);
    const median = sorted[sorted.length >> 1] ?? Number.NaN;
    console.log(
      `${name}: ${median.toFixed(1)} us (${sorted[0]?.toFixed(1)} to ${sorted.at(-1)?.toFixed(1)})`,
    );
  }
  server.disconnect();
}
