import * as fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import type { Examine } from '../../../collector/decode/callback.ts';
import { reduceCallback } from '../../../collector/decode/reduce.ts';
import { Secret } from '../../../schemas/secret.ts';
import { POLICY } from '../../support/fingerprint.ts';
import {
  amount,
  BODY,
  currency,
  KEY,
  orderType,
  receive,
  SEAL,
  sign,
  status,
  writtenCard,
  type Body,
} from './callback-fixtures.ts';

const OLDER_KEY = 'the-key-before-that-one-00000000';
const KEYS = [KEY, OLDER_KEY];
const options = (keepsCardLikeIds = false) => ({
  keys: KEYS.map((key) => new Secret(key)),
  seal: SEAL,
  keepsCardLikeIds,
});
const reduce = (body: string | Uint8Array, signatures: readonly string[], keeps = false) => {
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  const reduced = reduceCallback(bytes, signatures, options(keeps));
  const { bodyHash, bodySeal } = reduced;
  return { ...reduced, text: Buffer.from(reduced.body).toString('utf8'), sealed: { bodyHash, bodySeal } };
};
const odd = fc.oneof(
  fc.uuid(),
  status,
  writtenCard,
  fc.constantFrom('JOHN DOE', 'x;y', '', '4111.1111.1111.1111'),
);
const anyBody: fc.Arbitrary<Body> = fc.record({
  externalId: odd,
  status: fc.oneof(status, odd),
  amount: fc.oneof(amount, odd),
  orderType,
  currency: fc.oneof(currency, odd),
  externalParams: fc.jsonValue(),
  note: fc.string(),
});

