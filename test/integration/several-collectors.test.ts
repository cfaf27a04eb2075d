import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { audit } from '../../operate/audit/audit.ts';
import { createSandbox, type Sandbox } from '../../sandbox/server.ts';
import { createStore, type Store } from '../../store/store.ts';
import { type CollectorProcess, startCollectorProcess } from '../support/collector-process.ts';
import { useKafka } from '../support/kafka-broker.ts';
import { uniqueName } from '../support/kafka-topics.ts';
import { freePort } from '../support/kafka-process.ts';
import { writerSecret } from '../support/store-process.ts';
import { until } from '../support/until.ts';
import { historyOfGateway, historyOfView, untilSettled } from './support/gateway-account.ts';
import { gatewayConfig, UNTIL_ANSWERED } from './support/gateway.ts';

const kafka = await useKafka();
/** The least that a broker grants. */
const SESSION_MS = 6_000;

/**
 * Two collectors in one group. Callbacks lie in partitions by the gateway's id alone, orders are owned by
 * another key: half of all callbacks are consumed by a collector that does not own their order.
 */
describe.skipIf(!kafka.available)('two collectors on one store', () => {
  let sandbox: Sandbox;
  let store: Store;
  const collectors: CollectorProcess[] = [];
  beforeAll(async () => {
    const brokers = kafka.available ? [...kafka.brokers] : [];
    const topics = { callbacks: uniqueName('callbacks'), orders: uniqueName('orders') };
    const port = await freePort();
    sandbox = await createSandbox({
      seed: 'several',
      speed: 100,
      lateShare: 0,
      callbacks: { url: `http://127.0.0.1:${port}/callbacks/sandbox`, retryDelaysMs: UNTIL_ANSWERED },
    });
    const shared = {
      gateways: [gatewayConfig(sandbox)],
      kafka: {
        brokers,
        groupId: uniqueName('group'),
        callbackTopics: [topics.callbacks],
        watchTopic: topics.orders,
        createTopics: true,
        sessionTimeoutMs: SESSION_MS,
      },
    };
    const first = await startCollectorProcess({
      config: { ...shared, collectorId: 'first', http: { port } },
    });
    collectors.push(first);
    const clickhouse = { url: first.store, username: 'gatewatch', password: writerSecret(first.dataDir) };
    collectors.push(
      await startCollectorProcess({ config: { ...shared, collectorId: 'second', clickhouse } }),
    );
    store = createStore(clickhouse);
    await untilDivided(topics.orders);
  }, 300_000);
  afterAll(async () => {
    await store?.close();
    for (const collector of collectors.toReversed()) await collector[Symbol.asyncDispose]();
    await sandbox?.stop();
  });

  /** Each has half of the partitions of the watch topic. */
  async function untilDivided(topic: string): Promise<void> {
    const sharesOf = ({ logged }: CollectorProcess): number | undefined =>
      logged('kafka: joined the group')
        .map(({ assignment }) => (assignment as Record<string, number[]>)[topic]?.length ?? 0)
        .at(-1);
    await until(
      'both to have partitions',
      () => collectors.map(sharesOf),
      ([one, two]) => one === 3 && two === 3,
    );
  }

  async function begin(orders: number): Promise<void> {
    const before = sandbox.stats().orders.created;
    sandbox.setRate(10);
    await until(
      'orders',
      () => sandbox.stats().orders.created,
      (created) => created >= before + orders,
    );
    sandbox.setRate(0);
  }

  async function expectAllHere(): Promise<void> {
    const views = { query: <T>(sql: string) => store.query<T>(sql) };
    await untilSettled(sandbox, views);
    expect(await historyOfView(views)).toEqual(historyOfGateway(sandbox, 'sandbox'));
    const [rows] = await store.query<{ orders: number; whole: number; watched: number; claims: number }>(
      `SELECT count() AS orders, countIf(history_items = items) AS whole, (SELECT count() FROM watch_requests) AS watched,
         (SELECT count() FROM order_claims_store WHERE kind = 'watch') AS claims
       FROM orders INNER JOIN (SELECT external_id, count() AS items FROM history_events GROUP BY external_id) AS stored USING external_id`,
    );
    const { orders = 0, whole, watched, claims } = rows ?? {};
    expect({ whole: Number(whole), watched: Number(watched), claims: Number(claims) }).toEqual({
      whole: Number(orders),
      watched: 0,
      claims: 0,
    });
    const report = await audit({
      query: (sql, params, settings) => store.query(sql, params, settings),
      nowMicros: () => Date.now() * 1000,
    });
    expect(report).toMatchObject({ ok: true });
  }

  it('leave each order to its owner, to whom callbacks elsewhere are hints', async () => {
    await begin(60);
    await expectAllHere();
    const [read] = await store.query<{ orders: number; shared: number }>(
      `SELECT count() AS orders, countIf(readers > 1) AS shared
       FROM (SELECT order_id, uniqExact(collector_id) AS readers FROM polls GROUP BY order_id)`,
    );
    expect(Number(read?.orders)).toBeGreaterThanOrEqual(60);
    expect(Number(read?.shared)).toBe(0);
    const [hinted] = await store.query<{ batches: number; readers: number }>(
      `SELECT countIf(hint_coordinates != '') AS batches, (SELECT uniqExact(collector_id) FROM polls) AS readers FROM ingest_ledger`,
    );
    expect(Number(hinted?.batches)).toBeGreaterThan(0);
    expect(Number(hinted?.readers)).toBe(2);
  }, 300_000);

  it('lose nothing and contradict nothing while one of them is stopped and replaced, and goes on', async () => {
    const second = collectors[1] as CollectorProcess;
    await begin(20);
    process.kill(second.pid, 'SIGSTOP');
    await begin(20);
    const joins = () => (collectors[0] as CollectorProcess).logged('kafka: joined the group').length;
    const before = joins();
    await until('the other to be given its partitions', joins, (count) => count > before);
    await begin(20);
    process.kill(second.pid, 'SIGCONT');
    await begin(20);
    expect(joins()).toBeGreaterThan(before);
    await expectAllHere();
  }, 300_000);
});
