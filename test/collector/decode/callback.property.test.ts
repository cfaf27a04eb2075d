import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readAmount } from '../../../collector/decode/amount.ts';
import { storedId, storedStatus } from '../../../collector/decode/grammar.ts';
import { canonicalId } from '../../../schemas/order-id.ts';
import { fingerprint, POLICY } from '../../support/fingerprint.ts';
import {
  amount,
  currency,
  externalId,
  KEY,
  orderType,
  privateKey,
  receive,
  sign,
  signedBody,
  status,
  type Body,
} from './callback-fixtures.ts';

const field = { externalId, status, amount, orderType };
const hash = (body: Uint8Array, signed: readonly string[]) =>
  Buffer.from(receive(body, signed).row.content_hash).toString('hex');
/** One signed field's name with a value for it. */
const change = fc.oneof(
  ...Object.entries(field).map(([name, values]) => values.map((value): Partial<Body> => ({ [name]: value }))),
);

describe('a callback, for any content', () => {
  it('verifies when it was signed as the interface says, and its row holds the signed fields as sent, or their fingerprints', () => {
    fc.assert(
      fc.property(signedBody, privateKey, (body, key) => {
        const { row, verdict, callback } = receive(body, sign(body, key), [key]);
        expect(verdict).toBe('valid');
        expect(row).toMatchObject({
          external_id: canonicalId(storedId('external-id', body.externalId, POLICY)),
          status: storedStatus(body.status, fingerprint),
          amount: readAmount(body.amount, null).text,
          order_type: body.orderType,
          currency: body['currency'],
        });
        const isKept = row.external_id === canonicalId(body.externalId);
        expect(callback?.externalId).toBe(isKept ? row.external_id : undefined);
      }),
      { numRuns: 1_000 },
    );
  });

  it('does not verify once a signed field has changed', () => {
    fc.assert(
      fc.property(signedBody, change, (body, changed) => {
        const tampered: Body = { ...body, ...changed };
        fc.pre(Object.keys(field).some((name) => tampered[name] !== body[name]));
        expect(receive(tampered, sign(body)).verdict).toBe('mismatch');
      }),
      { numRuns: 1_000 },
    );
  });

  it('does not verify under another key', () => {
    fc.assert(
      fc.property(signedBody, privateKey, privateKey, (body, key, other) => {
        fc.pre(key !== other);
        expect(receive(body, sign(body, key), [other]).verdict).toBe('mismatch');
      }),
    );
  });

  it('still verifies when an unsigned field has changed: currency and externalParams are not authenticated', () => {
    const params = fc.option(fc.dictionary(fc.string(), fc.jsonValue()), { nil: undefined });
    fc.assert(
      fc.property(signedBody, currency, params, (body, other, externalParams) => {
        expect(receive({ ...body, currency: other, externalParams }, sign(body)).verdict).toBe('valid');
      }),
    );
  });

  it('verifies under each configured key, and distinguishes the newest from an older one', () => {
    const keys = fc.uniqueArray(privateKey, { minLength: 2, maxLength: 4 });
    fc.assert(
      fc.property(signedBody, keys, fc.nat(3), (body, configured, pick) => {
        const index = pick % configured.length;
        const { verdict } = receive(body, sign(body, configured[index]), configured);
        expect(verdict).toBe(index === 0 ? 'valid' : 'valid_previous_key');
      }),
    );
  });

  it('verifies whatever the case of the hexadecimal digits and with blanks around them', () => {
    fc.assert(
      fc.property(signedBody, fc.constantFrom('', ' ', '\t', '  '), (body, blanks) => {
        const signature = sign(body);
        expect(receive(body, `${blanks}${signature.toUpperCase()}${blanks}`).verdict).toBe('valid');
        const mixed = Array.from(signature, (digit, at) => (at % 2 ? digit.toUpperCase() : digit)).join('');
        expect(receive(body, mixed).verdict).toBe('valid');
      }),
    );
  });

  it('does not verify with a single hexadecimal digit changed, missing or added', () => {
    const digit = fc.constantFrom(...'0123456789abcdef');
    fc.assert(
      fc.property(signedBody, fc.nat(63), digit, (body, at, other) => {
        const signature = sign(body);
        const without = signature.slice(0, at) + signature.slice(at + 1);
        expect(receive(body, without).verdict).toBe('mismatch');
        expect(receive(body, signature + other).verdict).toBe('mismatch');
        fc.pre(signature[at] !== other);
        expect(receive(body, signature.slice(0, at) + other + signature.slice(at + 1)).verdict).toBe(
          'mismatch',
        );
      }),
    );
  });

  it('is malformed when a semicolon could move text between the signed fields', () => {
    fc.assert(
      fc.property(signedBody, fc.constantFrom('externalId', 'status'), fc.string(), (body, name, text) => {
        const shifted: Body = { ...body, [name]: `${String(body[name])};${text}`.slice(0, 60) };
        fc.pre(String(shifted[name]).includes(';'));
        // The hash would match: that is why the fields' grammar is checked before hashing.
        const { verdict, callback, row } = receive(shifted, sign(shifted));
        expect(verdict).toBe('malformed');
        expect(callback).toBeNull();
        expect(row.external_id).toBeNull();
      }),
    );
  });
});

describe('a callback, for any bytes', () => {
  const signature = fc.oneof(fc.string(), fc.stringMatching(/^[0-9a-f]{64}$/));
  const signatures = fc.array(signature, { maxLength: 3 });

  it('gives a row with a verdict and a problem', () => {
    const names = fc.constantFrom('externalId', 'status', 'amount', 'orderType', 'currency', '__proto__');
    const body = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc.json(),
      fc.dictionary(names, fc.jsonValue()).map((value) => JSON.stringify(value)),
    );
    fc.assert(
      fc.property(body, signatures, (sent, signed) => {
        const { row, verdict } = receive(sent, signed);
        expect(row.verdict).toBe(verdict);
        expect(verdict).not.toMatch(/^valid/);
        expect(row.problem).not.toBe('');
        expect(row.content_hash).toHaveLength(32);
      }),
      { numRuns: 2_000 },
    );
  });

  it('gives a malformed row for every cut of a true body', () => {
    fc.assert(
      fc.property(signedBody, fc.nat(), (body, at) => {
        const bytes = new TextEncoder().encode(JSON.stringify(body));
        const { verdict } = receive(bytes.subarray(0, at % bytes.length), sign(body));
        expect(verdict).toBe('malformed');
      }),
    );
  });

  it('gives the same content hash for the same body and signature only', () => {
    const delivery = fc.tuple(
      fc.uint8Array({ maxLength: 4 }),
      fc.array(fc.string({ maxLength: 3 }), { maxLength: 3 }),
    );
    fc.assert(
      fc.property(delivery, delivery, ([one, oneSigned], [other, otherSigned]) => {
        const same =
          Buffer.compare(one, other) === 0 && JSON.stringify(oneSigned) === JSON.stringify(otherSigned);
        expect(hash(one, oneSigned) === hash(other, otherSigned)).toBe(same);
        expect(hash(one, oneSigned)).toBe(hash(one.slice(), oneSigned));
      }),
      { numRuns: 2_000 },
    );
  });

  it('keeps the key out of every row', () => {
    fc.assert(
      fc.property(signedBody, fc.boolean(), (body, valid) => {
        const { row } = receive(body, valid ? sign(body) : 'f'.repeat(64));
        expect(JSON.stringify(row)).not.toContain(KEY);
      }),
    );
  });
});
