import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSandbox, type Sandbox } from '../../sandbox/server.ts';
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

describe.skipIf(!kafka.available)('a collector whose embedded store was damaged', () => {
  let sandbox: Sandbox;
  let collector: CollectorProcess;
  let options: CollectorProcessOptions;
  beforeAll(async () => {
    const port = await freePort();
    sandbox = await createSandbox({
      seed: 'damaged',
      speed: 200,
      lateShare: 0,
      callbacks: {
        url: `http://127.0.0.1:${port}/callbacks/sandbox`,
        retryDelaysMs: UNTIL_ANSWERED,
      },
    });
    options = {
      config: {
        collectorId: 'damaged',
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
    sandbox.setRate(10);
    const created = () => sandbox.stats().orders.created;
    await until('some orders', created, (count) => count > 20);
    sandbox.setRate(0);
    await untilSettled(sandbox, collector);
    expect(await historyOfView(collector)).toEqual(historyOfGateway(sandbox, 'sandbox'));
    await collector.stop();
  });
  afterAll(async () => {
    await collector?.[Symbol.asyncDispose]();
    await sandbox?.stop();
  });

  it('sets it aside with a clear message, begins anew, and fills it again from Kafka and the gateway', async () => {
    const { folder } = collector;
    const dataDir = findDataDir(folder);
    writeFileSync(path.join(dataDir, 'clickhouse/metadata/gatewatch.sql'), 'ZZZZ');
    collector = await startCollectorProcess({ ...options, folder });
    const [line] = collector.logged('the store was damaged and is set aside');
    expect(String(line?.['folder'])).toContain('clickhouse.broken-');
    expect(existsSync(String(line?.['folder']))).toBe(true);
    await untilSettled(sandbox, collector);
    expect(await historyOfView(collector)).toEqual(historyOfGateway(sandbox, 'sandbox'));
    const [callbacks] = await collector.query<{ deliveries: number }>(
      'SELECT sum(deliveries) AS deliveries FROM callbacks',
    );
    expect(callbacks?.deliveries).toBeGreaterThanOrEqual(sandbox.stats().callbacks.acknowledged);
    expect(await collector.stop()).toBe(0);
  });

  it('does so once: the next start goes on with the new store', async () => {
    collector = await startCollectorProcess({ ...options, folder: collector.folder });
    expect(collector.logged('the store was damaged and is set aside')).toEqual([]);
    expect(
      collector.logged('kafka: the store does not know all that the group has read: reading that again'),
    ).toEqual([]);
    expect(await historyOfView(collector)).toEqual(historyOfGateway(sandbox, 'sandbox'));
  });
});

function findDataDir(folder: string): string {
  const found = [folder, ...readdirSync(folder).map((name) => path.join(folder, name))].find((one) =>
    existsSync(path.join(one, 'clickhouse/metadata')),
  );
  if (found === undefined) throw new Error(`no store in ${folder}`);
  return found;
}
