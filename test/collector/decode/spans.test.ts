import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { itemSpans, rootSpan } from '../../../collector/decode/spans.ts';
import { parseTime } from '../../../collector/decode/time.ts';
import type { SettlementRow } from '../../../schemas/rows.ts';
import { accept, at, anyHistory, OBSERVED_AT, ORDER_ID, replyText } from './history-fixtures.ts';

const settlement: SettlementRow = {
  gateway: 'acme-eu',
  order_type: 'Deposit',
  external_id: ORDER_ID,
  settled_at: parseTime(at(600)) ?? 0,
  kind: 'settled',
  status: 'Failed',
  outcome: 'technical_failure',
  reason_group: 'TECH',
  reason_detail: 'TIMEOUT',
  history_items: 2,
  external_transaction_id: 'tx-1',
  channel: 'p2p',
  first_event_at: parseTime(at(0)) ?? 0,
  last_event_at: parseTime(at(30)) ?? 0,
  deciding_action: '2.2.4.11',
  amount: '100.5',
  currency: 'EUR',
};
const spansOf = (actions: readonly string[]) =>
  itemSpans(accept(replyText(actions.map((action, index) => ({ time: at(index), action })))).newEvents);

describe('the span of a history item', () => {
  it('is the worked example of the contract, under its root', () => {
    const { newEvents } = accept(
      replyText([
        { time: '2026-11-21T10:15:29Z', action: '1.1.1.00' },
        { time: '2026-11-21T10:15:30.250000Z', action: '2.2.4.11' },
      ]),
    );
    expect(itemSpans(newEvents)[1]).toEqual({
      traceId: 'e9aa68962ba7f508d810ef274ad7c745',
      spanId: '1c9b13a5a77bfaa2',
      parentSpanId: 'd715956db1b89fd4',
      service: 'acme-eu',
      name: 'payment GATEWAY_CREATE FAILURE',
      start: parseTime('2026-11-21T10:15:29Z'),
      end: parseTime('2026-11-21T10:15:30.25Z'),
      error: { message: 'Gateway did not answer the create request in time' },
      attributes: {
        'payment.gateway': 'acme-eu',
        'payment.order_type': 'Deposit',
        'payment.external_id': ORDER_ID,
        'payment.external_transaction_id': 'tx-1',
        'payment.channel': 'p2p',
        'payment.action': '2.2.4.11',
        'payment.code_format': 'v2',
        'payment.stage': 'GATEWAY_CREATE',
        'payment.result': 'FAILURE',
        'payment.state': 'FAILED',
        'payment.reason_code': 11,
        'payment.reason_group': 'TECH',
        'payment.reason_detail': 'TIMEOUT',
        'payment.catalogued': true,
        'payment.occurrence': 0,
        'payment.source': 'poll',
        'error.type': 'TIMEOUT',
      },
      events: [{ name: 'payment.item_read', at: OBSERVED_AT }],
      links: [],
    });
  });

  it('is an error only where the operation failed, not where the payment did', () => {
    const spans = spansOf(['1.0.0.00', '4.1.4.63', '3.0.4.54', '4.2.2.13', '2.2.4.18', '1.2.3.4', 'x']);
    expect(spans.map(({ error, attributes }) => [error !== null, attributes['error.type']])).toEqual([
      [false, undefined],
      [false, undefined],
      [false, undefined],
      [true, 'SERVER_UNAVAILABLE'],
      [true, 'UNKNOWN_18'],
      [false, undefined],
      [false, undefined],
    ]);
  });

  it('of a code that was not decoded carries the raw code and no decoded attribute', () => {
    const [legacy, unrecognized] = spansOf(['1.2.3.4', 'x']);
    expect(legacy).toMatchObject({
      name: 'payment legacy code',
      attributes: { 'payment.action': '1.2.3.4' },
    });
    expect(unrecognized?.name).toBe('payment unrecognized code');
    for (const name of ['stage', 'result', 'state', 'reason_code', 'reason_group', 'reason_detail']) {
      expect(legacy?.attributes).not.toHaveProperty([`payment.${name}`]);
    }
  });

  it('never ends before it starts, and has ids of the right length and no attribute without a value', () => {
    fc.assert(
      fc.property(anyHistory, (list) => {
        const spans = itemSpans(accept(replyText(list)).newEvents);
        for (const span of spans) {
          expect(span.start).toBeLessThanOrEqual(span.end);
          expect(span.traceId).toMatch(/^[0-9a-f]{32}$/);
          expect(span.spanId).toMatch(/^[0-9a-f]{16}$/);
          expect(Object.values(span.attributes).every((value) => value !== null && value !== undefined)).toBe(
            true,
          );
        }
        expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length);
      }),
      { numRuns: 300 },
    );
  });

  it('leaves the merchant id and the channel out when they are not known', () => {
    const { newEvents } = accept(replyText([{ time: at(0), action: '1.0.0.00' }]), {
      channel: '',
      externalTransactionId: '',
    });
    const [span] = itemSpans(newEvents);
    expect(span?.attributes).not.toHaveProperty(['payment.channel']);
    expect(span?.attributes).not.toHaveProperty(['payment.external_transaction_id']);
  });
});

describe('the root span of an order', () => {
  it('spans its items, under no parent, with the error of what decided it', () => {
    expect(rootSpan(settlement)).toEqual({
      traceId: 'e9aa68962ba7f508d810ef274ad7c745',
      spanId: 'd715956db1b89fd4',
      parentSpanId: null,
      service: 'acme-eu',
      name: 'payment Deposit',
      start: settlement.first_event_at,
      end: settlement.last_event_at,
      error: { message: 'Gateway did not answer the create request in time' },
      attributes: {
        'payment.gateway': 'acme-eu',
        'payment.order_type': 'Deposit',
        'payment.external_id': ORDER_ID,
        'payment.external_transaction_id': 'tx-1',
        'payment.channel': 'p2p',
        'payment.history_items': 2,
        'payment.closure': 'settled',
        'payment.status': 'Failed',
        'payment.outcome': 'technical_failure',
        'payment.reason_group': 'TECH',
        'payment.reason_detail': 'TIMEOUT',
        'payment.deciding_action': '2.2.4.11',
        'payment.amount': '100.5',
        'payment.currency': 'EUR',
        'error.type': 'TIMEOUT',
      },
      events: [],
      links: [],
    });
  });

  it('is no error where a check succeeded in finding the payment failed, or paid', () => {
    for (const deciding_action of ['4.1.4.63', '5.1.3.00', '3.0.4.54', null]) {
      const { error, attributes } = rootSpan({ ...settlement, deciding_action, reason_detail: 'X' });
      expect([error, attributes['error.type']]).toEqual([null, undefined]);
    }
  });

  it('of an order given up while pending says so and names no outcome', () => {
    const { attributes } = rootSpan({
      ...settlement,
      kind: 'abandoned',
      status: 'Processing',
      outcome: null,
      reason_group: null,
      reason_detail: null,
    });
    expect(attributes).toMatchObject({ 'payment.closure': 'abandoned', 'payment.status': 'Processing' });
    expect(attributes).not.toHaveProperty(['payment.outcome']);
  });

  it('is the parent of every item span of the order', () => {
    for (const span of spansOf(['1.0.0.00', '2.2.4.11', 'x'])) {
      expect(span).toMatchObject({
        traceId: rootSpan(settlement).traceId,
        parentSpanId: rootSpan(settlement).spanId,
      });
    }
  });
});
