import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Kafka, logLevel } from 'kafkajs';
import { Pool } from 'undici';
import { BODY, KEY, sign } from '../collector/decode/callback-fixtures.ts';
import { startCollectorProcess, type CollectorProcess } from '../support/collector-process.ts';
import { startKafka } from '../support/kafka-broker.ts';
import { uniqueName, withAdmin } from '../support/kafka-topics.ts';
import { until } from '../support/until.ts';
import { ratioOf, type BenchResult, type SkippedBench } from './result.ts';

/** A gateway far away. Both ways wait for it. */
const GATEWAY_MS = 50;
/** 2,000 orders a minute, each with three callbacks; each callback that verifies has its order read. */
const ORDERS_A_SECOND = 33;
const STATUSES = ['Created', 'Processing', 'Success'];
const QUESTIONS = 150;
const WARM_UP = 30;
/** Between two questions. */
const PAUSE_MS = 20;

/**
 * Answers to "may this payment be cascaded?" a second, one after the other, from a collector that takes in
 * callbacks from Kafka and reads their orders meanwhile, against bare status requests to the same gateway: in
 * turns within one run. Each answer is `safe`: by both ids, with what the store knows.
 */
export async function run(): Promise<BenchResult | SkippedBench> {
  const { kafka: found, stop: stopKafka } = await startKafka();
  if (!found.available) return { skipped: found.reason };
  const brokers = [...found.brokers];
  const topics = { callbacks: uniqueName('bench'), watch: uniqueName('bench-orders') };
  const server = fork(fileURLToPath(new URL('./status-server.ts', import.meta.url)), [String(GATEWAY_MS)], {
    execArgv: ['--no-warnings'],
  });
  try {
    const [port] = (await once(server, 'message')) as [number];
    const gateway = `http://127.0.0.1:${port}`;
    await withAdmin(brokers, (admin) =>
      admin.createTopics({
        topics: Object.values(topics).map((topic) => ({ topic, numPartitions: 6 })),
        waitForLeaders: true,
      }),
    );
    await using collector = await startCollectorProcess({
      config: {
        gateways: [
          {
            name: 'acme-eu',
            secureUrl: gateway,
            token: 'a-token',
            callbackKeys: [KEY],
            poll: { requestsPerSecond: 500, concurrency: 64 },
          },
        ],
        kafka: {
          brokers,
          groupId: uniqueName('bench'),
          callbackTopics: [topics.callbacks],
          watchTopic: topics.watch,
        },
      },
    });
    return await measure(collector, gateway, brokers, topics.callbacks);
  } finally {
    server.disconnect();
    await stopKafka();
  }
}

async function measure(
  collector: CollectorProcess,
  gateway: string,
  brokers: string[],
  topic: string,
): Promise<BenchResult> {
  await watchFailedOrders(collector);
  const ingest = await startIngest(brokers, topic);
  const bare = new Pool(gateway, { connections: 1 });
  const router = new Pool(collector.http, { connections: 1 });
  const took = { bare: [] as number[], known: [] as number[], unknown: [] as number[] };
  try {
    for (let index = 0; index < QUESTIONS + WARM_UP; index += 1) {
      const id = `failed-${index}`;
      const turn = {
        bare: await timed(bare, `/api/v1/integration/deposit-order/${id}/status`),
        known: await timed(router, question(id, 'external-id')),
        // Of these nothing was heard before: the reply names the gateway's id, which is asked for then.
        unknown: await timed(router, question(`m-failed-new-${index}`, 'transaction-id')),
      };
      if (turn.known.body.includes('"verdict":"safe"') && turn.unknown.body.includes('"verdict":"safe"')) {
        if (index >= WARM_UP) for (const way of WAYS) took[way].push(turn[way].ms);
      } else throw new Error(`not safe: ${turn.known.body} ${turn.unknown.body}`);
      await sleep(PAUSE_MS);
    }
  } finally {
    await ingest.stop();
    await Promise.all([bare.destroy(), router.destroy()]);
  }
  const [stored] = await collector.query<{ n: number }>('SELECT count() AS n FROM callbacks');
  return {
    name: 'cascade-safety: answers beside full ingest against bare status requests',
    unit: 'answers/s, one after the other',
    ours: 1000 / quantile(took.known, 0.5),
    baseline: 1000 / quantile(took.bare, 0.5),
    // At most half as long again.
    aim: 0.67,
    note:
      `gateway answers after ${GATEWAY_MS} ms; ${ORDERS_A_SECOND} orders and ${ORDERS_A_SECOND * STATUSES.length} callbacks a second meanwhile ` +
      `(${ingest.sent()} sent, ${stored?.n} stored); ms p50/p99: bare ${times(took.bare)}, both ids known ${times(took.known)}, ` +
      `only the merchant's id known (two reads in turn) ${times(took.unknown)}`,
  };
}

const WAYS = ['bare', 'known', 'unknown'] as const;
const question = (id: string, by: string): string =>
  `/orders/${id}/cascade-safety?gateway=acme-eu&type=Deposit&by=${by}`;

async function timed(pool: Pool, path: string): Promise<{ ms: number; body: string }> {
  const startMs = performance.now();
  const reply = await pool.request({ method: 'GET', path, headers: { authorization: 'Bearer a-token' } });
  const body = await reply.body.text();
  return { ms: performance.now() - startMs, body };
}

/** Has the orders read once, so that the collector knows both of their ids. */
async function watchFailedOrders({ http, query }: CollectorProcess): Promise<void> {
  const body = Array.from({ length: QUESTIONS + WARM_UP }, (_, index) => ({
    orderType: 'Deposit',
    externalId: `failed-${index}`,
    externalTransactionId: `m-failed-${index}`,
  }));
  const headers = { 'content-type': 'application/json' };
  await fetch(`${http}/orders`, { method: 'POST', headers, body: JSON.stringify(body) });
  const known = () => query<{ n: number }>(`SELECT count() AS n FROM orders WHERE status = 'Failed'`);
  await until('orders known by both ids', known, ([row]) => row?.n === body.length);
}

/** Sends the callbacks of new orders, evenly, until it is stopped. */
async function startIngest(brokers: string[], topic: string) {
  const producer = new Kafka({ brokers, logLevel: logLevel.NOTHING }).producer();
  await producer.connect();
  let sent = 0;
  let order = 0;
  let sending = Promise.resolve();
  const timer = setInterval(() => {
    const messages = STATUSES.map((status, index) => {
      const body = { ...BODY, externalId: `order-${order - index}`, status };
      return { key: body.externalId, value: JSON.stringify(body), headers: { Signature: sign(body) } };
    });
    order += 1;
    sending = producer.send({ topic, messages }).then(() => void (sent += messages.length));
  }, 1000 / ORDERS_A_SECOND);
  return {
    sent: () => sent,
    async stop() {
      clearInterval(timer);
      await sending;
      await producer.disconnect();
    },
  };
}

const quantile = (values: readonly number[], part: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * part)] ?? Number.NaN;
const times = (values: readonly number[]): string =>
  `${quantile(values, 0.5).toFixed(1)}/${quantile(values, 0.99).toFixed(1)}`;

if (import.meta.main) {
  const result = await run();
  console.log('skipped' in result ? result : { ...result, ratio: ratioOf(result) });
}
