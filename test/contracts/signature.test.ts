import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { signatureBase } from '../../schemas/gateway/callback.ts';
import { BODY, KEY, receive } from '../collector/decode/callback-fixtures.ts';

// The worked example of the signature (interface document, section 6.3).
const SIGNATURE = '9ce5e776a8d73a461c51e31824490304ac191fc8f8743e9134253d2211e0a570';

describe('the signature of the worked example', () => {
  it('is taken over four fields and the key, joined by semicolons', () => {
    const callback = {
      externalId: '7d9f2c1e-4b7a-4d53-9a51-0c9f6a1b2c3d',
      status: 'Success',
      amount: '100.00',
      orderType: 'Deposit',
    } as const;
    const text = signatureBase(callback, KEY);
    expect(text).toBe(`7d9f2c1e-4b7a-4d53-9a51-0c9f6a1b2c3d;Success;100.00;Deposit;${KEY}`);
    expect(createHash('sha256').update(text).digest('hex')).toBe(SIGNATURE);
  });

  it('verifies', () => {
    expect(receive(BODY, SIGNATURE).verdict).toBe('valid');
  });

  it('does not verify for an amount that is the same number in other digits', () => {
    for (const amount of ['100', '100.0', '100.000', '0100.00', '100.01']) {
      expect(receive({ ...BODY, amount }, SIGNATURE).verdict).toBe('mismatch');
    }
  });

  it('verifies for an amount sent as a JSON number with the same source text', () => {
    const body = JSON.stringify(BODY).replace('"100.00"', '100.00');
    expect(body).toContain('"amount":100.00,');
    const { verdict, row } = receive(body, SIGNATURE);
    expect(verdict).toBe('valid');
    expect(row.amount).toBe('100.00');
  });
});
