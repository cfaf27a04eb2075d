import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSandbox, type Sandbox } from '../../sandbox/server.ts';
import { cli } from '../cli/commands/support/cli.ts';
import {
  type CollectorProcess,
  type CollectorProcessOptions,
  startCollectorProcess,
} from '../support/collector-process.ts';
import { useKafka } from '../support/kafka-broker.ts';
import { freePort } from '../support/kafka-process.ts';
import { uniqueName } from '../support/kafka-topics.ts';
import { until } from '../support/until.ts';
import { historyOfGateway, historyOfView, untilSettled } from './support/gateway-account.ts';
import { gatewayConfig, UNTIL_ANSWERED } from './support/gateway.ts';

const kafka = await useKafka();
const POLL = { delaysS: [0.5, 1], maxDelayS: 2, jitter: 0, rereadsS: [0.5, 2], mergeCallbacksMs: 100 };

describe.skipIf(!kafka.available)('a store that was restored from an older backup', () => {
  let sandbox: Sandbox;
  let collector: CollectorProcess;
  let options: CollectorProcessOptions;
  const backup = mkdtempSync(path.join(tmpdir(), 'gatewatch-backup-'));

  const ordersUntil = async (count: number) => {
    sandbox.setRate(10);
    await until(
      'some orders',
      () => sandbox.stats().orders.created,
      (created) => created > count,
    );
    sandbox.setRate(0);
    await untilSettled(sandbox, collector);
  };

  beforeAll(async () => {
    const port = await freePort();
    sandbox = await createSandbox({
      seed: 'restored',
      speed: 200,
      lateShare: 0,
      callbacks: { url: `http://127.0.0.1:${port}/callbacks/sandbox`, retryDelaysMs: UNTIL_ANSWERED },
    });
    options = {
      config: {
        collectorId: 'restored',
        gateways: [gatewayConfig(sandbox, { poll: POLL })],
        kafka: {
          brokers: kafka.available ? [...kafka.brokers] : [],
          groupId: uniqueName('group'),
          callbackTopics: [uniqueName('callbacks')],
          watchTopic: uniqueName('orders'),
          createTopics: true,
          sessionTimeoutMs: 6000,
        },
        http: { port },
      },
    };
    collector = await startCollectorProcess(options);
    await ordersUntil(15);
    await collector.stop();
    cpSync(collector.dataDir, backup, { recursive: true });
    collector = await startCollectorProcess({ ...options, folder: collector.folder });
    await ordersUntil(40);
    await collector.stop();
    rmSync(collector.dataDir, { recursive: true });
    cpSync(backup, collector.dataDir, { recursive: true });
  });
  afterAll(async () => {
    await collector?.[Symbol.asyncDispose]();
    await sandbox?.stop();
    rmSync(backup, { recursive: true, force: true });
  });

  const audit = () => cli(['audit', '--config', path.join(collector.folder, 'gatewatch.yaml')]);

  it('is not called complete: the audit names records that the group has read and it does not know', async () => {
    const { code, stdout } = await audit();
    expect(stdout).toMatch(/every Kafka record that the consumer group has committed is here: [1-9]/);
    expect(stdout).toMatch(/is here: \S+\/\d+@\d+/);
    expect(code).toBe(1);
  });

  it('is filled again from Kafka and the gateway by the next start of the collector', async () => {
    collector = await startCollectorProcess({ ...options, folder: collector.folder });
    const [line] = collector.logged(
      'kafka: the store does not know all that the group has read: reading that again',
    );
    expect(line?.['partitions']).toEqual(
      expect.arrayContaining([expect.objectContaining({ from: expect.stringMatching(/^\d+$/) as string })]),
    );
    await untilSettled(sandbox, collector);
    expect(await historyOfView(collector)).toEqual(historyOfGateway(sandbox, 'sandbox'));
    const [callbacks] = await collector.query<{ deliveries: number }>(
      'SELECT sum(deliveries) AS deliveries FROM callbacks',
    );
    expect(callbacks?.deliveries).toBeGreaterThanOrEqual(sandbox.stats().callbacks.acknowledged);
    expect(await collector.stop()).toBe(0);
    const { code, stdout } = await audit();
    expect([stdout.includes('Nothing is missing, nothing counted twice.'), code]).toEqual([true, 0]);
  });
});
