import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSandbox, type Sandbox } from '../../sandbox/server.ts';
import { type CollectorProcess, MAIN, startCollectorProcess } from '../support/collector-process.ts';
import { expandPanelSql } from '../support/macros.ts';
import { type OtlpReceiver, startOtlpReceiver } from '../support/otlp-receiver.ts';

/**
 * THE LIFE OF AN EVENT
 *
 * Start reading here. A payer wants to pay, the merchant's gateway times out, and a minute later somebody's
 * phone rings. This page follows that one event from the gateway to the phone, through the parts in the order
 * in which it meets them:
 *
 *     gateway -> callback -> collector -> rows -> spans
 *                                          |----> a number on a dashboard
 *                                          |----> an alert
 *
 * Everything is real: an HTTP gateway (the sandbox), the collector as its users start it, ClickHouse, a
 * receiver of OTLP.
 */
describe('the life of an event', () => {
  let gateway: Sandbox;
  let tracing: OtlpReceiver;
  let collector: CollectorProcess;
  let orderId: string;

  beforeAll(async () => {
    gateway = await createSandbox();
    tracing = await startOtlpReceiver();
    // All that a collector has to know: where the gateway is, and the two secrets that the merchant shares
    // with it.
    collector = await startCollectorProcess({
      config: {
        gateways: [
          {
            name: 'acme-eu',
            secureUrl: gateway.secureUrl,
            token: gateway.token,
            callbackKeys: [gateway.callbackKey],
            // An order is read again for minutes after its end, as late items may come. We are in a hurry:
            // one second.
            poll: { delaysS: [1], rereadsS: [1] },
          },
        ],
      },
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: tracing.url, OTEL_METRICS_EXPORTER: 'none' },
    });
    // Two minutes ago: the order was created, the gateway asked its bank, and the bank did not answer in
    // time.
    orderId = failingOrder().externalId;
  });

  afterAll(async () => {
    await collector[Symbol.asyncDispose]();
    await tracing.close();
    await gateway.stop();
  });

  const failingOrder = () =>
    gateway.seedOrder({
      status: 'Failed',
      items: [
        { action: '1.1.1.00', offsetMs: -121_000 },
        { action: '2.2.4.11', offsetMs: -120_000 },
      ],
    });

  it('1. the gateway keeps a history of the order: codes, and nothing but codes', async () => {
    const reply = await fetch(`${gateway.secureUrl}/api/v1/integration/deposit-order/${orderId}/status`, {
      headers: { Authorization: `Bearer ${gateway.token}` },
    });
    expect(await reply.json()).toMatchObject({
      externalId: orderId,
      orderStatus: 'Failed',
      orderHistory: [{ action: '1.1.1.00' }, { action: '2.2.4.11' }],
    });
  });

  it('2. the gateway calls back: "this order changed", signed with the key that only it and the merchant have', async () => {
    const body = {
      externalId: orderId,
      status: 'Failed',
      amount: '100.00',
      currency: 'EUR',
      orderType: 'Deposit',
    };
    const signed = [body.externalId, body.status, body.amount, body.orderType, gateway.callbackKey].join(';');
    const signature = createHash('sha256').update(signed).digest('hex');
    const answer = await fetch(`${collector.intake}/callbacks/acme-eu`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Signature: signature },
      body: JSON.stringify(body),
    });
    // 200 says "it is stored", whatever the signature is worth: a forger learns nothing.
    expect(answer.status).toBe(200);
    expect(
      await collector.query(`SELECT verdict, status FROM callbacks WHERE external_id = '${orderId}'`),
    ).toEqual([{ verdict: 'valid', status: 'Failed' }]);
  });

  it('3. a callback is a hint: the collector asks the gateway itself, and decodes what it hears', async () => {
    const history = () =>
      collector.query(
        `SELECT action, stage, result, state, reason_group, reason_detail
         FROM history_events WHERE external_id = '${orderId}' ORDER BY event_time`,
      );
    await expect.poll(history).toEqual([
      {
        action: '1.1.1.00',
        stage: 'INTERNAL',
        result: 'SUCCESS',
        state: 'CREATED',
        reason_group: 'NONE',
        reason_detail: 'UNSPECIFIED',
      },
      // 2 = at the gateway's creation of the payment, 2 = the operation failed, 4 = so did the payment, 11 =
      // a timeout.
      {
        action: '2.2.4.11',
        stage: 'GATEWAY_CREATE',
        result: 'FAILURE',
        state: 'FAILED',
        reason_group: 'TECH',
        reason_detail: 'TIMEOUT',
      },
    ]);
  });

  it('4. the order has one row, with an outcome that says whose fault it was', async () => {
    const orders = () =>
      collector.query(
        `SELECT status, outcome, deciding_action, toString(amount) AS amount FROM orders WHERE external_id = '${orderId}'`,
      );
    await expect
      .poll(orders)
      .toEqual([
        { status: 'Failed', outcome: 'technical_failure', deciding_action: '2.2.4.11', amount: '100' },
      ]);
  });

  it('5. once it is settled the order is a trace: a span for each item, under one root', async () => {
    const order = `acme-eu|Deposit|${orderId}`;
    const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
    // Ids are made of what they stand for, so that the same event is the same span wherever and whenever it
    // is sent.
    const traceId = sha256(order).slice(0, 32);
    const rootId = sha256(`${order}|root`).slice(0, 16);
    const spans = () => tracing.spans.filter((span) => span.traceId === traceId);
    await expect.poll(() => spans().length).toBe(3);
    expect(spans().find((span) => span.spanId === rootId)).toBeDefined();
    expect(spans().find((span) => span.attributes['payment.action'] === '2.2.4.11')).toMatchObject({
      parentSpanId: rootId,
      name: 'payment GATEWAY_CREATE FAILURE',
      statusCode: 2,
      attributes: { 'error.type': 'TIMEOUT' },
    });
  });

  it('6. it is part of a number on the dashboard: the very SQL that Grafana would send', async () => {
    // Eleven more fail alike, and twelve are paid.
    for (let i = 0; i < 11; i++) await watch(failingOrder().externalId);
    for (let i = 0; i < 12; i++) {
      const items = [{ action: '4.1.3.00', offsetMs: -110_000 }];
      await watch(gateway.seedOrder({ status: 'Success', items }).externalId);
    }
    const sql = await panelSql('technical_success');
    const success = async () => {
      const now = Date.now();
      const range = { from: new Date(now - 900_000), to: new Date(now), intervalMs: 60_000 };
      const all = { gateway: 'all', order_type: 'all', channel: 'all' } as const;
      return collector.query(expandPanelSql(sql, range, all));
    };
    await expect.poll(success).toEqual([{ technical_success: 0.5, finished_orders: 24 }]);
  });

  it('7. and it is a reason to wake somebody up: the next evaluation sees an incident, with a text for whoever is woken', async () => {
    const alerts = async () =>
      JSON.parse(await gatewatch('alerts', '--json', '--config', collector.configFile)) as Alert[];
    // Pending first: nobody is woken by a minute that goes by.
    const firing = async () =>
      (await alerts()).filter(({ state }) => state === 'Pending' || state === 'Alerting');
    // The symptom by its name, and the objective that half of the orders miss.
    await expect.poll(firing, { interval: 500 }).toMatchObject([
      {
        rule: 'GatewatchTechTimeouts',
        labels: { gateway: 'acme-eu', stage: 'GATEWAY_CREATE' },
        numbers: { affected: 12 },
        summary: expect.stringMatching(/\w/),
      },
      { rule: 'GatewatchTechnicalBurnFast', labels: { gateway: 'acme-eu' }, numbers: { affected: 12 } },
    ]);
  });

  it('8. who is woken asks for one order, and sees the same event again', async () => {
    const timeline = await gatewatch('order', orderId, '--config', collector.configFile);
    expect(timeline).toContain('2.2.4.11');
    expect(timeline).toContain('TIMEOUT');
  });

  /** "Read this order": what a merchant's own system says when it creates one. */
  async function watch(externalId: string): Promise<void> {
    const reply = await fetch(`${collector.http}/orders`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ gateway: 'acme-eu', orderType: 'Deposit', externalId }),
    });
    expect(reply.status).toBe(202);
  }
});

interface Alert {
  readonly rule: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly state: string;
}

/** The SQL of the panel that shows one number with this name, from the dashboards as they are generated. */
async function panelSql(column: string): Promise<string> {
  const file = new URL(
    '../../dashboards/out/grafana/dashboards/gatewatch/gatewatch-overview.json',
    import.meta.url,
  );
  const { panels } = JSON.parse(await readFile(file, 'utf8')) as {
    panels: { type: string; targets?: { rawSql: string }[] }[];
  };
  const sql = panels
    .filter(({ type }) => type === 'stat')
    .map(({ targets }) => targets?.[0]?.rawSql ?? '')
    .find((text) => text.includes(`AS ${column}`));
  if (sql === undefined) throw new Error(`no panel shows ${column}`);
  return sql;
}

/** Runs a command of ours and gives what it printed. */
async function gatewatch(...args: string[]): Promise<string> {
  const child = spawn(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [printed] = await Promise.all([text(child.stdout), once(child, 'close')]);
  expect(child.exitCode).toBe(0);
  return printed;
}
