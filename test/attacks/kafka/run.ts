import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import kafkajs, { type Producer } from 'kafkajs';
import { createStore, type Store } from '../../../store/store.ts';
import { registerCodecs } from '../../../collector/sources/kafka/codecs.ts';
import { createSandbox } from '../../../sandbox/server.ts';
import { gatewayConfig, signedCallback } from '../../integration/support/gateway.ts';
import { metric } from '../../integration/support/metrics.ts';
import { startCollectorProcess } from '../../support/collector-process.ts';
import { testClient, uniqueName } from '../../support/kafka-topics.ts';
import { until } from '../../support/until.ts';
import { startObserver, type Observed } from '../support/observer.ts';
import { randomFrom } from '../../support/random.ts';
import { spreadOf, type Spread } from '../support/spread.ts';
import { pickKind, type HostileMessage } from './messages.ts';

export interface KafkaAttackOptions {
  readonly brokers: readonly string[];
  /** Hostile messages in all, bombs not counted. */
  readonly messages: number;
  /** Batches that unpack to 17 MiB, of each codec. */
  readonly bombs: number;
  readonly seed: number;
  readonly say: (text: string) => void;
}

type Counts = Record<string, number>;

export interface KafkaAttackReport {
  readonly hostile: number;
  readonly bombs: number;
  /** What had to become of them, and what became. */
  readonly expected: Counts;
  readonly found: Counts;
  /**
   * Signed callbacks on the same topic, every other one through the collector's intake: how many are stored
   * as valid, how long until then, and how long until the intake had answered.
   */
  readonly good: {
    readonly sent: number;
    readonly stored: number;
    readonly storedAfterMs: Spread;
    readonly answeredAfterMs: Spread;
  };
  readonly observed: Observed;
  readonly seconds: number;
}

const { CompressionTypes } = kafkajs;
const CODECS = [CompressionTypes.GZIP, CompressionTypes.Snappy, CompressionTypes.LZ4, CompressionTypes.ZSTD];
const BATCH = 250;
const GOOD_EVERY_MS = 50;
/** More than that, and the broker itself is what is attacked. */
const BYTES_AHEAD = 700_000;

/**
 * A hostile producer on the topics of a running collector, beside a gateway whose signed callbacks go the
 * same way.
 */
export async function attackKafka(options: KafkaAttackOptions): Promise<KafkaAttackReport> {
  const startedMs = performance.now();
  registerCodecs();
  const topics = { callbacks: uniqueName('callbacks'), watch: uniqueName('orders') };
  const sandbox = await createSandbox({ seed: 'kafka-attack' });
  const producer = testClient(options.brokers).producer({
    createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
  });
  await using collector = await startCollectorProcess({
    config: {
      gateways: [gatewayConfig(sandbox)],
      kafka: {
        brokers: [...options.brokers],
        groupId: uniqueName('group'),
        callbackTopics: [topics.callbacks],
        watchTopic: topics.watch,
        createTopics: true,
      },
    },
  });
  const password = readFileSync(path.join(collector.dataDir, 'writer.secret'), 'utf8').trim();
  const store = createStore({ url: collector.store, username: 'gatewatch', password });
  try {
    await producer.connect();
    const observer = startObserver({ url: collector.http, pid: collector.pid });
    const intake = `${collector.intake}/callbacks/sandbox`;
    const good = sendGood(producer, topics.callbacks, sandbox.callbackKey, intake);
    const expected = await sendHostile(producer, topics, options);
    const { sentAt, answeredMs } = await good.stop();
    const tombstones = () => tombstonesOf(collector.http, Object.values(topics));
    const found = await untilTaken(store, tombstones, expected, sentAt.size, options);
    const tookMs = await latencies(store, sentAt);
    return {
      hostile: options.messages,
      bombs: options.bombs * CODECS.length,
      expected,
      found,
      good: {
        sent: sentAt.size,
        stored: tookMs.length,
        storedAfterMs: spreadOf(tookMs),
        answeredAfterMs: spreadOf(answeredMs),
      },
      observed: await observer.stop(),
      seconds: Math.round((performance.now() - startedMs) / 1000),
    };
  } finally {
    await producer.disconnect();
    await store.close();
    await sandbox.stop();
  }
}

/** Sends signed callbacks one by one, to the topic and to the intake in turn. */
function sendGood(producer: Producer, topic: string, key: string, intake: string) {
  const sentAt = new Map<string, number>();
  const answeredMs: number[] = [];
  const over = new AbortController();
  const send = async (externalId: string): Promise<void> => {
    const { body, signature } = signedCallback({ externalId }, key);
    const headers = { Signature: signature };
    sentAt.set(externalId, Date.now());
    if (sentAt.size % 2 === 0) {
      await producer.send({ topic, messages: [{ key: externalId, value: body, headers }] });
      return;
    }
    const startMs = performance.now();
    const reply = await fetch(intake, { method: 'POST', body, headers });
    if (!reply.ok) throw new Error(`The intake answered ${reply.status}`);
    answeredMs.push(performance.now() - startMs);
  };
  const run = (async () => {
    while (!over.signal.aborted) {
      await send(`good-${randomUUID()}`);
      await new Promise((resolve) => setTimeout(resolve, GOOD_EVERY_MS));
    }
  })();
  return {
    async stop() {
      over.abort();
      await run;
      return { sentAt, answeredMs };
    },
  };
}

