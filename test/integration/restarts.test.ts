import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSandbox, type Sandbox } from '../../sandbox/server.ts';
import type { OrderTruth } from '../../sandbox/truth.ts';
import {
  type CollectorProcess,
  type CollectorProcessOptions,
  startCollectorProcess,
} from '../support/collector-process.ts';
import { useKafka } from '../support/kafka-broker.ts';
import { freePort } from '../support/kafka-process.ts';
import { uniqueName } from '../support/kafka-topics.ts';
import { type OtlpReceiver, startOtlpReceiver } from '../support/otlp-receiver.ts';
import { until } from '../support/until.ts';
import { expectedItems, orderTextOf, rootSpanIdOf, traceIdOf } from './support/expected-spans.ts';
import { historyOfGateway, historyOfView, neverEnding, untilSettled } from './support/gateway-account.ts';
import { gatewayConfig, UNTIL_ANSWERED } from './support/gateway.ts';
import { readTopic } from './support/topic.ts';

const kafka = await useKafka();
const GATEWAY = 'sandbox';
/**
 * Late items come within 570 seconds of a final status: 5.7 seconds at this speed, before the last re-read.
 */
const SPEED = 100;
const REREADS_S = [2, 7];
/** A sender that gives up before a busy machine answers sends the same again and again, and keeps it busy. */
const PATIENT_MS = 20_000;

/**
 * One story for all tests below: a gateway at work for 15 seconds, its callbacks going through Kafka, and a
 * collector that is killed twice and stopped once in the middle of it. At the end the gateway's own account
 * is laid beside the views.
 */
