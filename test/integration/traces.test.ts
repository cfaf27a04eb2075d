import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSandbox, type Sandbox } from '../../sandbox/server.ts';
import { type CollectorProcess, startCollectorProcess } from '../support/collector-process.ts';
import { type OtlpReceiver, startOtlpReceiver } from '../support/otlp-receiver.ts';
import { EXAMPLE, gatewayConfig, postCallback } from './support/gateway.ts';

describe('the trace of an order, at an OTLP/HTTP receiver', () => {
  let sandbox: Sandbox;
  let receiver: OtlpReceiver;
  let collector: CollectorProcess;
  beforeAll(async () => {
    sandbox = await createSandbox();
    receiver = await startOtlpReceiver();
    collector = await startCollectorProcess({
      config: { gateways: [gatewayConfig(sandbox, { name: EXAMPLE.gateway })] },
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_METRICS_EXPORTER: 'none' },
    });
    sandbox.seedOrder({
      externalId: EXAMPLE.externalId,
      externalTransactionId: 'shop-1',
      status: 'Failed',
      items: [
        { action: '1.1.1.00', time: '2026-11-21T10:15:28Z', visibleAfterMs: 0 },
        { action: '2.1.1.00', time: '2026-11-21T10:15:29.5Z', visibleAfterMs: 0 },
        { action: EXAMPLE.action, time: EXAMPLE.time, visibleAfterMs: 0 },
      ],
    });
  });
  afterAll(async () => {
    await collector[Symbol.asyncDispose]();
    await receiver.close();
    await sandbox.stop();
  });

  const spans = () => receiver.spans.filter((span) => span.traceId === EXAMPLE.traceId);
  const span = (spanId: string) => spans().find((one) => one.spanId === spanId);
  const callBack = async () => {
    const url = `${collector.intake}/callbacks/${EXAMPLE.gateway}`;
    const fields = { externalId: EXAMPLE.externalId, status: 'Failed' };
    expect((await postCallback(url, fields, sandbox.callbackKey)).status).toBe(200);
  };
  const settledAt = async () => {
    const [order] = await collector.query<{ settled_at: string | null }>(
      `SELECT settled_at FROM orders WHERE external_id = '${EXAMPLE.externalId}'`,
    );
    return order?.settled_at ?? null;
  };

  it('has the ids of the worked example, one span for each item, and times that touch each other', async () => {
    await callBack();
    await expect.poll(() => span(EXAMPLE.spanId)).toBeDefined();
    expect(span(EXAMPLE.spanId)).toMatchObject({
      traceId: EXAMPLE.traceId,
      parentSpanId: EXAMPLE.rootSpanId,
      name: 'payment GATEWAY_CREATE FAILURE',
      startNanos: BigInt(Date.UTC(2026, 10, 21, 10, 15, 29, 500)) * 1_000_000n,
      endNanos: BigInt(Date.UTC(2026, 10, 21, 10, 15, 30, 250)) * 1_000_000n,
      statusCode: 2,
      attributes: {
        'payment.gateway': EXAMPLE.gateway,
        'payment.external_id': EXAMPLE.externalId,
        'payment.action': EXAMPLE.action,
        'error.type': 'TIMEOUT',
      },
    });
    expect(spans().filter(({ parentSpanId }) => parentSpanId === EXAMPLE.rootSpanId)).toHaveLength(3);
  });

  it('gets its root span once, when the order is settled', async () => {
    await expect.poll(() => span(EXAMPLE.rootSpanId)).toBeDefined();
    expect(await settledAt()).not.toBeNull();
    expect(span(EXAMPLE.rootSpanId)).toMatchObject({
      parentSpanId: '',
      startNanos: BigInt(Date.UTC(2026, 10, 21, 10, 15, 28)) * 1_000_000n,
      endNanos: BigInt(Date.UTC(2026, 10, 21, 10, 15, 30, 250)) * 1_000_000n,
      // What decided the order failed.
      statusCode: 2,
      attributes: {
        'payment.outcome': 'technical_failure',
        'payment.deciding_action': EXAMPLE.action,
        'payment.external_transaction_id': 'shop-1',
        'payment.amount': '100',
        'payment.currency': 'EUR',
      },
      resource: { 'service.name': EXAMPLE.gateway, 'service.namespace': 'gatewatch' },
    });
    expect(spans()).toHaveLength(4);
  });

  it('gets no other span, and its views no other row, when the same input comes again', async () => {
    const rows = () =>
      collector.query(
        `SELECT (SELECT count() FROM history_events) AS items, (SELECT count() FROM orders) AS orders,
                (SELECT count() FROM callbacks) AS callbacks`,
      );
    const before = await settledAt();
    expect(await rows()).toEqual([{ items: 3, orders: 1, callbacks: 1 }]);
    await callBack();
    // The callback opened the order again: it is read from the start, and settled a second time.
    await expect.poll(settledAt).not.toBe(before);
    expect(await rows()).toEqual([{ items: 3, orders: 1, callbacks: 1 }]);
    // Spans go out in the order of the rows: when a later order's has arrived, there was none in between.
    const { externalId } = sandbox.seedOrder({ items: [{ action: '1.1.1.00', offsetMs: -10 }] });
    await watch(collector, externalId);
    await expect.poll(() => receiver.spans.length).toBe(5);
    expect(new Set(spans().map(({ spanId }) => spanId)).size).toBe(4);
  });

  it('goes on with a late item: one more span of the same trace', async () => {
    sandbox.appendItem(EXAMPLE.externalId, {
      action: '6.1.1.00',
      time: '2026-11-21T10:15:31Z',
      visibleAfterMs: 0,
    });
    await callBack();
    await expect.poll(() => spans().length).toBe(5);
    expect(spans().at(-1)).toMatchObject({
      parentSpanId: EXAMPLE.rootSpanId,
      attributes: { 'payment.action': '6.1.1.00' },
    });
  });
});

async function watch(collector: CollectorProcess, externalId: string): Promise<void> {
  const reply = await fetch(`${collector.http}/orders`, {
    method: 'POST',
    body: JSON.stringify({ orderType: 'Deposit', externalId }),
    headers: { 'Content-Type': 'application/json' },
  });
  expect(reply.status).toBe(202);
}
