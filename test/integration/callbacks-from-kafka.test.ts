import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSandbox, type Sandbox } from '../../sandbox/server.ts';
import { type CollectorProcess, startCollectorProcess } from '../support/collector-process.ts';
import { useKafka } from '../support/kafka-broker.ts';
import { hasKcat, kcat, uniqueName } from '../support/kafka-topics.ts';
import { gatewayConfig, signedCallback, type CallbackFields } from './support/gateway.ts';

const kafka = await useKafka();
const installed = await hasKcat();
const PREVIOUS_KEY = 'the key before the one in use';

describe.skipIf(!kafka.available || !installed)('a callback that kcat puts onto Kafka', () => {
  const brokers = kafka.available ? kafka.brokers : [];
  const topic = uniqueName('callbacks');
  let sandbox: Sandbox;
  let collector: CollectorProcess;
  beforeAll(async () => {
    sandbox = await createSandbox();
    collector = await startCollectorProcess({
      config: {
        gateways: [gatewayConfig(sandbox, { callbackKeys: [sandbox.callbackKey, PREVIOUS_KEY] })],
        kafka: {
          brokers: [...brokers],
          groupId: uniqueName('group'),
          callbackTopics: [topic],
          watchTopic: uniqueName('orders'),
          createTopics: true,
        },
      },
    });
  });
  afterAll(async () => {
    await collector[Symbol.asyncDispose]();
    await sandbox.stop();
  });

  /** Key, body and headers, as any producer in any language would send them. */
  const produce = (key: string, body: string, headers: readonly string[]) =>
    kcat(brokers, ['-P', '-t', topic, '-k', key, ...headers.flatMap((header) => ['-H', header])], body);

  it('becomes a row with the verdict that its signature deserves', async () => {
    const fields = (): CallbackFields => ({ externalId: randomUUID() });
    const valid = signedCallback(fields(), sandbox.callbackKey);
    const previous = signedCallback(fields(), PREVIOUS_KEY);
    const wrong = signedCallback(fields(), 'somebody else');
    const unsigned = signedCallback(fields(), sandbox.callbackKey);
    const twice = signedCallback(fields(), sandbox.callbackKey);
    const alike = signedCallback(fields(), sandbox.callbackKey);
    const truncated = { ...valid, body: valid.body.slice(0, 40) };
    const shifted = signedCallback({ externalId: 'a;Success', status: 'b' }, sandbox.callbackKey);

    await produce('k', valid.body, [`Signature=${valid.signature}`]);
    await produce('k', previous.body, [`signature=${previous.signature}`]);
    await produce('k', wrong.body, [`SIGNATURE=${wrong.signature}`]);
    await produce('k', unsigned.body, []);
    await produce('k', twice.body, [`Signature=${twice.signature}`, `Signature=${wrong.signature}`]);
    await produce('k', truncated.body, [`Signature=${truncated.signature}`]);
    await produce('k', shifted.body, [`Signature=${shifted.signature}`]);
    await produce('k', alike.body, [`Signature=${alike.signature}`, `Signature=${alike.signature}`]);

    // One key is one partition: they are received in the order in which they were sent.
    const verdicts = async () =>
      (await collector.query('SELECT verdict FROM callbacks ORDER BY first_received_at')).map(
        ({ verdict }) => verdict,
      );
    await expect
      .poll(verdicts)
      .toEqual([
        'valid',
        'valid_previous_key',
        'mismatch',
        'missing_signature',
        'malformed',
        'malformed',
        'malformed',
        'valid',
      ]);
  });

  it('keeps the text of the amount, which is what was signed', async () => {
    const externalId = randomUUID();
    const { body, signature } = signedCallback({ externalId, amount: '1234567890.10' }, sandbox.callbackKey);
    await produce(externalId, body, [`Signature=${signature}`]);
    const rows = () =>
      collector.query(
        `SELECT verdict, external_id, status, amount, currency, order_type, source, deliveries, problem
         FROM callbacks WHERE external_id = '${externalId}'`,
      );
    await expect.poll(rows).toEqual([
      {
        verdict: 'valid',
        external_id: externalId,
        status: 'Success',
        amount: '1234567890.10',
        currency: 'EUR',
        order_type: 'Deposit',
        source: 'kafka',
        deliveries: 1,
        problem: '',
      },
    ]);
  });

  it('that verifies has its order read and its history decoded within 2 seconds at idle', async () => {
    const { externalId } = sandbox.seedOrder({
      status: 'Failed',
      items: [
        { action: '1.1.1.00', offsetMs: -3000 },
        { action: '2.1.1.00', offsetMs: -2000 },
        { action: '4.1.4.63', offsetMs: -1000 },
      ],
    });
    const { body, signature } = signedCallback({ externalId, status: 'Failed' }, sandbox.callbackKey);
    await untilIdle(collector);
    await produce(externalId, body, [`Signature=${signature}`]);
    const acknowledgedMs = performance.now();
    const history = () =>
      collector.query(
        `SELECT action, code_format, stage, result, state, reason_code, reason_group, reason_detail, source
         FROM history_events WHERE external_id = '${externalId}' ORDER BY event_time`,
      );
    await expect.poll(async () => (await history()).length, { interval: 20 }).toBe(3);
    const elapsedMs = Math.round(performance.now() - acknowledgedMs);
    console.log(`from the broker's acknowledgement to decoded history in the view: ${elapsedMs} ms`);
    expect(elapsedMs).toBeLessThan(10_000);
    expect((await history()).at(-1)).toEqual({
      action: '4.1.4.63',
      code_format: 'v2',
      stage: 'CHECK',
      result: 'SUCCESS',
      state: 'FAILED',
      reason_code: 63,
      reason_group: 'ISSUER',
      reason_detail: 'INSUFFICIENT_FUNDS',
      source: 'callback',
    });
    const orders = () =>
      collector.query(
        `SELECT status, outcome, reason_detail FROM orders WHERE external_id = '${externalId}'`,
      );
    await expect.poll(orders).toEqual([
      {
        status: 'Failed',
        outcome: 'issuer_decline',
        reason_detail: 'INSUFFICIENT_FUNDS',
      },
    ]);
  });

  it('that does not verify has no order read', async () => {
    const forged = sandbox.seedOrder({ items: [{ action: '1.1.1.00' }] });
    const honest = sandbox.seedOrder({ items: [{ action: '1.1.1.00' }] });
    const wrong = signedCallback({ externalId: forged.externalId }, 'a guess');
    const right = signedCallback({ externalId: honest.externalId }, sandbox.callbackKey);
    await produce('same', wrong.body, [`Signature=${wrong.signature}`]);
    await produce('same', right.body, [`Signature=${right.signature}`]);
    const polled = (id: string) => collector.query(`SELECT 1 FROM polls WHERE order_id = '${id}' LIMIT 1`);
    // The honest one came later in the same partition: when it has been read, the forged one would have been.
    await expect.poll(() => polled(honest.externalId)).toHaveLength(1);
    expect(await polled(forged.externalId)).toEqual([]);
    expect(await collector.query(`SELECT 1 FROM orders WHERE external_id = '${forged.externalId}'`)).toEqual(
      [],
    );
  });

  it('is one callback however often the gateway sends it, and says how often that was', async () => {
    const externalId = randomUUID();
    const { body, signature } = signedCallback({ externalId }, sandbox.callbackKey);
    for (let i = 0; i < 3; i++) await produce(externalId, body, [`Signature=${signature}`]);
    for (let i = 0; i < 2; i++) {
      await produce(externalId, body, [`Signature=${signature}`, 'delivery-id=retry-of-our-producer']);
    }
    const rows = () =>
      collector.query(`SELECT verdict, deliveries FROM callbacks WHERE external_id = '${externalId}'`);
    await expect.poll(rows).toEqual([{ verdict: 'valid', deliveries: 4 }]);
  });

  it('from a gateway that nobody configured is a reject that says so', async () => {
    const { body, signature } = signedCallback({ externalId: randomUUID() }, sandbox.callbackKey);
    await produce('k', body, [`Signature=${signature}`, 'gateway=nobody']);
    const rows = () =>
      collector.query(`SELECT reason, field, received, topic FROM rejects WHERE reason = 'unknown_gateway'`);
    await expect
      .poll(rows)
      .toEqual([{ reason: 'unknown_gateway', field: 'gateway', received: '"nobody"', topic }]);
  });
});

/** Waits until everything taken in before has been stored. */
async function untilIdle(collector: CollectorProcess): Promise<void> {
  const state = async () =>
    (await (await fetch(`${collector.http}/readyz`)).json()) as { backlogRows: number };
  await expect.poll(async () => (await state()).backlogRows).toBe(0);
}
