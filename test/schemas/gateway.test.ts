import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  CALLBACK_TYPES,
  callbackSchema,
  isUsualCallback,
  signatureBase,
} from '../../schemas/gateway/callback.ts';
import {
  ADDITIONAL_FIELD_KEYS,
  additionalField,
  CARD_FIELD_KEYS,
  depositRequestSchema,
} from '../../schemas/gateway/deposit-request.ts';
import {
  acquiringResponseSchema,
  p2pResponseSchema,
  tokenResponseSchema,
} from '../../schemas/gateway/deposit-response.ts';
import { GATEWAY_ERRORS, gatewayErrorSchema } from '../../schemas/gateway/error.ts';
import { statusReplySchema } from '../../schemas/gateway/status-reply.ts';

const request = { amount: 100.5, currency: 'EUR', externalTransactionId: 'tx-1' };
const accepts = (schema: { safeParse(value: unknown): { success: boolean } }, value: unknown) =>
  schema.safeParse(value).success;

describe('a deposit request', () => {
  it.each([
    ['of the three fields that the sandbox asks for', {}],
    [
      'with every address',
      { callbackUrl: 'https://shop.example/cb', successRedirectUrl: 'http://127.0.0.1:9/x' },
    ],
    ['with addresses of null', { callbackUrl: null, failedRedirectUrl: null, processingRedirectUrl: null }],
    [
      'with additional fields, known and unknown',
      {
        additionalFields: [
          { key: 'type', value: 'card' },
          { key: 'x', value: '' },
        ],
      },
    ],
    ['with fields that the interface does not name', { extra: true }],
  ])('%s is accepted', (_name, more) => {
    expect(accepts(depositRequestSchema, { ...request, ...more })).toBe(true);
  });

  it.each([
    ['no amount', { amount: undefined }],
    ['an amount as text', { amount: '100' }],
    ['an amount of nothing', { amount: 0 }],
    ['an amount below nothing', { amount: -1 }],
    ['an amount of three decimals', { amount: 1.005 }],
    ['an amount of many decimals', { amount: 0.1 + 0.2 }],
    ['a currency in small letters', { currency: 'eur' }],
    ['a currency by its sign', { currency: '€' }],
    ['an empty merchant id', { externalTransactionId: '' }],
    ['a merchant id with a line end', { externalTransactionId: 'tx\n1' }],
    ['an address of another protocol', { callbackUrl: 'file:///etc/passwd' }],
    ['an address that is none', { callbackUrl: 'shop.example' }],
    ['an additional field without a value', { additionalFields: [{ key: 'type' }] }],
    ['an object of additional fields', { additionalFields: { type: 'card' } }],
  ])('with %s is refused', (_name, more) => {
    expect(accepts(depositRequestSchema, { ...request, ...more })).toBe(false);
  });

  it('takes every amount of whole cents', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1e14 }), (cents) => {
        expect(accepts(depositRequestSchema, { ...request, amount: cents / 100 })).toBe(true);
      }),
      { numRuns: 10_000 },
    );
  });

  it('takes no amount of tenths of cents up to a billion', () => {
    fc.assert(
      fc.property(fc.nat(1e12), fc.integer({ min: 1, max: 9 }), (cents, tenths) => {
        expect(accepts(depositRequestSchema, { ...request, amount: (cents * 10 + tenths) / 1000 })).toBe(
          false,
        );
      }),
      { numRuns: 10_000 },
    );
  });

  it('names every card field among the additional ones, and reads the last of a key that comes twice', () => {
    expect(ADDITIONAL_FIELD_KEYS).toEqual(expect.arrayContaining([...CARD_FIELD_KEYS]));
    const parsed = depositRequestSchema.parse({
      ...request,
      additionalFields: [
        { key: 'email', value: 'a@b.example' },
        { key: 'email', value: 'c@d.example' },
      ],
    });
    expect(additionalField(parsed, 'email')).toBe('c@d.example');
    expect(additionalField(parsed, 'type')).toBeUndefined();
  });
});

describe('a create response', () => {
  const created = { externalId: 'a', orderStatus: 'Processing' };
  const formUrl = 'https://pay.example/form/a';

  it('is one of three by its payment details', () => {
    const p2p = { ...created, paymentDetails: { card: '1', fio: 'A B', bank: 'C', formUrl } };
    const token = { ...created, paymentDetails: { formUrl } };
    const acquiring = { ...created, paymentDetails: { threeDsUrl: formUrl } };
    expect([p2p, token, acquiring].map((value) => accepts(p2pResponseSchema, value))).toEqual([
      true,
      false,
      false,
    ]);
    expect([p2p, token, acquiring].map((value) => accepts(tokenResponseSchema, value))).toEqual([
      true,
      true,
      false,
    ]);
    expect([p2p, token, acquiring].map((value) => accepts(acquiringResponseSchema, value))).toEqual([
      false,
      false,
      true,
    ]);
  });
});

