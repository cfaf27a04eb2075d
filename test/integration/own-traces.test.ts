import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSandbox, type Sandbox } from '../../sandbox/server.ts';
import { JOBS } from '../../schemas/names.ts';
import { OWN_ATTRIBUTES, OWN_SPANS } from '../../schemas/own-spans.ts';
import {
  type CollectorProcess,
  type ConfigInput,
  startCollectorProcess,
} from '../support/collector-process.ts';
import { useKafka } from '../support/kafka-broker.ts';
import { uniqueName } from '../support/kafka-topics.ts';
import { type OtlpReceiver, startOtlpReceiver } from '../support/otlp-receiver.ts';
import { rootSpanIdOf, traceIdOf } from './support/expected-spans.ts';
import { gatewayConfig, postCallback } from './support/gateway.ts';

const GATEWAY = 'acme-eu';
const kafka = await useKafka();

/** A collector that sends its own spans to the receiver. */
const startTraced = (sandbox: Sandbox, receiver: OtlpReceiver, more: Partial<ConfigInput> = {}) =>
  startCollectorProcess({
    config: { gateways: [gatewayConfig(sandbox, { name: GATEWAY })], log: { level: 'trace' }, ...more },
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_METRICS_EXPORTER: 'none',
      OTEL_TRACES_SAMPLER: 'always_on',
      OTEL_BSP_SCHEDULE_DELAY: '100',
    },
  });

/** A paid order whose callback the collector takes. Returns its id. */
async function takeCallback(sandbox: Sandbox, collector: CollectorProcess): Promise<string> {
  const items = [{ action: '4.3.1.00', offsetMs: -9 }];
  const { externalId } = sandbox.seedOrder({ status: 'Success', items });
  const url = `${collector.intake}/callbacks/${GATEWAY}`;
  expect((await postCallback(url, { externalId }, sandbox.callbackKey)).status).toBe(200);
  return externalId;
}

describe('spans of the collector about itself', () => {
  let sandbox: Sandbox;
  let receiver: OtlpReceiver;
  let collector: CollectorProcess;
  beforeAll(async () => {
    sandbox = await createSandbox();
    receiver = await startOtlpReceiver();
    collector = await startTraced(sandbox, receiver);
  });
  afterAll(async () => {
    await collector?.[Symbol.asyncDispose]();
    await receiver?.close();
    await sandbox?.stop();
  });

  const named = (name: string) => receiver.spans.filter((span) => span.name === name);

  it('cover reads, inserts and callbacks, with the attributes of the list and no id or address', async () => {
    const externalId = await takeCallback(sandbox, collector);
    const { statusRead, insert, intake } = OWN_SPANS;
    for (const name of [intake, insert, statusRead])
      await expect.poll(() => named(name).length).toBeGreaterThan(0);
    const own = Object.values<string>(OWN_SPANS);
    const spans = receiver.spans.filter(({ name }) => own.includes(name));
    const allowed = new Set<string>(Object.values(OWN_ATTRIBUTES));
    for (const span of spans) {
      expect(Object.keys(span.attributes).filter((key) => !allowed.has(key))).toEqual([]);
      expect(JSON.stringify(span.attributes)).not.toContain(externalId);
    }
    expect(named(statusRead)[0]?.attributes).toMatchObject({
      'gatewatch.gateway': GATEWAY,
      'gatewatch.endpoint': 'deposit-status',
      'gatewatch.outcome': 'ok',
      'http.response.status_code': 200,
    });
    const order = `${GATEWAY}|Deposit|${externalId}`;
    expect(named(statusRead)[0]?.links).toEqual([{ traceId: traceIdOf(order), spanId: rootSpanIdOf(order) }]);
  });

  it('cover each run of a job, with its name alone', async () => {
    const runsOf = (job: string) =>
      named(OWN_SPANS.job).filter(({ attributes }) => attributes[OWN_ATTRIBUTES.job] === job);
    for (const job of [JOBS.evaluation, JOBS.payments, JOBS.findings]) {
      await expect.poll(() => runsOf(job).length).toBeGreaterThan(0);
      const attributes = { 'gatewatch.job': job };
      expect(runsOf(job)[0]).toMatchObject({ parentSpanId: '', statusCode: 0, attributes, links: [] });
    }
  });

  it('are errors by the code of what happened, without its words', async () => {
    const { externalId } = sandbox.seedOrder({ items: [{ action: '1.1.1.00', offsetMs: -9 }] });
    await sandbox.stop();
    await fetch(`${collector.http}/orders`, {
      method: 'POST',
      body: JSON.stringify({ orderType: 'Deposit', externalId }),
      headers: { 'Content-Type': 'application/json' },
    });
    const failed = () => named(OWN_SPANS.statusRead).filter(({ statusCode }) => statusCode === 2);
    await expect.poll(() => failed().length).toBeGreaterThan(0);
    expect(failed()[0]?.statusMessage).toBe('');
    expect(failed()[0]?.attributes['error.type']).toMatch(/^connection/);
  });
});

describe.skipIf(!kafka.available)('spans of a collector with Kafka about itself', () => {
  const topic = uniqueName('callbacks');
  let sandbox: Sandbox;
  let receiver: OtlpReceiver;
  let collector: CollectorProcess;
  beforeAll(async () => {
    sandbox = await createSandbox();
    receiver = await startOtlpReceiver();
    collector = await startTraced(sandbox, receiver, {
      kafka: {
        brokers: kafka.available ? [...kafka.brokers] : [],
        groupId: uniqueName('group'),
        callbackTopics: [topic],
        watchTopic: uniqueName('orders'),
        createTopics: true,
      },
    });
  });
  afterAll(async () => {
    await collector?.[Symbol.asyncDispose]();
    await receiver?.close();
    await sandbox?.stop();
  });

  it('cover each batch of records: its topic and how many, and nothing of what they say', async () => {
    const externalId = await takeCallback(sandbox, collector);
    const batches = () => receiver.spans.filter(({ name }) => name === OWN_SPANS.kafkaBatch);
    await expect.poll(() => batches().length).toBeGreaterThan(0);
    expect(batches()[0]).toMatchObject({
      statusCode: 0,
      attributes: { [OWN_ATTRIBUTES.topic]: topic, [OWN_ATTRIBUTES.records]: 1 },
    });
    for (const { attributes } of batches()) expect(JSON.stringify(attributes)).not.toContain(externalId);
  });
});
