import { writeFile } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AuditReport } from '../../../operate/audit/report.ts';
import type { RedriveReport } from '../../../operate/redrive/outcomes.ts';
import { createSandbox, type Sandbox } from '../../../sandbox/server.ts';
import { gatewayConfig, signedCallback } from '../../integration/support/gateway.ts';
import {
  type CollectorProcess,
  type ConfigInput,
  startCollectorProcess,
} from '../../support/collector-process.ts';
import { useKafka } from '../../support/kafka-broker.ts';
import { freePort } from '../../support/kafka-process.ts';
import { createTopic, produce, uniqueName, withAdmin } from '../../support/kafka-topics.ts';
import { until } from '../../support/until.ts';
import { cli } from '../../cli/commands/support/cli.ts';

// Commands are processes, and a watched order is read again after 15 seconds at the earliest.
const kafka = await useKafka();
const NOTHING = { stored: 0, readAgain: 0, stillRejected: 0, waiting: 0, gone: 0, noWay: 0 };

/** The command's own environment names a port where nobody listens: here the collector's counts. */
const env = ({ http }: CollectorProcess) => ({ GATEWATCH_HTTP_PORT: new URL(http).port });

async function redrive(collector: CollectorProcess, ...args: string[]) {
  const command = ['redrive', '--json', '--config', collector.configFile, ...args];
  const { code, stdout, stderr } = await cli(command, { env: env(collector) });
  if (stdout === '') throw new Error(stderr);
  return { code, report: JSON.parse(stdout) as RedriveReport };
}

async function audit(configFile: string) {
  const { code, stdout, stderr } = await cli(['audit', '--json', '--config', configFile]);
  if (stdout === '') throw new Error(stderr);
  return { code, report: JSON.parse(stdout) as AuditReport };
}

/**
 * One story: two gateways share a topic and one of them was forgotten in the configuration. Its callbacks and
 * watch messages become rejects; the configuration is mended, and they are tried again.
 */
describe.skipIf(!kafka.available)('rejects of Kafka records', () => {
  const brokers = kafka.available ? [...kafka.brokers] : [];
  const topics = { callbacks: uniqueName('callbacks'), orders: uniqueName('orders') };
  let sandbox: Sandbox;
  let collector: CollectorProcess;
  let mended: ConfigInput;
  const callbackIds = [randomUUID(), randomUUID(), randomUUID()];
  beforeAll(async () => {
    sandbox = await createSandbox();
    await createTopic(brokers, topics.callbacks);
    await createTopic(brokers, topics.orders);
    const port = await freePort();
    const base = {
      kafka: {
        brokers,
        groupId: uniqueName('group'),
        callbackTopics: [topics.callbacks],
        watchTopic: topics.orders,
      },
      http: { port },
    };
    const known = gatewayConfig(sandbox, { name: 'known' });
    mended = { ...base, gateways: [known, gatewayConfig(sandbox, { name: 'forgotten' })] };
    collector = await startCollectorProcess({ config: { ...base, gateways: [known] } });
    await produce(
      brokers,
      topics.callbacks,
      callbackIds.map((externalId, i) => {
        const { body, signature } = signedCallback({ externalId }, sandbox.callbackKey);
        const headers = { Signature: signature, gateway: i === 1 ? 'never-heard-of' : 'forgotten' };
        return { value: body, headers: { ...headers, 'delivery-id': `delivery-${i}` } };
      }),
    );
    const order = { gateway: 'forgotten', orderType: 'Deposit', externalId: callbackIds[0] };
    await produce(brokers, topics.orders, [{ value: JSON.stringify(order) }, { value: 'not JSON' }]);
    const rejects = async () =>
      (await collector.query<{ n: number }>('SELECT count() AS n FROM rejects'))[0]?.n;
    await until('5 rejects', rejects, (n) => n === 5);
  });
  afterAll(async () => {
    await collector[Symbol.asyncDispose]();
    await sandbox.stop();
  });

  it('balance the books as they are', async () => {
    const { code, report } = await audit(collector.configFile);
    expect(report.identities[0]).toMatchObject({ accepted: 5, stored: 0, rejected: 5, difference: 0 });
    expect(code).toBe(0);
  });

  it('stay while their cause does, and a dry run changes nothing', async () => {
    const { code, report } = await redrive(collector);
    expect(report).toMatchObject({ ...NOTHING, found: 5, stillRejected: 5 });
    expect(code).toBe(1);
    expect(report.refusal).toBeNull();
    await writeFile(collector.configFile, JSON.stringify({ ...mended, dataDir: `${collector.folder}/data` }));
    const dry = await redrive(collector, '--dry-run');
    expect(dry.report).toMatchObject({ ...NOTHING, found: 5, stored: 3, stillRejected: 2 });
    expect(dry.code).toBe(1);
    const again = await redrive(collector, '--dry-run', '--reason', 'unknown_gateway');
    expect(again.report).toMatchObject({ ...NOTHING, found: 4, stored: 3, stillRejected: 1 });
  });

  it('go in once it is mended, also beside a collector that has still to be started anew', async () => {
    const { code, report } = await redrive(collector);
    expect(report).toMatchObject({ ...NOTHING, found: 5, stored: 3, stillRejected: 2 });
    expect(report.refusal).toMatch(/gateway: expected one of known, received "forgotten"/);
    expect(report.left).toEqual([
      `${topics.callbacks}/0@1: unknown_gateway, would be rejected again`,
      `${topics.orders}/0@1: watch_message_malformed, would be rejected again`,
    ]);
    expect(code).toBe(1);
  });

  it('are marked, and are not tried again', async () => {
    expect((await redrive(collector)).report).toMatchObject({ found: 2, stillRejected: 2 });
    await collector.stop();
    collector = await startCollectorProcess({ config: mended, folder: collector.folder });
    expect(
      await collector.query(
        `SELECT external_id, gateway, verdict, deliveries, first_received_at < now64(6) - INTERVAL 1 MILLISECOND AS before
         FROM callbacks ORDER BY first_received_at`,
      ),
    ).toEqual(
      [callbackIds[0], callbackIds[2]].map((external_id) => ({
        external_id,
        gateway: 'forgotten',
        verdict: 'valid',
        deliveries: 1,
        before: 1,
      })),
    );
    expect(
      await collector.query(
        `SELECT kafka_offset, reason, resolution FROM rejects WHERE resolved_at IS NOT NULL ORDER BY topic, kafka_offset`,
      ),
    ).toEqual([
      { kafka_offset: 0, reason: 'unknown_gateway', resolution: 'stored' },
      { kafka_offset: 2, reason: 'unknown_gateway', resolution: 'stored' },
      { kafka_offset: 0, reason: 'unknown_gateway', resolution: 'stored' },
    ]);
  });

  it('are received when they were first, and their orders are read by the next collector', async () => {
    const [row] = await collector.query(
      `SELECT count() AS n FROM rejects AS r INNER JOIN callbacks AS c ON r.rejected_at = c.first_received_at`,
    );
    expect(row).toEqual({ n: 2 });
    const polled = async () =>
      (await collector.query(`SELECT DISTINCT order_id FROM polls WHERE gateway = 'forgotten'`)).length;
    await until('both orders to be read', polled, (n) => n === 2);
    const { code, report } = await audit(collector.configFile);
    expect(report.identities[0]).toMatchObject({ accepted: 5, stored: 3, rejected: 2, difference: 0 });
    expect(code).toBe(0);
  });

  it('whose record retention has taken are reported', async () => {
    await withAdmin(brokers, async (admin) => {
      await admin.fetchTopicOffsets(topics.callbacks);
      await admin.deleteTopicRecords({
        topic: topics.callbacks,
        partitions: [{ partition: 0, offset: '3' }],
      });
    });
    const { report } = await redrive(collector, '--gateway', 'never-heard-of');
    expect(report).toMatchObject({ ...NOTHING, found: 1, gone: 1 });
    expect(report.left).toEqual([
      `${topics.callbacks}/0@1: unknown_gateway, its record is no longer in Kafka`,
    ]);
  });
});

