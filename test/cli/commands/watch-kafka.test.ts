import { describe, expect, test } from 'vitest';
import type { Finding } from '../../../operate/doctor/check.ts';
import { useKafka } from '../../support/kafka-broker.ts';
import { createTopic, produce, testClient, uniqueName } from '../../support/kafka-topics.ts';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cli } from './support/cli.ts';

const kafka = await useKafka();
const brokers = kafka.available ? kafka.brokers : [];

/** Runs a command with Kafka configured; nothing listens at the gateway. */
async function withConfig<T>(
  topics: { callbacks: string; watch: string },
  use: (file: string) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'gatewatch-cli-kafka-'));
  const file = join(folder, 'gatewatch.yaml');
  const settings = {
    gateways: [{ name: 'acme-eu', secureUrl: 'http://127.0.0.1:1', token: 't' }],
    kafka: {
      brokers,
      groupId: uniqueName('group'),
      callbackTopics: [topics.callbacks],
      watchTopic: topics.watch,
    },
    http: { port: 1 },
    embedded: { port: 0 },
    dataDir: folder,
  };
  writeFileSync(file, JSON.stringify(settings));
  try {
    return await use(file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function findingsAbout(topics: { callbacks: string; watch: string }): Promise<Finding[]> {
  const { stdout } = await withConfig(topics, (file) => cli(['doctor', '--json', '--config', file]));
  const { findings } = JSON.parse(stdout) as { findings: Finding[] };
  return findings.filter((finding) => finding.check.startsWith('kafka'));
}

describe.skipIf(!kafka.available)('commands with a real broker', () => {
  test('watch leaves its request on the watch topic when no collector answers', async () => {
    const watch = await createTopic(brokers, uniqueName('orders'));
    const args = ['watch', 'merchant-1', 'merchant-2', '--by', 'transaction-id', '--type', 'Withdrawal'];
    const more = ['--gateway', 'acme-eu', '--amount', '100.50', '--currency', 'EUR', '--json'];
    const { code, stdout, stderr } = await withConfig({ callbacks: 'none', watch }, (file) =>
      cli([...args, ...more, '--config', file]),
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual({ watched: 2, by: `Kafka topic ${watch}` });
    const records = await readAll(watch, 2);
    expect(records).toEqual([
      {
        key: 'acme-eu|Withdrawal|merchant-1',
        value: {
          externalTransactionId: 'merchant-1',
          orderType: 'Withdrawal',
          gateway: 'acme-eu',
          amount: '100.50',
          currency: 'EUR',
        },
      },
      expect.objectContaining({ key: 'acme-eu|Withdrawal|merchant-2' }),
    ]);
  });

  test('doctor sees brokers, topics and how much waits; a missing topic is said', async () => {
    const watch = await createTopic(brokers, uniqueName('orders'));
    const callbacks = await createTopic(brokers, uniqueName('callbacks'));
    await produce(brokers, callbacks, [{ value: 'a' }, { value: 'b' }]);
    expect(await findingsAbout({ callbacks, watch })).toMatchObject([
      { check: 'kafka: brokers', status: 'ok' },
      { check: 'kafka: topics', status: 'ok' },
      { status: 'ok', message: 'Has not read yet; 2 records wait.' },
    ]);
    expect(await findingsAbout({ callbacks: uniqueName('missing'), watch })).toMatchObject([
      { check: 'kafka: brokers', status: 'ok' },
      { check: 'kafka: topics', status: 'fail', message: expect.stringContaining('missing-') as string },
      { status: 'ok' },
    ]);
  });
});

async function readAll(topic: string, count: number): Promise<{ key: string | undefined; value: unknown }[]> {
  const consumer = testClient(brokers).consumer({ groupId: uniqueName('reader') });
  const records: { key: string | undefined; value: unknown }[] = [];
  const { promise: done, resolve } = Promise.withResolvers<void>();
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  await consumer.run({
    eachMessage: async ({ message }) => {
      const value = JSON.parse(message.value?.toString() ?? 'null') as unknown;
      records.push({ key: message.key?.toString(), value });
      if (records.length === count) resolve();
    },
  });
  await done;
  await consumer.disconnect();
  return records;
}
