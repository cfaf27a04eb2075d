import { describe, expect, it } from 'vitest';
import { mainEndpoint, p2pEndpoint } from '../../sandbox/options.ts';
import {
  acquiringResponseSchema,
  p2pResponseSchema,
  tokenResponseSchema,
} from '../../schemas/gateway/deposit-response.ts';
import { gatewayErrorSchema } from '../../schemas/gateway/error.ts';
import type { FullStatusReply } from '../../schemas/gateway/status-reply.ts';
import { call, create, deposit, PATH, sandboxWithClock, status, type Answer } from './support.ts';

const field = (key: string, value: string) => ({ key, value });
const CARD = [
  field('type', 'card'),
  field('cardNumber', '4111111111111111'),
  field('cardHolder', 'ADA BERG'),
  field('cardCvv', '123'),
  field('cardExpireMonth', '12'),
  field('cardExpireYear', '39'),
];

/** An error reply as it should be: JSON in the sandbox's own shape. */
function errorOf(answer: Answer): { status: number; code: string } {
  expect(answer.headers.get('content-type')).toContain('application/json');
  return { status: answer.status, code: gatewayErrorSchema.parse(answer.json).code };
}

describe('creating a deposit (sections 4.1 and 2.2)', () => {
  it('answers an acquiring endpoint with a link for 3DS authentication', async () => {
    await using rig = await sandboxWithClock();
    const answer = await create(rig.sandbox, deposit('a-1'));
    expect(answer.status).toBe(200);
    const reply = acquiringResponseSchema.parse(answer.json);
    expect(reply.orderStatus).toBe('Processing');
    const page = await call('GET', reply.paymentDetails.threeDsUrl);
    expect(page.text).toContain(reply.externalId);
  });

  it('answers a P2P endpoint with payment details and a filled-in form', async () => {
    await using rig = await sandboxWithClock();
    const answer = await create(rig.sandbox, deposit('p-1'), rig.sandbox.tokens['p2p']);
    const reply = p2pResponseSchema.parse(answer.json);
    expect(reply.externalId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(reply.paymentDetails.card).toMatch(/^\d{16}$/);
    expect((await call('GET', reply.paymentDetails.formUrl)).status).toBe(200);
  });

  it('takes every field of section 2.1, with and without the trailing slash', async () => {
    await using rig = await sandboxWithClock();
    const { sandbox } = rig;
    const body = deposit('full', {
      amount: 99.99,
      callbackUrl: 'https://merchant.example/cb',
      successRedirectUrl: 'https://merchant.example/ok',
      failedRedirectUrl: 'https://merchant.example/no',
      processingRedirectUrl: 'https://merchant.example/wait',
      additionalFields: [
        field('payeerIdentifier', 'p-9'),
        field('email', 'p9@example.com'),
        field('somethingElse', 'x'),
      ],
    });
    expect((await create(sandbox, body)).status).toBe(200);
    expect(
      (await call('POST', `${sandbox.secureUrl}${PATH}`, { token: sandbox.token, body: deposit('bare') }))
        .status,
    ).toBe(200);
    expect(sandbox.orders().map(({ finalAmount }) => finalAmount)).toEqual([99.99, 100]);
  });

  it('takes card details only from a merchant that holds PCI DSS, and keeps nothing but the mask', async () => {
    await using rig = await sandboxWithClock();
    const { sandbox, clock } = rig;
    const body = deposit('card', { additionalFields: CARD });
    expect(errorOf(await create(sandbox, body, sandbox.tokens['p2p'], sandbox.payformUrl))).toEqual({
      status: 403,
      code: 'FORBIDDEN_ENDPOINT',
    });
    expect(errorOf(await create(sandbox, body, sandbox.tokens['p2p']))).toEqual({
      status: 403,
      code: 'FORBIDDEN_ENDPOINT',
    });
    const answer = await create(sandbox, body, sandbox.token, sandbox.payformUrl);
    const { externalId } = acquiringResponseSchema.parse(answer.json);
    clock.advance(800_000);
    const reply = await status(sandbox, externalId);
    expect(reply.text).not.toContain('4111111111111111');
    expect(JSON.stringify(sandbox.orders())).not.toContain('411111');
    expect((reply.json as FullStatusReply).externalParams).toMatchObject({
      cardNumber: '411111******1111',
      cardHolder: 'ADA BERG',
    });
  });

  it('names each wrong card field without repeating its value', async () => {
    await using rig = await sandboxWithClock();
    const additionalFields = [
      field('cardNumber', '4111x111'),
      field('cardHolder', 'ADA BERG'),
      field('cardCvv', '98765'),
    ];
    const answer = await create(
      rig.sandbox,
      deposit('bad-card', { additionalFields }),
      rig.sandbox.token,
      rig.sandbox.payformUrl,
    );
    expect(errorOf(answer)).toEqual({ status: 400, code: 'VALIDATION_ERROR' });
    const fields = gatewayErrorSchema.parse(answer.json).problems?.map((problem) => problem.field);
    expect(fields).toEqual(
      ['cardNumber', 'cardCvv', 'cardExpireMonth', 'cardExpireYear'].map((key) => `additionalFields.${key}`),
    );
    expect(answer.text).not.toMatch(/4111x111|98765/);
  });
});

describe('creating a deposit with a stored card (section 4.2)', () => {
  it('accepts a token once the first payment has succeeded, and answers with a form', async () => {
    await using rig = await sandboxWithClock();
    const { sandbox, clock } = rig;
    let paid: FullStatusReply | undefined;
    for (let i = 0; !paid && i < 20; i++) {
      const { externalId } = acquiringResponseSchema.parse(
        (await create(sandbox, deposit(`first-${i}`))).json,
      );
      const before = (await status(sandbox, externalId)).json as FullStatusReply;
      expect(before.externalParams.cardStorageToken).toBeNull();
      clock.advance(3_600_000 / 4);
      const reply = (await status(sandbox, externalId)).json as FullStatusReply;
      const success = reply.orderStatus === 'Success';
      expect(reply.externalParams.cardStorageToken !== null).toBe(success);
      if (success) paid = reply;
    }
    const token = paid?.externalParams.cardStorageToken ?? '';
    expect(token).not.toBe('');
    const again = deposit('again', {
      additionalFields: [field('cardStorageToken', token), field('email', 'a@example.com')],
    });
    const answer = await create(sandbox, again, sandbox.token, sandbox.tokenUrl);
    expect(answer.status).toBe(200);
    const reply = tokenResponseSchema.parse(answer.json);
    expect(Object.keys(reply.paymentDetails)).toEqual(['formUrl']);
    clock.advance(3_600_000 / 4);
    const stored = (await status(sandbox, reply.externalId)).json as FullStatusReply;
    expect(stored.externalParams.cardNumber).toBe(paid?.externalParams.cardNumber);
  });

  it('answers "validation error - token" for no token, an unknown one and one not issued yet', async () => {
    await using rig = await sandboxWithClock();
    const { sandbox } = rig;
    const post = (additionalFields: object[]) =>
      create(sandbox, deposit('t', { additionalFields }), sandbox.token, sandbox.tokenUrl);
    expect(errorOf(await post([]))).toEqual({ status: 400, code: 'VALIDATION_ERROR_TOKEN' });
    expect(errorOf(await post([field('cardStorageToken', 'cst_unknown')]))).toEqual({
      status: 400,
      code: 'VALIDATION_ERROR_TOKEN',
    });
    expect(sandbox.orders()).toEqual([]);
  });
});

describe('errors of the create methods (sections 5 and 7)', () => {
  it('answers 400 to a body that does not hold what is needed', async () => {
    await using rig = await sandboxWithClock();
    const { sandbox } = rig;
    const bad = [
      {},
      [],
      null,
      deposit('x', { amount: '100' }),
      deposit('x', { amount: 0 }),
      deposit('x', { amount: -1 }),
      deposit('x', { amount: 1.005 }),
      deposit('x', { currency: 'euro' }),
      deposit(''),
      deposit('x', { callbackUrl: 'ftp://merchant.example' }),
      deposit('x', { additionalFields: [{ key: 'type' }] }),
    ];
    for (const body of bad)
      expect(errorOf(await create(sandbox, body))).toEqual({ status: 400, code: 'VALIDATION_ERROR' });
    const url = `${sandbox.secureUrl}${PATH}/`;
    expect(errorOf(await call('POST', url, { token: sandbox.token, raw: '{"amount":' }))).toEqual({
      status: 400,
      code: 'VALIDATION_ERROR',
    });
    const headers = { 'content-type': 'text/plain' };
    expect(errorOf(await call('POST', url, { token: sandbox.token, raw: '{}', headers }))).toEqual({
      status: 400,
      code: 'VALIDATION_ERROR',
    });
    expect(errorOf(await call('POST', url, { token: sandbox.token }))).toEqual({
      status: 400,
      code: 'VALIDATION_ERROR',
    });
    expect(
      errorOf(await call('POST', url, { token: sandbox.token, raw: `"${'x'.repeat(300_000)}"` })),
    ).toEqual({ status: 413, code: 'TOO_LARGE' });
    expect(sandbox.orders()).toEqual([]);
  });

  it('answers "payment already exist" to an id it has seen', async () => {
    await using rig = await sandboxWithClock();
    expect((await create(rig.sandbox, deposit('twice'))).status).toBe(200);
    expect(errorOf(await create(rig.sandbox, deposit('twice', { amount: 5 })))).toEqual({
      status: 400,
      code: 'PAYMENT_ALREADY_EXISTS',
    });
    expect(rig.sandbox.orders()).toHaveLength(1);
  });

  it('answers "limit was reached" above the endpoint\'s largest amount', async () => {
    await using rig = await sandboxWithClock({ endpoints: [{ ...mainEndpoint('t'), maxAmount: 50 }] });
    expect(errorOf(await create(rig.sandbox, deposit('much')))).toEqual({
      status: 400,
      code: 'LIMIT_REACHED',
    });
    expect((await create(rig.sandbox, deposit('just', { amount: 50 }))).status).toBe(200);
  });

  it('answers 401 without a token, with a wrong one and with another scheme', async () => {
    await using rig = await sandboxWithClock();
    const url = `${rig.sandbox.secureUrl}${PATH}/`;
    const body = deposit('x');
    expect(errorOf(await call('POST', url, { token: null, body }))).toEqual({
      status: 401,
      code: 'UNAUTHORIZED',
    });
    expect(errorOf(await call('POST', url, { token: 'wrong', body }))).toEqual({
      status: 401,
      code: 'UNAUTHORIZED',
    });
    expect(
      errorOf(await call('POST', url, { headers: { authorization: `Basic ${rig.sandbox.token}` }, body })),
    ).toEqual({ status: 401, code: 'UNAUTHORIZED' });
    // The caller's rights are judged before the body.
    expect(errorOf(await call('POST', url, { raw: '{broken' }))).toEqual({
      status: 401,
      code: 'UNAUTHORIZED',
    });
  });

  it('answers 403 for a method the endpoint does not have, and for an address it does not allow', async () => {
    const strange = { ...mainEndpoint('elsewhere'), name: 'elsewhere', allowedIps: ['203.0.113.7'] };
    const reader = { ...mainEndpoint('reader'), name: 'reader', secure: null };
    await using rig = await sandboxWithClock({ endpoints: [p2pEndpoint('p'), strange, reader] });
    const { sandbox } = rig;
    expect(errorOf(await create(sandbox, deposit('x'), 'p', sandbox.tokenUrl))).toEqual({
      status: 403,
      code: 'FORBIDDEN_ENDPOINT',
    });
    expect(errorOf(await create(sandbox, deposit('x'), 'reader'))).toEqual({
      status: 403,
      code: 'FORBIDDEN_ENDPOINT',
    });
    expect(errorOf(await create(sandbox, deposit('x'), 'elsewhere'))).toEqual({
      status: 403,
      code: 'FORBIDDEN_IP',
    });
    expect(errorOf(await status(sandbox, 'x', 'elsewhere'))).toEqual({ status: 403, code: 'FORBIDDEN_IP' });
  });

  it('answers 423 when it holds as many unfinished orders as it can, and makes room from settled ones', async () => {
    await using rig = await sandboxWithClock({ maxOrders: 2 });
    const { sandbox, clock } = rig;
    await create(sandbox, deposit('one'));
    await create(sandbox, deposit('two'));
    expect(errorOf(await create(sandbox, deposit('three')))).toEqual({
      status: 423,
      code: 'TEMPORARY_ERROR',
    });
    clock.advance(800_000);
    expect((await create(sandbox, deposit('three'))).status).toBe(200);
    expect(sandbox.orders()).toHaveLength(2);
  });
});