describe('errors of the gateway', () => {
  it('are those of the interface with the statuses it gives them', () => {
    const listed = Object.entries(GATEWAY_ERRORS).slice(0, 9);
    expect(listed.map(([, { status, message }]) => `${status} ${message}`)).toEqual([
      '400 Validation error',
      '400 Validation error - token',
      '400 Payment already exist',
      '400 Limit was reached',
      '401 Unauthorized',
      '403 Forbidden - Endpoint',
      '403 Forbidden - IP address',
      '423 Temporary error',
      '500 Internal Server Error',
    ]);
    expect(accepts(gatewayErrorSchema, { code: 'UNAUTHORIZED', message: 'Unauthorized' })).toBe(true);
    expect(accepts(gatewayErrorSchema, { code: 'OTHER', message: '' })).toBe(false);
  });
});

describe('what the collector reads', () => {
  it('of a status reply leaves card data and tokens out', () => {
    const parsed = statusReplySchema.parse({
      externalId: 'a',
      orderStatus: 'Success',
      externalParams: { cardNumber: '411111******1111', cardStorageToken: 'token', cardHolder: 'A B' },
      paymentDetails: { card: '4111111111111111' },
    });
    expect(parsed).toEqual({ externalId: 'a', orderStatus: 'Success' });
  });

  it('of a callback leaves card data and tokens out', () => {
    const signed = { externalId: 'a', status: 'Success', amount: '1', orderType: 'Deposit', currency: 'EUR' };
    expect(callbackSchema.parse({ ...signed, externalParams: { cardToken: 'token' }, cvv: '123' })).toEqual(
      signed,
    );
  });

  it('knows a usual callback, and finds nothing usual that the schema would refuse', () => {
    const text = (most: number) =>
      fc.oneof(
        fc.constantFrom(
          'a',
          'a-1',
          '1.50',
          'Success',
          '',
          '..',
          'a;b',
          'a/../b',
          '-1.5',
          '1\n',
          'a'.repeat(most),
        ),
        fc.constant('1'.repeat(most + 1)),
        fc.string({ unit: 'binary' }),
      );
    const other = fc.constantFrom(null, undefined, 1, {}, ['a']);
    const callback = fc.record({
      externalId: fc.oneof(text(200), other),
      status: fc.oneof(text(64), other),
      amount: fc.oneof({ weight: 3, arbitrary: fc.constantFrom('1', '1.50', '1e3') }, text(64), other),
      orderType: fc.oneof(
        { weight: 3, arbitrary: fc.constantFrom('Deposit', 'Withdrawal') },
        text(10),
        other,
      ),
      currency: fc.oneof(text(16), other),
    });
    const signed = {
      externalId: 'a',
      status: 'Success',
      amount: '1.50',
      orderType: 'Deposit',
      currency: 'EUR',
    };
    expect(isUsualCallback(signed)).toBe(true);
    fc.assert(
      fc.property(fc.oneof(callback, fc.jsonValue()), (value) => {
        if (isUsualCallback(value)) expect(accepts(callbackSchema, value)).toBe(true);
      }),
      { numRuns: 5_000 },
    );
  });

  it('knows five types of callback', () => {
    expect(CALLBACK_TYPES).toHaveLength(5);
  });

  it('hashes each combination of signed fields to a text of its own, as none of them can hold a semicolon', () => {
    const fields = fc.record({
      externalId: fc.stringMatching(/^[a-z;]{1,5}$/),
      status: fc.stringMatching(/^[a-z;]{1,5}$/),
      amount: fc.constantFrom('1', '1.0', '10'),
      orderType: fc.constantFrom('Deposit', 'Withdrawal'),
    });
    fc.assert(
      fc.property(fields, fields, (one, other) => {
        const [first, second] = [callbackSchema.safeParse(one), callbackSchema.safeParse(other)];
        const both = first.success && second.success;
        const same = both && signatureBase(first.data, 'key') === signatureBase(second.data, 'key');
        expect(same).toBe(both && JSON.stringify(one) === JSON.stringify(other));
      }),
      { numRuns: 2_000 },
    );
  });
});
