import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSandbox, type Sandbox } from '../../sandbox/server.ts';
import { readAccepted } from '../chaos/oracle/accepted.ts';
import { type CollectorProcess, startCollectorProcess } from '../support/collector-process.ts';
import { useKafka } from '../support/kafka-broker.ts';
import { produce, uniqueName } from '../support/kafka-topics.ts';
import { gatewayConfig, signedCallback } from './support/gateway.ts';

const kafka = await useKafka();
const PARAMS = { cardHolder: 'ADA CANARY', cardNumber: '411111******1111', cardToken: 'token-1' };

describe.skipIf(!kafka.available)('a callback that our own intake puts onto Kafka', () => {
  const brokers = kafka.available ? kafka.brokers : [];
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await createSandbox();
  });
  afterAll(() => sandbox.stop());

  async function start(topic: string, callbackBodies?: 'whole'): Promise<CollectorProcess> {
    return startCollectorProcess({
      config: {
        gateways: [gatewayConfig(sandbox)],
        kafka: {
          brokers: [...brokers],
          groupId: uniqueName('group'),
          callbackTopics: [topic],
          watchTopic: uniqueName('orders'),
          createTopics: true,
          ...(callbackBodies === undefined ? {} : { callbackBodies }),
        },
      },
    });
  }

  /** A body with card data, one more with other white space, and one that does not verify. */
  async function post(collector: CollectorProcess, externalId: string): Promise<string> {
    const { body, signature } = signedCallback({ externalId }, sandbox.callbackKey);
    const full = JSON.stringify({ ...(JSON.parse(body) as object), externalParams: PARAMS });
    const spaced = full.replaceAll(',', ', ');
    for (const [text, header] of [
      [full, signature],
      [full, signature],
      [spaced, signature],
      [full, 'ADA CANARY'],
    ]) {
      const answer = await fetch(`${collector.intake}/callbacks/sandbox`, {
        method: 'POST',
        body: text ?? '',
        headers: { 'Content-Type': 'application/json', Signature: header ?? '' },
      });
      expect(answer.status).toBe(200);
    }
    return full;
  }

  it('holds only what is signed or needed, verifies, and keeps contents apart', async () => {
    const topic = uniqueName('callbacks');
    await using collector = await start(topic);
    const { externalId } = sandbox.seedOrder({
      status: 'Success',
      items: [{ action: '4.1.3.00', offsetMs: -1000 }],
    });
    await post(collector, externalId);
    const rows = () =>
      collector.query(`SELECT verdict, deliveries, external_id FROM callbacks ORDER BY verdict, deliveries`);
    await expect.poll(rows).toEqual([
      { verdict: 'valid', deliveries: 1, external_id: externalId },
      { verdict: 'valid', deliveries: 2, external_id: externalId },
      { verdict: 'mismatch', deliveries: 1, external_id: externalId },
    ]);
    const records = await readAccepted(brokers, topic);
    const fields = { externalId, status: 'Success', amount: '100.00', orderType: 'Deposit', currency: 'EUR' };
    expect(records.map(({ value }) => JSON.parse(value.toString()) as unknown)).toEqual([
      fields,
      fields,
      fields,
      fields,
    ]);
    expect(records.map(({ key }) => key)).toEqual(Array(4).fill(externalId));
    expect(JSON.stringify(records)).not.toMatch(/CANARY|token-1|411111/);

    // A producer that writes the hash of a content that is there already changes nothing of it.
    const other = signedCallback({ externalId: randomUUID() }, sandbox.callbackKey);
    const [first] = records;
    const headers = {
      Signature: other.signature,
      'body-sha256': first?.bodyHash ?? '',
      'delivery-id': 'other',
    };
    await produce(brokers, topic, [
      { value: other.body, headers },
      { value: other.body, headers: { ...headers, 'body-sha256': '4111111111111111' } },
    ]);
    const count = async () => (await rows()).map(({ deliveries }) => deliveries);
    await expect.poll(count).toEqual([1, 1, 1, 2, 1]);
  });

  it('holds the body byte for byte where the configuration says so', async () => {
    const topic = uniqueName('callbacks');
    await using collector = await start(topic, 'whole');
    const body = await post(collector, randomUUID());
    const [record] = await readAccepted(brokers, topic);
    expect(record?.value.toString()).toBe(body);
    expect(record?.bodyHash).toBeNull();
  });
});