describe.skipIf(!kafka.available)('a collector that was killed twice and stopped once', () => {
  const brokers = kafka.available ? [...kafka.brokers] : [];
  const topic = uniqueName('callbacks');
  let sandbox: Sandbox;
  let receiver: OtlpReceiver;
  let collector: CollectorProcess;
  let truth: OrderTruth[];
  let deliveryIds: Set<string>;
  const exitCodes: (number | null)[] = [];
  beforeAll(async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    sandbox = await createSandbox({
      seed: 'restarts',
      speed: SPEED,
      callbacks: { url: `${url}/callbacks/${GATEWAY}`, retryDelaysMs: UNTIL_ANSWERED, timeoutMs: PATIENT_MS },
      watchUrl: `${url}/orders`,
    });
    for (const name of ['unknown_code', 'legacy_code'] as const)
      sandbox.faults.add({ name, probability: 0.05 });
    sandbox.faults.add({ name: 'callback_duplicate', probability: 0.1 });
    sandbox.faults.add({ name: 'callback_wrong_signature', probability: 0.1 });
    sandbox.faults.add({ name: 'out_of_order_items', probability: 0.1 });
    receiver = await startOtlpReceiver();
    const poll = { delaysS: [0.5, 1], maxDelayS: 2, rereadsS: REREADS_S, mergeCallbacksMs: 100 };
    const options: CollectorProcessOptions = {
      config: {
        collectorId: 'restarted',
        gateways: [gatewayConfig(sandbox, { name: GATEWAY, poll })],
        kafka: {
          brokers,
          groupId: uniqueName('group'),
          callbackTopics: [topic],
          watchTopic: uniqueName('orders'),
          createTopics: true,
          sessionTimeoutMs: 6000,
        },
        http: { port },
      },
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_METRICS_EXPORTER: 'none' },
    };
    collector = await startCollectorProcess(options);
    const again = async () => {
      collector = await startCollectorProcess({ ...options, folder: collector.folder });
    };
    sandbox.setRate(8);
    await sleep(4000);
    await collector.kill();
    await again();
    await sleep(3000);
    await collector.kill();
    await again();
    await sleep(3000);
    exitCodes.push(await collector.stop());
    await again();
    await sleep(2000);
    sandbox.setRate(0);
    await untilSettled(sandbox, collector);
    await until('only endless orders to be watched', watched, (count) => count === neverEnding(sandbox));
    truth = sandbox.orders();
    const records = await readTopic(brokers, topic);
    deliveryIds = new Set(records.map(({ headers }) => String(headers['delivery-id'])));
    exitCodes.push(await collector.stop());
    await again();
  });
  const watched = async () => {
    const reply = await fetch(`${collector.http}/readyz`);
    return ((await reply.json()) as { watched: number }).watched;
  };
  afterAll(async () => {
    await collector?.[Symbol.asyncDispose]();
    await receiver?.close();
    await sandbox?.stop();
  });

  it('was stopped in order, as often as it was to be, and got everything from the gateway', () => {
    expect(exitCodes).toEqual([0, 0]);
    const { callbacks, watch } = sandbox.stats();
    expect([callbacks.failed, callbacks.dropped, watch.failed]).toEqual([0, 0, 0]);
  });

  it("holds every history item of every order exactly once, with the place it has in the order's life", async () => {
    const expected = historyOfGateway(sandbox, GATEWAY);
    expect(await historyOfView(collector)).toEqual(expected);
    expect(expected.length).toBe(sandbox.stats().itemsVisible);
    console.log(
      `${truth.length} orders, ${expected.length} history items, ${deliveryIds.size} callbacks in Kafka`,
    );
  });

  it('holds every order once, with the status, amount and outcome that the gateway gave it', async () => {
    const rows = await collector.query<{ external_id: string }>(
      `SELECT external_id, order_type, status, toFloat64(amount) AS amount, currency, outcome, settled_at IS NOT NULL AS settled
       FROM orders`,
    );
    const byId = (a: { external_id: string }, b: { external_id: string }) =>
      a.external_id.localeCompare(b.external_id);
    const expected = truth.map((order) => ({
      external_id: order.externalId,
      order_type: order.orderType,
      status: order.finalStatus,
      amount: order.finalAmount,
      currency: order.currency,
      outcome: order.outcome === 'pending' ? null : order.outcome,
      settled: order.outcome === 'pending' ? 0 : 1,
    }));
    expect(rows.toSorted(byId)).toEqual(expected.toSorted(byId));
  });

  it('counts every callback that Kafka holds as one delivery, however often it was read', async () => {
    const [counts] = await collector.query<{ deliveries: number; wrong: number }>(
      `SELECT sum(deliveries) AS deliveries, countIf(verdict = 'mismatch') AS wrong FROM callbacks`,
    );
    expect(counts?.deliveries).toBe(deliveryIds.size);
    expect(counts?.wrong).toBeGreaterThan(0);
    // A reply that a kill cut off makes the gateway send again: that is a delivery, too, and no loss.
    const { acknowledged, sent } = sandbox.stats().callbacks;
    expect(deliveryIds.size).toBeGreaterThanOrEqual(acknowledged);
    expect(deliveryIds.size).toBeLessThanOrEqual(sent);
  });

  it('sent every item and every settled order as a span, under one id each', async () => {
    const key = (traceId: string, spanId: string) => `${traceId}/${spanId}`;
    const expected = new Set(
      truth.flatMap((order) => {
        const text = orderTextOf(GATEWAY, order);
        const ids = expectedItems(GATEWAY, order).map(({ spanId }) => spanId);
        const root = order.outcome === 'pending' ? [] : [rootSpanIdOf(text)];
        return [...ids, ...root].map((spanId) => key(traceIdOf(text), spanId));
      }),
    );
    const received = () => new Set(receiver.spans.map((span) => key(span.traceId, span.spanId)));
    await expect.poll(() => received().size).toBe(expected.size);
    expect(received()).toEqual(expected);
  });

  it('sent the same span again, if at all, only around a kill, and unchanged', () => {
    const first = new Map(receiver.spans.toReversed().map((span) => [span.spanId, span]));
    expect(receiver.spans).toEqual(receiver.spans.map((span) => first.get(span.spanId)));
    console.log(`${receiver.spans.length} spans received, ${first.size} distinct`);
  });

  it('rejected nothing, and holds one row for each answer that the gateway gave and the collector lived to store', async () => {
    expect(await collector.query('SELECT * FROM rejects')).toEqual([]);
    const [polls] = await collector.query<{ rows: number; ids: number }>(
      'SELECT count() AS rows, uniqExact(poll_id) AS ids FROM polls',
    );
    const answered = Object.values(sandbox.stats().statusRequests).reduce((sum, count) => sum + count, 0);
    expect(polls?.ids).toBe(polls?.rows);
    expect(polls?.rows).toBeLessThanOrEqual(answered);
    expect(polls?.rows).toBeGreaterThan(answered * 0.9);
  });
});
