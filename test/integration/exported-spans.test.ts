import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSandbox, type Sandbox } from '../../sandbox/server.ts';
import type { SeededOrder } from '../../sandbox/seeded-orders.ts';
import type { PanelAnswer } from '../../schemas/console.ts';
import { orderTimelineSchema, type OrderTimeline } from '../../schemas/order-timeline.ts';
import { SPAN_ATTRIBUTES } from '../../schemas/span-contract.ts';
import { cli } from '../cli/commands/support/cli.ts';
import { panelNamed } from '../dashboards/generated.ts';
import { type CollectorProcess, startCollectorProcess } from '../support/collector-process.ts';
import { expandPanelSql } from '../support/macros.ts';
import { type OtlpReceiver, startOtlpReceiver } from '../support/otlp-receiver.ts';
import { until } from '../support/until.ts';
import { gatewayConfig, signedCallback } from './support/gateway.ts';
import {
  fromConsole,
  fromOtelRow,
  fromOtlp,
  fromTraceRow,
  inOrderOfIds,
  micros,
  toTheMillisecond,
  type OtelRow,
  type ComparableSpan,
  type TraceRow,
} from './support/comparable-spans.ts';

const AT = Date.now() - 3_600_000;
const item = (action: string, second: number, visibleAfterMs = 0) => ({
  action,
  time: new Date(AT + second * 1000).toISOString().replace('Z', '250Z'),
  visibleAfterMs,
});

/** Each is one kind of life. The payout is not watched: a callback makes it known. */
const ORDERS: Readonly<Record<string, SeededOrder & { readonly externalId: string }>> = {
  'a payment that failed technically, with a changed amount and a late item in the middle': {
    externalId: 'order-technical',
    status: 'Failed',
    amount: 1234.5,
    currency: 'EUR',
    externalTransactionId: 'shop-1',
    items: [
      item('1.1.1.00', 0),
      item('2.1.1.00', 1),
      item('3.0.1.51', 2, 2_500),
      item('4.2.2.18', 30),
      item('2.2.4.11', 60),
    ],
  },
  'a payout that was paid': {
    externalId: 'order-paid',
    orderType: 'Withdrawal',
    status: 'Success',
    amount: 100,
    currency: 'USD',
    externalTransactionId: 'shop-2',
    items: [item('1.0.0.00', 0), item('4.1.3.00', 5), item('6.1.1.00', 5)],
  },
  'a payment that the issuer declined, with equal items and codes that are not decoded': {
    externalId: 'order-declined',
    status: 'Failed',
    amount: 0.1,
    currency: 'JPY',
    items: [item('1.2.3.4', 0), item('not a code', 1), item('4.2.2.13', 2), item('4.2.2.13', 2), item('4.1.4.63', 9)],
  },
}; // prettier-ignore
const GATEWAYS = ['acme-eu', 'blue-pay'] as const;

/**
 * One order looked up by its id in five places: the command line, SQL, the console, an OTLP receiver and the
 * rows of Grafana's trace panel.
 */