async function sendHostile(
  producer: Producer,
  topics: { readonly callbacks: string; readonly watch: string },
  { messages, bombs, seed, say }: KafkaAttackOptions,
): Promise<Counts> {
  const random = randomFrom(seed);
  const expected: Counts = {};
  const waiting: { callbacks: HostileMessage[]; watch: HostileMessage[] } = { callbacks: [], watch: [] };
  let bytes = 0;
  let sends = 0;
  const flush = async (): Promise<void> => {
    for (const topic of ['callbacks', 'watch'] as const) {
      const some = waiting[topic].splice(0);
      const compression = [CompressionTypes.None, ...CODECS][(sends += 1) % 5] as number;
      if (some.length > 0) await producer.send({ topic: topics[topic], compression, messages: some });
    }
    bytes = 0;
  };
  const bombAt = Math.max(1, Math.floor(messages / (bombs * CODECS.length + 1)));
  for (let n = 1; n <= messages; n += 1) {
    const kind = pickKind(random);
    const message = kind.make(n, random);
    expected[kind.outcome] = (expected[kind.outcome] ?? 0) + 1;
    waiting[kind.topic].push(message);
    bytes += (message.value?.length ?? 0) + 20 * Object.keys(message.headers).length;
    if (n % BATCH === 0 || bytes > BYTES_AHEAD) await flush();
    const bomb = n / bombAt - 1;
    if (Number.isInteger(bomb) && bomb < bombs * CODECS.length) {
      await flush();
      await sendBomb(producer, topics.callbacks, CODECS[bomb % CODECS.length] as number);
      expected['kafka_batch_too_large'] = (expected['kafka_batch_too_large'] ?? 0) + 1;
    }
    if (n % 10_000 === 0) say(`${n} hostile messages sent`);
  }
  await flush();
  return expected;
}

async function sendBomb(producer: Producer, topic: string, compression: number): Promise<void> {
  await producer.send({ topic, compression, messages: [{ key: 'bomb', value: Buffer.alloc(17 << 20) }] });
}

/** Records without a value leave no row: they are counted. */
async function tombstonesOf(address: string, topics: readonly string[]): Promise<number> {
  const counts = topics.map((topic) => metric(address, 'gatewatch_kafka_tombstones_total', { topic }));
  return (await Promise.all(counts)).reduce<number>((sum, count) => sum + (count ?? 0), 0);
}

/** Waits until each message has become something, and says what. */
async function untilTaken(
  store: Store,
  tombstones: () => Promise<number>,
  expected: Counts,
  good: number,
  { messages, say }: KafkaAttackOptions,
): Promise<Counts> {
  const wanted = Object.values(expected).reduce((sum, count) => sum + count, 0) + good;
  const look = async (): Promise<Counts> => {
    const rows = await store.query<{ name: string; n: number }>(
      `SELECT toString(verdict) AS name, uniqExact(topic, kafka_partition, kafka_offset) AS n
FROM callback_deliveries_store GROUP BY name
UNION ALL SELECT toString(reason), uniqExact(topic, kafka_partition, kafka_offset) FROM rejects_store
WHERE source = 'kafka' GROUP BY reason
UNION ALL SELECT 'watched', uniqExact(topic, kafka_partition, kafka_offset) FROM watch_requests_store
HAVING count() > 0`,
    );
    return Object.fromEntries([...rows.map(({ name, n }) => [name, n]), ['tombstone', await tombstones()]]);
  };
  const sum = (counts: Counts): number => Object.values(counts).reduce((total, count) => total + count, 0);
  const patienceMs = 30_000 + 5 * messages;
  const found = await until(
    'every message to become something',
    async () => {
      const counts = await look();
      say(`${sum(counts)} of ${wanted} taken`);
      await new Promise((resolve) => setTimeout(resolve, 500));
      return counts;
    },
    (counts) => sum(counts) >= wanted,
    patienceMs,
  );
  return { ...found, valid: (found['valid'] ?? 0) - good };
}

/** From when a good callback was sent until its batch was acknowledged. */
async function latencies(store: Store, sentAt: ReadonlyMap<string, number>): Promise<number[]> {
  const rows = await store.query<{ id: string; at: number }>(
    `SELECT external_id AS id, toUnixTimestamp64Milli(CAST(min(l.acknowledged_at), 'DateTime64(3)')) AS at
FROM callback_deliveries_store AS c INNER JOIN ingest_ledger AS l USING (collector_id, batch_seq)
WHERE c.verdict = 'valid' AND startsWith(assumeNotNull(c.external_id), 'good-') GROUP BY id`,
  );
  return rows.flatMap(({ id, at }) => {
    const sent = sentAt.get(id);
    return sent === undefined ? [] : [at - sent];
  });
}
