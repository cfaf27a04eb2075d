import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readerPassword } from '../support/collector-process.ts';
import { useKafka } from '../support/kafka-broker.ts';
import { createTopic, produce, uniqueName } from '../support/kafka-topics.ts';
import { type OtlpReceiver, startOtlpReceiver } from '../support/otlp-receiver.ts';
import { signedCallback } from '../integration/support/gateway.ts';
import { GATEWAY, type Scene, startScene } from './support/scene.ts';

const kafka = await useKafka();

/**
 * WHAT A RESTART DOES
 *
 * `02-nothing-is-lost` pulls the plug. This page stops the collector as an operator does, with SIGTERM, and
 * shows where each thing that it goes on with is kept:
 *
 *     which orders are watched, and when each is due     the store, table `order_watch`
 *     how far Kafka has been read                        Kafka, the group's committed offsets
 *     which spans have been sent                         the store, the last batch whose spans were sent
 *     who may ask the embedded store                     the data folder, `writer.secret` and `reader.secret`
 *
 * Nothing of it is in memory alone, so that a stop, a kill and a new machine on the same data are one case.
 */
describe.skipIf(!kafka.available)('what a restart does', () => {
  const topic = uniqueName('callbacks');
  let scene: Scene;
  let tracing: OtlpReceiver;
  beforeAll(async () => {
    const brokers = kafka.available ? [...kafka.brokers] : [];
    await createTopic(brokers, topic);
    tracing = await startOtlpReceiver();
    scene = await startScene({
      gateway: { poll: { delaysS: [0.5], maxDelayS: 0.5, jitter: 0, rereadsS: [1] } },
      config: {
        kafka: {
          brokers,
          groupId: uniqueName('guide'),
          callbackTopics: [topic],
          watchTopic: uniqueName('orders'),
          createTopics: true,
          sessionTimeoutMs: 6000,
        },
      },
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: tracing.url, OTEL_METRICS_EXPORTER: 'none' },
    });
  });
  afterAll(async () => {
    await scene[Symbol.asyncDispose]();
    await tracing.close();
  });

  const newOrder = (status = 'Processing') =>
    scene.gateway.seedOrder({ status, items: [{ action: '1.1.1.00', offsetMs: -60_000 }] }).externalId;
  const onto = async (...bodies: { body: string; signature: string }[]) => {
    const messages = bodies.map(({ body, signature }) => ({
      value: body,
      headers: { Signature: signature },
    }));
    await produce(kafka.available ? kafka.brokers : [], topic, messages);
  };
  const callbackOf = (externalId: string) => signedCallback({ externalId }, scene.gateway.callbackKey);
  const callbacks = (id: string) =>
    scene.query(`SELECT verdict, deliveries FROM callbacks WHERE external_id = '${id}'`);
  const pollsOf = async (id: string) =>
    (await scene.query(`SELECT poll_id FROM polls WHERE order_id = '${id}'`)).length;
  const settled = async (id: string) =>
    (
      await scene.query<{ n: number }>(
        `SELECT settled_at IS NOT NULL AS n FROM orders WHERE external_id = '${id}'`,
      )
    )[0]?.n === 1;
  const readyz = async () =>
    (await (await fetch(`${scene.collector.http}/readyz`)).json()) as { watched: number };

  const open: string[] = [];
  let done: string;
  let password: string;
  it('1. SIGTERM: what was taken in is stored first; the process ends by itself, with 0', async () => {
    done = newOrder('Success');
    open.push(newOrder(), newOrder());
    await scene.watch(done, ...open);
    await expect.poll(() => settled(done)).toBe(true);
    await expect.poll(() => tracing.spans.length).toBeGreaterThan(0);
    for (const id of open) await expect.poll(() => pollsOf(id)).toBeGreaterThan(0);
    password = readerPassword(scene.collector.dataDir);
    const last = randomUUID();
    expect(await scene.sendCallback({ externalId: last })).toBe(200);
    open.push(last);
    expect(await scene.collector.stop()).toBe(0);
  });

  const away = randomUUID();
  it('2. while it is away the gateway goes on, and Kafka keeps what arrives', async () => {
    await onto(callbackOf(away), callbackOf(away));
    for (const id of open.slice(0, 2)) {
      scene.gateway.appendItem(id, { action: '4.1.3.00' });
      scene.gateway.setStatus(id, { status: 'Success' });
    }
    await expect(fetch(scene.collector.http)).rejects.toThrow();
  });

  let pollsOfDone: number;
  let spansOfDone: number;
  it('3. it goes on with the orders that it watched: nobody names them again', async () => {
    spansOfDone = tracing.spans.length;
    await scene.startAgain();
    pollsOfDone = await pollsOf(done);
    expect((await readyz()).watched).toBeGreaterThan(0);
    for (const id of open.slice(0, 2)) {
      const outcome = () => scene.query(`SELECT outcome FROM orders WHERE external_id = '${id}'`);
      await expect.poll(outcome).toEqual([{ outcome: 'succeeded' }]);
      await expect.poll(() => settled(id)).toBe(true);
    }
  });

  it('4. it goes on in Kafka where it was: what arrived meanwhile is there, what was there is not doubled', async () => {
    // Two records of one content: one callback, delivered twice.
    await expect.poll(() => callbacks(away)).toEqual([{ verdict: 'valid', deliveries: 2 }]);
    expect(await callbacks(open[2] ?? '')).toEqual([{ verdict: 'valid', deliveries: 1 }]);
  });

  it('5. what was settled stays settled: no read, no span a second time', async () => {
    expect(await pollsOf(done)).toBe(pollsOfDone);
    await expect.poll(() => tracing.spans.length).toBeGreaterThan(spansOfDone);
    const ids = tracing.spans.map(({ spanId }) => spanId);
    expect(ids).toHaveLength(new Set(ids).size);
  });

  it('6. what was sent before and what is sent after the stop is one trace: ids are made of what they stand for', async () => {
    const [id = ''] = open;
    const timeline = await scene.gatewatch('order', id, '--json');
    const { traceId } = (JSON.parse(timeline) as { order: { traceId: string } }).order;
    const names = () => tracing.spans.filter((span) => span.traceId === traceId).map(({ name }) => name);
    // One item was stored before the stop, one after it, and the root comes last.
    const whole = ['payment INTERNAL SUCCESS', 'payment CHECK SUCCESS', 'payment Deposit'];
    await expect.poll(() => names().toSorted()).toEqual(whole.toSorted());
  });

  it('7. passwords and schema are as they were: there is nothing to set up again', async () => {
    expect(readerPassword(scene.collector.dataDir)).toBe(password);
    expect(scene.collector.logged('schema: applied')).toEqual([]);
    const file = await readFile(path.join(scene.collector.dataDir, 'embedded.json'), 'utf8');
    expect(JSON.parse(file)).toMatchObject({ url: scene.collector.store });
    expect(await scene.query(`SELECT DISTINCT gateway FROM orders`)).toEqual([{ gateway: GATEWAY }]);
  });
});
