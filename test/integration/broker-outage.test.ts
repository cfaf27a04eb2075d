import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSandbox, type Sandbox } from '../../sandbox/server.ts';
import { type CollectorProcess, startCollectorProcess } from '../support/collector-process.ts';
import { startOwnKafka, useKafka } from '../support/kafka-broker.ts';
import { freePort, type KafkaProcess } from '../support/kafka-process.ts';
import { createTopic, produce } from '../support/kafka-topics.ts';
import { until } from '../support/until.ts';
import { gatewayConfig, postCallback } from './support/gateway.ts';
import { readTopic } from './support/topic.ts';

const kafka = await useKafka();
// A broker to kill has to be our own: the one that `KAFKA_BROKERS` names is somebody's.
const canKill = kafka.available && kafka.jars !== undefined;
const TOPIC = 'gateway.callbacks';

describe.skipIf(!canKill)('a collector whose Kafka broker is missing when it starts, and again later', () => {
  let sandbox: Sandbox;
  let brokerPort: number;
  let broker: KafkaProcess | undefined;
  let collector: CollectorProcess;
  beforeAll(async () => {
    sandbox = await createSandbox();
    brokerPort = await freePort();
    collector = await startCollectorProcess({
      config: {
        gateways: [gatewayConfig(sandbox)],
        kafka: { brokers: [`127.0.0.1:${brokerPort}`], sessionTimeoutMs: 6000 },
      },
      until: 'running',
    });
  });
  afterAll(async () => {
    await collector?.[Symbol.asyncDispose]();
    await broker?.stop();
    await sandbox?.stop();
  });

  const ask = async (path: string) => {
    const reply = await fetch(`${collector.http}${path}`);
    return { status: reply.status, body: (await reply.json()) as { problems: Record<string, string> } };
  };
  const becomesReady = () =>
    until(
      'ready',
      async () => (await ask('/readyz')).status,
      (status) => status === 200,
    );
  const callback = async (externalId: string) => {
    const url = `${collector.intake}/callbacks/sandbox`;
    const reply = await postCallback(url, { externalId }, sandbox.callbackKey);
    return { status: reply.status, retryAfter: reply.headers.get('retry-after') };
  };
  /**
   * Sends callbacks, each of another order, until one is taken: its order. One that was not may be in Kafka
   * all the same, when the broker is slower than the sender is patient.
   */
  let orders = 0;
  const takenCallback = async (): Promise<string> => {
    const send = async () => {
      orders += 1;
      return (await callback(`taken-${orders}`)).status;
    };
    await until('a callback to be taken', send, (status) => status === 200);
    return `taken-${orders}`;
  };
  const verdicts = (externalId: string) =>
    collector.query(`SELECT verdict, deliveries FROM callbacks WHERE external_id = '${externalId}'`);

  it('stays up, and says which broker cannot be reached and why', async () => {
    expect(await ask('/healthz')).toMatchObject({ status: 200 });
    const why = `127.0.0.1:${brokerPort} cannot be reached: connection refused`;
    const problem = async () => (await ask('/readyz')).body.problems['kafka'] ?? '';
    await expect.poll(problem).toContain(why);
    expect((await ask('/readyz')).status).toBe(503);
    expect(collector.logged('kafka: unreachable')[0]).toMatchObject({ reason: expect.stringContaining(why) });
  });

  it('asks the gateway to send its callbacks again later, as nothing else could keep them', async () => {
    expect(await callback('early')).toEqual({ status: 503, retryAfter: '5' });
  });

  it('reads the orders that it knows all the same', async () => {
    const { externalId } = sandbox.seedOrder({ items: [{ action: '1.1.1.00', offsetMs: -10 }] });
    const reply = await fetch(`${collector.http}/orders`, {
      method: 'POST',
      body: JSON.stringify({ orderType: 'Deposit', externalId }),
      headers: { 'Content-Type': 'application/json' },
    });
    expect(reply.status).toBe(202);
    const items = () =>
      collector.query(`SELECT action FROM history_events WHERE external_id = '${externalId}'`);
    await expect.poll(items).toEqual([{ action: '1.1.1.00' }]);
  });

  it('begins by itself when the broker appears, reports a missing topic, and takes callbacks', async () => {
    broker = await startOwnKafka({ port: brokerPort });
    await createTopic([broker.bootstrap], 'gateway.orders');
    const missing = () => collector.logged('kafka: topic missing').length;
    await until('word of the missing topic', missing, (count) => count > 0);
    expect(collector.logged('kafka: topic missing')[0]).toMatchObject({
      topics: expect.arrayContaining([TOPIC]),
    });
    await createTopic([broker.bootstrap], TOPIC, { partitions: 2 });
    await becomesReady();
    const first = await takenCallback();
    await expect.poll(() => verdicts(first)).toEqual([{ verdict: 'valid', deliveries: 1 }]);
  });

  it('goes on by itself after the broker was killed: what Kafka had acknowledged is there, once', async () => {
    const before: string[] = [];
    while (before.length < 5) before.push(await takenCallback());
    await broker?.kill();
    await until(
      '503',
      () => callback('in-between'),
      ({ status }) => status === 503,
    );
    expect(await ask('/healthz')).toMatchObject({ status: 200 });
    await broker?.start();
    await becomesReady();
    const after = await takenCallback();
    for (const order of [...before, after])
      await expect.poll(() => verdicts(order)).toEqual([{ verdict: 'valid', deliveries: 1 }]);
    const records = await readTopic([broker?.bootstrap ?? ''], TOPIC);
    const ids = new Set(records.map(({ headers }) => String(headers['delivery-id'])));
    const counted = async () =>
      (await collector.query<{ n: number }>('SELECT sum(deliveries) AS n FROM callbacks'))[0]?.n;
    await expect.poll(counted).toBe(ids.size);
  });

  it('keeps what it cannot decode as a reject with its place in the topic, and goes on behind it', async () => {
    const brokers = [broker?.bootstrap ?? ''];
    await produce(brokers, 'gateway.orders', [
      { key: 'k', value: '{"orderType":"Deposit"' },
      { key: 'k', value: JSON.stringify({ orderType: 'Refund', externalId: 'x' }) },
      { key: 'k', value: JSON.stringify({ gateway: 'elsewhere', orderType: 'Deposit', externalId: 'x' }) },
      { key: 'k', value: JSON.stringify({ orderType: 'Deposit', externalId: 'good' }) },
    ]);
    const rejects = () =>
      collector.query(
        `SELECT reason, field, topic, kafka_offset FROM rejects WHERE topic = 'gateway.orders' ORDER BY kafka_offset`,
      );
    await expect.poll(rejects).toEqual([
      { reason: 'watch_message_malformed', field: 'body', topic: 'gateway.orders', kafka_offset: 0 },
      { reason: 'watch_message_malformed', field: 'orderType', topic: 'gateway.orders', kafka_offset: 1 },
      { reason: 'unknown_gateway', field: 'gateway', topic: 'gateway.orders', kafka_offset: 2 },
    ]);
    const polled = () => collector.query(`SELECT DISTINCT outcome FROM polls WHERE order_id = 'good'`);
    await expect.poll(polled).toEqual([{ outcome: 'not_found' }]);
  });

  it('stops within 10 seconds and with exit code 0 when asked to, the broker being gone again', async () => {
    await broker?.kill();
    const startedMs = performance.now();
    expect(await collector.stop()).toBe(0);
    const elapsedMs = performance.now() - startedMs;
    console.log(`stopped in ${Math.round(elapsedMs)} ms with the broker gone`);
    expect(elapsedMs).toBeLessThan(10_000);
  });
});
