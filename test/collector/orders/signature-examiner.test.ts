import { describe, expect, it } from 'vitest';
import { createSignatureExaminer, refilled } from '../../../collector/orders/signature-examiner.ts';
import { gatewayConfigSchema } from '../../../schemas/config.ts';
import type { WatchedOrder } from '../../../schemas/watch.ts';
import { BODY, KEY, sign } from '../decode/callback-fixtures.ts';

const OTHER_KEY = 'the-key-of-the-other-gateway-000';
const gatewayOf = (name: string, key: string) =>
  gatewayConfigSchema.parse({
    name,
    secureUrl: 'http://127.0.0.1:1',
    token: 'the-access-token-of-the-merchant',
    callbackKeys: [key],
  });
const acme = gatewayOf('acme', KEY);
const other = gatewayOf('other', OTHER_KEY);
const CALLBACK = { ...BODY, orderType: 'Deposit' } as const;

function examinerAt(now: { ms: number }, order?: Partial<WatchedOrder>, maxRemembered = 10) {
  return createSignatureExaminer({
    gateways: new Map([acme, other].map((gateway) => [gateway.name, gateway])),
    clock: { monotonicMs: () => now.ms },
    tracked: () => order as WatchedOrder | undefined,
    perSecond: 3,
    maxRemembered,
  });
}
const mismatch = (signature: string, changed: Partial<typeof CALLBACK> = {}) => ({
  callback: { ...CALLBACK, ...changed },
  signature,
  body: new Uint8Array(),
});

describe('the examiner of signatures', () => {
  it("knows other gateways' keys, the access token and what is known of the order", () => {
    const examiner = examinerAt({ ms: 0 }, { amount: '250', externalTransactionId: 'shop-17' });
    const causeOf = (signature: string) => examiner.examine(acme, mismatch(signature));
    expect(causeOf(sign(BODY, OTHER_KEY))).toBe('key_of_other_gateway');
    expect(causeOf(sign({ ...BODY, amount: '250.00' }))).toBe('amount_altered');
    expect(causeOf(sign({ ...BODY, externalId: 'shop-17' }))).toBe('transaction_id_signed');
  });

  it('examines so many a second for each gateway, and no more in a flood', () => {
    const now = { ms: 0 };
    const examiner = examinerAt(now);
    const causes = (count: number, gateway = acme): string[] =>
      Array.from({ length: count }, () => examiner.examine(gateway, mismatch('0'.repeat(64))));
    const [yes, no] = ['unexplained', 'not_examined'];
    expect(causes(5)).toEqual([yes, yes, yes, no, no]);
    expect(causes(1, other)).toEqual([yes]);
    now.ms += 400;
    expect(causes(2)).toEqual([yes, no]);
    now.ms += 3_600_000;
    expect(causes(5)).toEqual([yes, yes, yes, no, no]);
  });

  it('names the field that was changed under a signature that verified before', () => {
    const signature = sign(BODY);
    const examiner = examinerAt({ ms: 0 });
    const changes = [{ amount: '999.37' }, { externalId: 'another' }, { amount: '1.01', status: 'Odd' }];
    examiner.remember('acme', CALLBACK, signature);
    expect(
      changes.map((changed) => examiner.examine(acme, mismatch(` ${signature.toUpperCase()}`, changed))),
    ).toEqual(['amount_altered', 'external_id_altered', 'signature_reused']);
    expect(examiner.examine(other, mismatch(signature, { amount: '999.37' }))).toBe('unexplained');
  });

  it('remembers the newest signatures only', () => {
    const examiner = examinerAt({ ms: 0 }, undefined, 2);
    const ids = ['a', 'b', 'c'];
    for (const externalId of ids)
      examiner.remember('acme', { ...CALLBACK, externalId }, sign({ ...BODY, externalId }));
    const causes = ids.map((externalId) =>
      examiner.examine(acme, mismatch(sign({ ...BODY, externalId }), { externalId: 'another' })),
    );
    expect(causes).toEqual(['unexplained', 'external_id_altered', 'external_id_altered']);
  });
});

describe("a gateway's share of examinations", () => {
  it('is what it earned since, and never more than one second of it', () => {
    expect(refilled(undefined, 5, 20)).toEqual({ left: 20, atMs: 5 });
    expect(refilled({ left: 0, atMs: 0 }, 100, 20)).toEqual({ left: 2, atMs: 100 });
    expect(refilled({ left: 19, atMs: 0 }, 9_000, 20)).toEqual({ left: 20, atMs: 9_000 });
    expect(refilled({ left: 1, atMs: 50 }, 0, 20)).toEqual({ left: 1, atMs: 0 });
  });
});
