import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkWatchMessage, decodeWatchMessage } from '../../schemas/watch-message.ts';
import { EXTERNAL_ID_GRAMMAR, TRANSACTION_ID_GRAMMAR } from '../../schemas/order-id.ts';
import { watchKey } from '../../schemas/watch.ts';

const decode = (value: unknown) => decodeWatchMessage(new TextEncoder().encode(JSON.stringify(value)));

describe('a watch message', () => {
  it('has to be JSON in UTF-8, and says so', () => {
    const problem = { field: 'body', expected: 'JSON' };
    const latin1 = Buffer.from(
      '{"orderType":"Deposit","externalId":"ord-1","channel":"caf\u00e9"}',
      'latin1',
    );
    for (const bytes of [latin1, Buffer.from('{'), new Uint8Array(), null]) {
      expect(decodeWatchMessage(bytes)).toMatchObject({ ok: false, problem });
    }
  });

  it.each([
    ['by service id', { orderType: 'Deposit', externalId: 'a' }],
    ['by merchant id', { orderType: 'Withdrawal', externalTransactionId: 'tx-1' }],
    [
      'with everything that is known of the order',
      {
        gateway: 'acme-eu',
        orderType: 'Deposit',
        externalId: 'a',
        externalTransactionId: 'tx-1',
        channel: 'p2p',
        amount: '100.00',
        currency: 'EUR',
      },
    ],
  ])('%s is read', (_name, message) => {
    expect(decode(message)).toEqual({ ok: true, message });
  });

  it.each(['channel', 'amount', 'currency'])('is refused when its %s could be a card number', (field) => {
    expect(decode({ orderType: 'Deposit', externalId: 'a', [field]: '4111111111111111' })).toEqual({
      ok: false,
      reason: 'watch_message_malformed',
      problem: { field, received: 'digits like a card number', expected: `a ${field}` },
    });
  });

  it('may name an order by digits that could be a card number: merchants number their orders', () => {
    expect(decode({ orderType: 'Deposit', externalId: '4111111111111111' })).toMatchObject({ ok: true });
  });

  it('takes numbers for ids, with all their digits', () => {
    const text =
      '{"orderType":"Deposit","externalId":90071992547409931,"externalTransactionId":20261121044336000123}';
    expect(decodeWatchMessage(Buffer.from(text))).toEqual({
      ok: true,
      message: {
        orderType: 'Deposit',
        externalId: '90071992547409931',
        externalTransactionId: '20261121044336000123',
      },
    });
  });

  it('takes what shops number their orders with for the merchant’s id, and not for the service’s', () => {
    for (const id of ['#1001', 'SO 12345678', 'order@shop', "O'Brien-1"]) {
      const message = { orderType: 'Deposit', externalTransactionId: id };
      expect(decode(message)).toEqual({ ok: true, message });
      expect(decode({ orderType: 'Deposit', externalId: id })).toMatchObject({
        ok: false,
        problem: { field: 'externalId', expected: EXTERNAL_ID_GRAMMAR },
      });
    }
    expect(decode({ orderType: 'Deposit', externalTransactionId: 'ADA LOVELACE' })).toMatchObject({
      ok: false,
      problem: { field: 'externalTransactionId', expected: TRANSACTION_ID_GRAMMAR },
    });
  });

  it('names one order whatever the case of a UUID', () => {
    expect(
      decode({ orderType: 'Deposit', externalId: 'A0000000-0000-4000-8000-0000000000FF' }),
    ).toMatchObject({
      message: { externalId: 'a0000000-0000-4000-8000-0000000000ff' },
    });
  });

  it('leaves fields out that it does not know', () => {
    expect(decode({ orderType: 'Deposit', externalId: 'a', cardNumber: '4111111111111111' })).toEqual({
      ok: true,
      message: { orderType: 'Deposit', externalId: 'a' },
    });
  });

  it.each([
    [100, '100'],
    [100.5, '100.5'],
    ['100.00', '100.00'],
    ['-1', '-1'],
  ])('takes the amount %j as the text %s', (amount, text) => {
    expect(decode({ orderType: 'Deposit', externalId: 'a', amount })).toMatchObject({
      message: { amount: text },
    });
  });

  it.each([
    ['nothing', null, 'body', 'nothing'],
    ['no bytes', '', 'body', 'nothing'],
    ['no JSON', 'order 7', 'body', '7 bytes of something else'],
    ['truncated JSON', '{"orderType":"Deposit","externalId":"a"', 'body', '39 bytes of something else'],
    ['a JSON null', 'null', 'body', 'nothing'],
    ['a list', '[]', 'body', 'an array of 0'],
    ['no id', '{"orderType":"Deposit"}', 'externalId', 'nothing'],
    ['an empty id', '{"orderType":"Deposit","externalId":""}', 'externalId', 'an empty string'],
    ['half a number for its id', '{"orderType":"Deposit","externalId":7.5}', 'externalId', '7.5'],
    [
      'an id of 201 letters',
      JSON.stringify({ orderType: 'Deposit', externalId: 'x'.repeat(201) }),
      'externalId',
      'a text like ~a:201',
    ],
    ['no order type', '{"externalId":"a"}', 'orderType', 'nothing'],
    ['an unknown order type', '{"externalId":"a","orderType":"Refund"}', 'orderType', '"Refund"'],
    [
      'an amount that is no number',
      '{"externalId":"a","orderType":"Deposit","amount":"1e2"}',
      'amount',
      'a text like ~9a9:3',
    ],
    [
      'a card number for its order type',
      '{"externalId":"a","orderType":"4111111111111111"}',
      'orderType',
      'a text like ~9:16',
    ],
    [
      'its fields in the prototype',
      '{"__proto__":{"externalId":"a","orderType":"Deposit"}}',
      'orderType',
      'nothing',
    ],
  ])('with %s is refused with its field', (_name, text, field, received) => {
    const decoded = decodeWatchMessage(text === null ? null : new TextEncoder().encode(text));
    expect(decoded).toMatchObject({
      ok: false,
      reason: 'watch_message_malformed',
      problem: { field, received: expect.stringContaining(received) },
    });
  });

  it('in broken UTF-8 is refused', () => {
    expect(decodeWatchMessage(Uint8Array.of(0x7b, 0xff, 0x7d))).toMatchObject({
      ok: false,
      problem: { field: 'body' },
    });
  });

  it('gives a value for any bytes and any JSON', () => {
    const names = fc.constantFrom('gateway', 'orderType', 'externalId', 'amount', 'currency', '__proto__');
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), fc.dictionary(names, fc.jsonValue())), (value) => {
        const decoded = checkWatchMessage(value);
        expect(decoded.ok || decoded.problem.field !== '').toBe(true);
      }),
      { numRuns: 1_000 },
    );
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        expect(decodeWatchMessage(bytes).ok).toBe(false);
      }),
    );
  });
});

describe('the key of a watched order', () => {
  const order = fc.record({
    gateway: fc.stringMatching(/^[a-z0-9-]{1,10}$/),
    orderType: fc.constantFrom('Deposit' as const, 'Withdrawal' as const),
    idKind: fc.constantFrom('external-id' as const, 'transaction-id' as const),
    orderId: fc.string({ minLength: 1, maxLength: 10 }),
  });

  it('differs as soon as one part differs', () => {
    fc.assert(
      fc.property(order, order, (one, other) => {
        expect(watchKey(one) === watchKey(other)).toBe(JSON.stringify(one) === JSON.stringify(other));
      }),
      { numRuns: 1_000 },
    );
  });
});
