import { describe, expect, it } from 'vitest';
import { sealOf } from '../../../collector/decode/seal.ts';
import { Secret } from '../../../schemas/secret.ts';

describe('the seal of a token', () => {
  it('gives the same for the same content, and another for another', () => {
    const seal = sealOf(new Secret('a-token'));
    expect(seal.of('a body')).toMatch(/^[0-9a-f]{64}$/);
    expect(sealOf(new Secret('a-token')).of(Buffer.from('a body'))).toBe(seal.of('a body'));
    expect(seal.of('another body')).not.toBe(seal.of('a body'));
  });

  it('is another one, by its id too, once the token is renewed in its place', () => {
    const token = new Secret('a-token');
    const before = sealOf(token);
    expect(sealOf(token)).toBe(before);
    token.renew(new Secret('the-next-token'));
    const after = sealOf(token);
    expect(after.id).not.toBe(before.id);
    expect(after.of('a body')).not.toBe(before.of('a body'));
    expect(after.id).toBe(sealOf(new Secret('the-next-token')).id);
  });
});