describe('a callback reduced to what is signed or needed', () => {
  it('verifies under a key exactly when the whole does, and gives the same row but for hashes of hidden texts', () => {
    const signer = fc.constantFrom(KEY, OLDER_KEY, 'somebody else', null);
    fc.assert(
      fc.property(anyBody, signer, (body, key) => {
        const text = JSON.stringify(body);
        const signatures = key === null ? [] : [sign(body, key)];
        const whole = receive(text, signatures, KEYS);
        const reduced = reduce(text, signatures);
        const part = receive(reduced.text, reduced.signatures, KEYS, reduced.sealed);
        expect([part.row.body_seal, part.row.body_key]).toEqual([whole.row.body_seal, whole.row.body_key]);
        expect(part.verdict).toBe(whole.verdict);
        for (const field of ['external_id', 'status', 'amount', 'order_type', 'currency'] as const) {
          const plain = whole.row[field]?.replace(/:[0-9a-f]{16}$/, '') ?? null;
          expect(part.row[field]).toBe(whole.row[field]?.startsWith('~') === true ? plain : whole.row[field]);
        }
        expect(part.callback?.externalId).toBe(whole.callback?.externalId);
      }),
      { numRuns: 3_000 },
    );
  });

  it('holds the signed fields and the currency as they were sent, and no other text', () => {
    const full = JSON.stringify({
      ...BODY,
      externalParams: { cardHolder: 'ADA CANARY', cardToken: 'token-1' },
    });
    const { text, signatures, orderId } = reduce(full, [sign(BODY)]);
    const { externalId, status: name, amount: sum, currency: code, orderType: type } = BODY;
    expect(JSON.parse(text)).toEqual({
      externalId,
      status: name,
      amount: sum,
      orderType: type,
      currency: code,
    });
    expect(signatures).toEqual([sign(BODY)]);
    expect(orderId).toBe(BODY.externalId);
    fc.assert(
      fc.property(anyBody, fc.boolean(), (body, signed) => {
        const reduced = reduce(JSON.stringify(body), [signed ? sign(body) : 'ADA CANARY']);
        const value: unknown = reduced.text === '~' ? {} : JSON.parse(reduced.text);
        for (const one of Object.values(value as object)) {
          expect(one === '' || POLICY.fingerprint(one as string) !== one).toBe(true);
          expect(one).toMatch(
            /^(~[a9. ]{0,24}:\d{1,3}|\p{L}+|-?\d+(\.\d+)?|[\p{L}\p{N}_-][\p{L}\p{M}\p{N}._:/+=|#-]*)$/u,
          );
        }
        expect(reduced.signatures.join('')).toMatch(/^[0-9a-f]{64}$/);
      }),
      { numRuns: 2_000 },
    );
  });

  it('keeps the source text of an amount that is a JSON number', () => {
    const body = { ...BODY, amount: '12345678901.10' };
    const text = JSON.stringify(body).replace('"12345678901.10"', '12345678901.10');
    const reduced = reduce(text, [sign(body)]);
    expect(JSON.parse(reduced.text)).toMatchObject({ amount: '12345678901.10' });
    expect(reduced.signatures).toEqual([sign(body)]);
  });

  it('is as malformed as the whole, and shows nothing of it', () => {
    for (const body of [
      '',
      '4111111111111111',
      '{"externalId":"4111',
      '[]',
      JSON.stringify({ ...BODY, status: 'a;b' }),
    ]) {
      const { text, orderId } = reduce(body, ['x']);
      expect([text, orderId]).toEqual(['~', null]);
      expect(receive(text, ['x']).verdict).toBe('malformed');
    }
    const twice = reduce(JSON.stringify(BODY), ['4111', '4111']);
    expect(receive(twice.text, twice.signatures).verdict).toBe('malformed');
    expect(twice.signatures.join()).not.toContain('4111,');
  });

  it('leaves no signature of one that is blank', () => {
    expect(reduce(JSON.stringify(BODY), [' \t']).signatures).toEqual(['']);
    expect(reduce('', [' ', 'x']).signatures).toEqual(['', expect.stringMatching(/^[0-9a-f]{64}$/)]);
  });

  it('has no currency where the whole names none', () => {
    for (const currency of ['', null, undefined]) {
      const { text } = reduce(JSON.stringify({ ...BODY, currency }), [sign(BODY)]);
      expect(JSON.parse(text)).not.toHaveProperty('currency');
    }
  });

  it("keeps ids that could be card numbers where they are the gateway's own, and verify", () => {
    const body = { ...BODY, externalId: '4111111111111111' };
    const text = JSON.stringify(body);
    expect(reduce(text, [sign(body)], true).orderId).toBe(body.externalId);
    expect(reduce(text, [sign(body)], false).orderId).toBeNull();
    expect(reduce(text, ['f'.repeat(64)], true).text).not.toContain('4111');
  });

  it('has a hash that distinguishes whole bodies, and cannot be guessed from a body', () => {
    const one = reduce(JSON.stringify({ ...BODY, note: 1 }), []);
    const two = reduce(JSON.stringify({ ...BODY, note: 2 }), []);
    expect(one.text).toBe(two.text);
    expect(one.bodyHash).toMatch(/^[0-9a-f]{64}$/);
    expect(one.bodyHash).not.toBe(two.bodyHash);
    const hashOf = (bodyHash: string | null) => receive(one.text, [], [KEY], { bodyHash }).row.content_hash;
    expect(hashOf(one.bodyHash)).not.toEqual(hashOf(two.bodyHash));
    expect(hashOf(null)).toEqual(receive(one.text, []).row.content_hash);
    const other = { ...options(), seal: new Secret('another-token') };
    expect(reduceCallback(Buffer.from('a'), [], other).bodyHash).not.toBe(reduce('a', []).bodyHash);
  });

  it('names what was signed when it verifies, and the cause when it does not', () => {
    const body = Buffer.from(JSON.stringify(BODY));
    const { externalId, status: name, amount: sum, currency: code, orderType: type } = BODY;
    const callback = { externalId, status: name, amount: sum, orderType: type, currency: code };
    const examine = vi.fn<Examine>(() => 'header_doubled');
    const reduced = (signatures: readonly string[], asks = true) => {
      const { verified, signatureCause } = reduceCallback(body, signatures, {
        ...options(),
        ...(asks ? { examine } : {}),
      });
      return { verified, signatureCause };
    };
    const nothing = { verified: null, signatureCause: null };
    expect(reduced([sign(BODY)])).toEqual({ verified: callback, signatureCause: null });
    for (const signatures of [[], [' '], ['x', 'y']]) expect(reduced(signatures)).toEqual(nothing);
    expect(examine).not.toHaveBeenCalled();
    expect(reduced(['wrong'])).toEqual({ verified: null, signatureCause: 'header_doubled' });
    expect(examine.mock.calls).toEqual([[{ callback, signature: 'wrong', body }]]);
    expect(reduced(['wrong'], false)).toEqual({ verified: null, signatureCause: 'not_examined' });
  });

  it('does not verify with a second header, even if the first is right', () => {
    const { signatures, verified } = reduce(JSON.stringify(BODY), [sign(BODY), 'x']);
    expect(verified).toBeNull();
    expect(signatures).toHaveLength(2);
    expect(signatures).not.toContain(sign(BODY));
  });
});
