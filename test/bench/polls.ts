import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Pool } from 'undici';
import { systemClock } from '../../schemas/system-clock.ts';
import { createSignatureExaminer } from '../../collector/orders/signature-examiner.ts';
import { createStamp, type OrdersContext } from '../../collector/orders/context.ts';
import { ALONE } from '../../collector/orders/memory.ts';
import { applyReply } from '../../collector/orders/replies.ts';
import { createWatchStore } from '../../collector/orders/watch-store.ts';
import { createPoller } from '../../collector/orders/poller.ts';
import { createStatusClient } from '../../collector/sources/gateway/status-client.ts';
import { noInstruments } from '../../collector/telemetry/instruments.ts';
import { gatewayConfigSchema } from '../../schemas/config.ts';
import { watchedOrder } from '../support/watched-order.ts';
import { cpuBetween, cpuTimes } from './cpu.ts';
import { withSink } from './pipeline-sink.ts';
import { ratioOf, type BenchResult } from './result.ts';
import { fingerprint } from '../support/fingerprint.ts';

/**
 * Enough orders that there is always one to be read: no connection is idle because an order waits for its
 * last read to be stored.
 */
const ORDERS = 8_000;
/** Reads of an order: the history grows with each of them, the last one brings nothing new. */
const READS = 4;
const CONCURRENCY = 32;
const ROUNDS = 3;
export const TOTAL = ORDERS * READS;

/** What one way did in one round. */
interface Measured {
  readonly rate: number;
  /** CPU time a read, in microseconds. */
  readonly collector: number;
  readonly gateway: number;
  readonly store: number;
}

/**
 * Status reads a second, from the request to rows that the store has acknowledged, against bare undici
 * requests to the same server with the same concurrency. In turns within one run. Gateway, collector and
 * store share the machine's cores: what each of them takes a read stands beside the rates.
 */
export async function run(): Promise<BenchResult> {
  const server = fork(fileURLToPath(new URL('./status-server.ts', import.meta.url)), {
    execArgv: ['--no-warnings'],
  });
  const [port] = (await once(server, 'message')) as [number];
  const origin = `http://127.0.0.1:${port}`;
  const measure = async (work: () => Promise<number>): Promise<Measured> => {
    const before = cpuTimes();
    const rate = await work();
    const after = cpuTimes();
    const aRead = (of: (pid: number) => boolean) => (cpuBetween(before, after, of) * 1000) / TOTAL;
    return {
      rate,
      collector: aRead((pid) => pid === process.pid),
      gateway: aRead((pid) => pid === server.pid),
      store: aRead((pid) => pid !== process.pid && pid !== server.pid),
    };
  };
  try {
    const ours: Measured[] = [];
    const bare: Measured[] = [];
    await withSink(async ({ store, write }) => {
      for (let round = 0; round <= ROUNDS; round += 1) {
        const bareRound = await measure(() => readBare(origin, round));
        const ourRound = await measure(() =>
          readOurs(origin, round, (sql, params) => store.query(sql, params), write),
        );
        if (round === 0) continue;
        ours.push(ourRound);
        bare.push(bareRound);
      }
    });
    return {
      name: 'polls: status reads to acknowledged rows against bare undici requests',
      unit: 'reads/s',
      ours: median(ours, 'rate'),
      baseline: median(bare, 'rate'),
      aim: 0.6,
      note:
        `${ORDERS} orders, ${READS} reads and 9 items each, ${CONCURRENCY} at once, embedded store, medians of ${ROUNDS}; ` +
        `CPU us a read: collector ${median(ours, 'collector').toFixed(0)}, gateway ${median(ours, 'gateway').toFixed(0)}, ` +
        `store ${median(ours, 'store').toFixed(0)}; bare: client ${median(bare, 'collector').toFixed(0)}, ` +
        `gateway ${median(bare, 'gateway').toFixed(0)}`,
    };
  } finally {
    server.disconnect();
  }
}

async function readBare(origin: string, round: number): Promise<number> {
  const pool = new Pool(origin, { connections: CONCURRENCY });
  const todo = Array.from({ length: TOTAL }, (_, index) => `bare-${round}-${index % ORDERS}`).values();
  const start = performance.now();
  const work = async (): Promise<void> => {
    for (const id of todo) {
      const reply = await pool.request({
        method: 'GET',
        path: `/api/v1/integration/deposit-order/${id}/status`,
        headers: { authorization: 'Bearer a-token' },
      });
      await reply.body.text();
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  const rate = (TOTAL * 1000) / (performance.now() - start);
  await pool.destroy();
  return rate;
}

/** Status reads a second of our own pipeline, from the request to rows that are acknowledged. */
export async function readOurs(
  origin: string,
  round: number,
  query: Parameters<typeof createWatchStore>[0],
  write: OrdersContext['write'],
): Promise<number> {
  const gateway = gatewayConfigSchema.parse({
    name: 'acme-eu',
    secureUrl: origin,
    token: 'a-token',
    callbackKeys: ['0123456789abcdef0123456789abcdef'],
    poll: {
      delaysS: [0.001],
      maxDelayS: 0.001,
      jitter: 0,
      rereadsS: [0.001],
      concurrency: CONCURRENCY,
      requestsPerSecond: 1_000_000,
    },
  });
  const clock = { ...systemClock, now: createStamp(systemClock) };
  const done = Promise.withResolvers<void>();
  let reads = 0;
  const poller = createPoller({
    gateways: [gateway],
    clock,
    reader: createStatusClient,
    onEvent: (_gateway, event) => event.type === 'apply_failed' && done.reject(event.error),
  });
  const context: OrdersContext = {
    collectorId: 'bench',
    historyDays: 400,
    clock,
    random: Math.random,
    gateways: new Map([[gateway.name, gateway]]),
    watchStore: createWatchStore(query),
    tracked: poller,
    owns: () => true,
    memory: ALONE,
    handOver: null,
    examiner: createSignatureExaminer({
      gateways: new Map(),
      clock: systemClock,
      tracked: () => undefined,
    }),
    instruments: noInstruments(),
    fingerprint,
    write,
  };
  const start = performance.now();
  poller.start(async (reply) => {
    const applied = await applyReply(reply, context);
    reads += 1;
    if (reads === TOTAL) done.resolve();
    return applied;
  });
  for (let index = 0; index < ORDERS; index += 1) {
    const order = watchedOrder({
      orderId: `ours-${round}-${index}`,
      nextPollAt: clock.now(),
      firstSeenAt: clock.now(),
    });
    poller.track({ order, known: '' }, 'watch');
  }
  await done.promise;
  const rate = (TOTAL * 1000) / (performance.now() - start);
  await poller.stop();
  return rate;
}

function median(rounds: readonly Measured[], of: keyof Measured): number {
  const values = rounds.map((round) => round[of]).toSorted((a, b) => a - b);
  return values[values.length >> 1] ?? Number.NaN;
}

if (import.meta.main) {
  const result = await run();
  console.log({ ...result, ratio: ratioOf(result) });
}