describe('an order has the same spans everywhere', () => {
  let sandbox: Sandbox;
  let receiver: OtlpReceiver;
  let collector: CollectorProcess;
  beforeAll(async () => {
    sandbox = await createSandbox();
    receiver = await startOtlpReceiver();
    for (const order of Object.values(ORDERS)) sandbox.seedOrder(order);
    collector = await startCollectorProcess({
      config: { gateways: GATEWAYS.map((name) => gatewayConfig(sandbox, { name })) },
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_METRICS_EXPORTER: 'none' },
    });
    for (const externalId of ['order-technical', 'order-declined'])
      await watch({ gateway: 'acme-eu', orderType: 'Deposit', externalId, channel: 'p2p' });
    await watch({ gateway: 'blue-pay', orderType: 'Deposit', externalId: 'order-declined' });
    await callBack('acme-eu', { externalId: 'order-technical', status: 'Failed', amount: '1234.50' });
    await callBack('acme-eu', { externalId: 'order-paid', orderType: 'Withdrawal' });
    await until(
      'every order to be closed',
      async () => roots(),
      (closed) => closed.length === 4,
    );
  }, 120_000);
  afterAll(async () => {
    await collector?.[Symbol.asyncDispose]();
    await receiver?.close();
    await sandbox?.stop();
  });

  const roots = () => receiver.spans.filter(({ parentSpanId }) => parentSpanId === '');
  const post = async (url: string, body: string, headers: Record<string, string> = {}): Promise<Response> => {
    const reply = await fetch(url, {
      method: 'POST',
      body,
      headers: { 'Content-Type': 'application/json', ...headers },
    });
    expect(reply.status).toBeLessThan(300);
    return reply;
  };
  const watch = (message: object) => post(`${collector.http}/orders`, JSON.stringify(message));
  const callBack = (gateway: string, fields: Parameters<typeof signedCallback>[0]) => {
    const { body, signature } = signedCallback(fields, sandbox.callbackKey);
    return post(`${collector.intake}/callbacks/${gateway}`, body, { Signature: signature });
  };

  const byOtlp = (traceId: string) => receiver.spans.filter((span) => span.traceId === traceId).map(fromOtlp);
  const byCli = async (gateway: string, id: string): Promise<OrderTimeline> => {
    const args = ['order', id, '--gateway', gateway, '--json', '--config', collector.configFile];
    const { code, stdout, stderr } = await cli(args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return orderTimelineSchema.parse(JSON.parse(stdout));
  };
  const byHttp = async (gateway: string, id: string): Promise<OrderTimeline> => {
    const reply = await fetch(`${collector.http}/orders/${id}?gateway=${gateway}`);
    return orderTimelineSchema.parse(await reply.json());
  };
  const byView = async (traceId: string) =>
    (await collector.query<TraceRow>(`SELECT * FROM order_trace WHERE traceID = '${traceId}'`)).map(
      fromTraceRow,
    );
  const byExportersTable = async (traceId: string) => {
    const times = `otel_traces_trace_id_ts WHERE TraceId = '${traceId}'`;
    const rows = await collector.query<OtelRow>(
      `WITH (SELECT min(Start) FROM ${times}) AS trace_start, (SELECT max(End) + 1 FROM ${times}) AS trace_end
      SELECT * FROM otel_traces WHERE TraceId = '${traceId}' AND Timestamp >= trace_start AND Timestamp <= trace_end`,
    );
    return rows.map(fromOtelRow);
  };
  const scope = (gateway: string, id: string) => ({
    order_id: [id],
    gateway: [gateway],
    order_type: ['$__all'],
  });
  const panel = panelNamed('Trace of the order');
  const byGrafana = async (gateway: string, id: string) => {
    const range = { from: new Date(AT - 60_000), to: new Date(AT + 3_600_000), intervalMs: 60_000 };
    const sql = expandPanelSql(panel.targets?.[0]?.rawSql ?? '', range, {
      ...scope(gateway, id),
      order_type: 'all',
    });
    return (await collector.query<TraceRow>(sql)).map(fromTraceRow);
  };
  const byConsole = async (gateway: string, id: string) => {
    const reply = await post(
      `${collector.http}/console/api/query`,
      JSON.stringify({
        dashboard: 'gatewatch-order',
        panel: panel.id,
        from: AT - 60_000,
        to: AT + 3_600_000,
        variables: scope(gateway, id),
      }),
    );
    const answer = (await reply.json()) as PanelAnswer;
    expect(answer.error).toBeNull();
    return fromConsole(answer);
  };

  const cases = [
    ...Object.entries(ORDERS).map(([what, { externalId: id }]) => ({ what, gateway: 'acme-eu', id })),
    { what: 'an order of the same id at another gateway', gateway: 'blue-pay', id: 'order-declined' },
  ];

  describe.each(cases)('$what', ({ gateway, id }) => {
    let timeline: OrderTimeline;
    let exported: ComparableSpan[];
    beforeAll(async () => {
      timeline = await byCli(gateway, id);
      exported = inOrderOfIds(byOtlp(timeline.order.traceId ?? ''));
    });

    it('has the same spans, attribute by attribute, in OTLP, both views, the panel and the console', async () => {
      const traceId = timeline.order.traceId ?? '';
      expect(exported).toHaveLength(timeline.events.length + 1);
      expect(inOrderOfIds(await byView(traceId))).toEqual(exported);
      expect(inOrderOfIds(await byExportersTable(traceId))).toEqual(exported);
      expect(inOrderOfIds(await byGrafana(gateway, id))).toEqual(exported);
      expect(inOrderOfIds(await byConsole(gateway, id))).toEqual(exported.map(toTheMillisecond));
    });

    it('has the items that the command line and the HTTP interface show', async () => {
      expect(await byHttp(gateway, id)).toEqual(timeline);
      for (const event of timeline.events) {
        const span = exported.find(({ spanId }) => spanId === event.spanId);
        expect(span).toMatchObject({
          traceId: timeline.order.traceId,
          service: [gateway, 'gatewatch'],
          failed: event.result === 'FAILURE',
          attributes: known({
            ...ofOrder(timeline),
            'payment.action': event.action,
            'payment.code_format': event.format,
            'payment.stage': event.stage,
            'payment.result': event.result,
            'payment.state': event.state,
            'payment.reason_code': event.reasonCode,
            'payment.reason_group': event.reasonGroup,
            'payment.reason_detail': event.reasonDetail,
            'payment.catalogued': event.catalogued,
            'payment.occurrence': event.occurrence,
            'error.type': event.result === 'FAILURE' ? event.reasonDetail : null,
          }),
        });
        expect((span?.start ?? 0) + (span?.duration ?? 0)).toBe(micros(event.time));
        expect(span?.events.at(-1)).toEqual([
          'payment.item_read',
          Math.floor(micros(event.observedAt) / 1000),
        ]);
        if (event.catalogued && span?.failed === true) expect(span.message).toBe(event.description);
      }
    });

    it('has the root that the command line shows', () => {
      const { order, events } = timeline;
      const deciding = events.find((event) => event.deciding);
      const root = exported.find(({ parentSpanId }) => parentSpanId === '');
      const failed = deciding?.result === 'FAILURE';
      expect(root).toMatchObject({
        name: `payment ${order.orderType}`,
        start: micros(events[0]?.time ?? ''),
        failed,
        message: failed ? deciding.description : '',
      });
      expect((root?.start ?? 0) + (root?.duration ?? 0)).toBe(micros(events.at(-1)?.time ?? ''));
      expect(root?.attributes).toEqual(
        known({
          ...ofOrder(timeline),
          'payment.status': order.status,
          'payment.outcome': order.outcome,
          'payment.reason_group': order.reasonGroup,
          'payment.reason_detail': order.reasonDetail,
          'payment.deciding_action': deciding?.action ?? null,
          'payment.amount': order.amount,
          'payment.currency': order.currency,
          'payment.history_items': events.length,
          'payment.closure': order.settledAt === null ? 'abandoned' : 'settled',
          'error.type': failed ? order.reasonDetail : null,
        }),
      );
    });

    it('has what the contract requires, and nothing else', () => {
      for (const { parentSpanId, attributes } of exported) {
        const kind = parentSpanId === '' ? 'root' : 'item';
        const allowed = SPAN_ATTRIBUTES.filter((one) => one[kind] !== undefined);
        const required = allowed.filter((one) => one[kind]?.level === 'required').map(({ name }) => name);
        expect(Object.keys(attributes)).toEqual(expect.arrayContaining(required));
        expect(allowed.map(({ name }) => name)).toEqual(expect.arrayContaining(Object.keys(attributes)));
        for (const { name, values } of allowed)
          if (values !== undefined && name in attributes) expect(values).toContain(attributes[name]);
      }
    });
  });

  it('says when the callback came that asked for the read', async () => {
    const { order, callbacks, events: items } = await byCli('acme-eu', 'order-paid');
    const called = byOtlp(order.traceId ?? '').filter(
      ({ attributes }) => attributes['payment.source'] === 'callback',
    );
    expect(called).toHaveLength(items.length);
    const received = callbacks.map(({ firstReceivedAt }) => Math.floor(micros(firstReceivedAt) / 1000));
    for (const { events } of called) {
      expect(events.map(([name]) => name)).toEqual(['payment.callback_received', 'payment.item_read']);
      expect(received).toContain(events[0]?.[1]);
    }
  });
});

const ofOrder = ({ order }: OrderTimeline) => ({
  'payment.gateway': order.gateway,
  'payment.order_type': order.orderType,
  'payment.external_id': order.externalId,
  'payment.external_transaction_id': order.externalTransactionId,
  'payment.channel': order.channel,
});

/** As text, without what is not known. */
const known = (values: Readonly<Record<string, string | number | boolean | null>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (value === null ? [] : [[name, String(value)]])),
  );