describe('rejects of replies', () => {
  let sandbox: Sandbox;
  let collector: CollectorProcess;
  beforeAll(async () => {
    sandbox = await createSandbox();
    // It reads an order once, and then not for an hour.
    const poll = { delaysS: [3600], maxDelayS: 3600 };
    const config = { gateways: [gatewayConfig(sandbox, { poll })], http: { port: await freePort() } };
    collector = await startCollectorProcess({ config });
  });
  afterAll(async () => {
    await collector[Symbol.asyncDispose]();
    await sandbox.stop();
  });

  it('are set right by a reply without the fault, which the running collector is asked for', async () => {
    const fault = sandbox.faults.add({ name: 'id_mismatch', endpoint: 'status' });
    const order = sandbox.seedOrder({ items: [{ action: '1.1.1.00', offsetMs: -1000 }] });
    await fetch(`${collector.http}/orders`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ orderType: 'Deposit', externalId: order.externalId }),
    });
    const rejects = () => collector.query('SELECT reason, resolution FROM rejects');
    await until('the reject', rejects, (rows) => rows.length === 1);
    const still = await redrive(collector, '--wait', '1s');
    expect(still.report).toMatchObject({ ...NOTHING, found: 1, waiting: 1 });
    expect(still.code).toBe(1);

    sandbox.faults.remove(fault.id);
    const { code, report } = await redrive(collector);
    expect(report).toMatchObject({ ...NOTHING, found: 1, readAgain: 1 });
    expect(code).toBe(0);
    expect(await rejects()).toEqual([{ reason: 'id_mismatch', resolution: 'read_again' }]);
    expect(await collector.query('SELECT external_id, action FROM history_events')).toEqual([
      { external_id: order.externalId, action: '1.1.1.00' },
    ]);
    expect((await audit(collector.configFile)).code).toBe(0);
  });

  it('are said to be none when there are none', async () => {
    const { code, stdout } = await cli(['redrive', '--config', collector.configFile], {
      env: env(collector),
    });
    expect(stdout).toBe('No open rejects.\n');
    expect(code).toBe(0);
  });
});
