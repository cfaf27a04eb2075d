import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nameCause } from '../../../collector/decode/signature-cause.ts';
import { decodeCallback } from '../../../collector/decode/callback.ts';
import { reduceCallback } from '../../../collector/decode/reduce.ts';
import { Secret } from '../../../schemas/secret.ts';
import { isSignatureCause, type SignatureCause } from '../../../schemas/signature-causes.ts';
import { POLICY } from '../../support/fingerprint.ts';
import { receive, sign } from './callback-fixtures.ts';
import { genuine, MUTATIONS, OTHER_KEY, TOKEN } from './signature-mutations.ts';

const RUNS = 100;

describe('a callback that was signed by other rules', () => {
  for (const [cause, ways] of Object.entries(MUTATIONS)) {
    it(`is never accepted, and has the cause ${cause}`, () => {
      fc.assert(
        fc.property(genuine, fc.nat(), (one, pick) => {
          const way = ways[pick % ways.length];
          if (way === undefined) return;
          const { body, signature } = way(one);
          const delivery = {
            gateway: 'acme-eu',
            body: Buffer.from(JSON.stringify(body)),
            signatures: [signature],
            deliveryId: 'one',
            receivedAt: 1,
            source: 'http',
            coordinates: null,
          } as const;
          const keys = [new Secret(one.key)];
          const secrets = { keys, seal: new Secret(TOKEN) };
          const examine = (mismatch: Parameters<typeof nameCause>[0]): SignatureCause =>
            nameCause(mismatch, {
              keys,
              token: new Secret(TOKEN),
              otherKeys: [new Secret(OTHER_KEY)],
              known: null,
            });
          const decoded = decodeCallback(delivery, secrets, POLICY, examine);
          expect(decoded.verdict).toBe('mismatch');
          expect(decoded.row.verdict).toBe(decodeCallback(delivery, secrets, POLICY).row.verdict);
          expect(decoded.row.signature_cause).toBe(cause);
          const reduced = reduceCallback(delivery.body, [signature], {
            ...secrets,
            keepsCardLikeIds: false,
            examine,
          });
          expect(reduced.signatureCause).toBe(cause);
          expect(reduced.signatures).not.toContain(signature);
          expect(reduced.verified).toBeNull();
        }),
        { numRuns: RUNS },
      );
    });
  }

  it('has the cause hmac also when its base64 begins with 0x', () => {
    const callback = {
      externalId: '73267059-ce91-563a-97ec-1bedaf59e67f',
      status: 'Created',
      amount: '5127957.81',
      orderType: 'Withdrawal',
    } as const;
    const key = '322ec4cdCCDBcdaea72ef349f1ab8940c33b1c580';
    const [, base64] = MUTATIONS.hmac ?? [];
    const { signature = '' } = base64?.({ body: callback, key, hundredths: 512_795_781 }) ?? {};
    expect(signature).toMatch(/^0X/);
    const mismatch = { callback, signature, body: new Uint8Array() };
    const hints = { keys: [new Secret(key)], token: null, otherKeys: [], known: null };
    expect(nameCause(mismatch, hints)).toBe('hmac');
  });

  it('has no cause when it is signed by the rules: nobody is asked', () => {
    fc.assert(
      fc.property(genuine, ({ body, key }) => {
        const decoded = receive(body, sign(body, key), [key]);
        expect([decoded.verdict, decoded.row.signature_cause]).toEqual(['valid', 'none']);
      }),
    );
  });

  it('may have any header and any text: examining it never fails and never accepts', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), genuine, (signature, { body, key }) => {
        const cause = nameCause(
          { callback: { ...body, orderType: 'Deposit' }, signature, body: new Uint8Array() },
          {
            keys: [new Secret(key)],
            token: null,
            otherKeys: [],
            known: { amount: '1', externalTransactionId: 'x' },
          },
        );
        expect(isSignatureCause(cause)).toBe(true);
      }),
    );
  });
});
