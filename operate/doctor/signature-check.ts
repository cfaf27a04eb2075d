import { verifySignature } from '../../collector/decode/signature.ts';
import { Secret } from '../../schemas/secret.ts';
import { fail, ok, type Check } from './check.ts';

/** The worked example: what a callback's signature must come out as (interface document, section 6.3). */
const EXAMPLE = {
  callback: {
    externalId: '7d9f2c1e-4b7a-4d53-9a51-0c9f6a1b2c3d',
    status: 'Success',
    amount: '100.00',
    orderType: 'Deposit',
  },
  key: '0123456789abcdef0123456789abcdef',
  signature: '9ce5e776a8d73a461c51e31824490304ac191fc8f8743e9134253d2211e0a570',
} as const;

/**
 * Signatures are computed right, and a change is noticed: then a mismatch of yours is about the key or the
 * sender.
 */
export function signatureCheck(): Check {
  const name = 'signatures';
  return {
    name,
    async run() {
      const keys = [new Secret(EXAMPLE.key)];
      const right = verifySignature(EXAMPLE.callback, EXAMPLE.signature, keys);
      const changed = verifySignature({ ...EXAMPLE.callback, amount: '100.0' }, EXAMPLE.signature, keys);
      if (right === 'valid' && changed === 'mismatch') return [ok(name, 'The worked example verifies.')];
      return [
        fail(name, 'The worked example does not verify.', 'This installation is broken: install it again.'),
      ];
    },
  };
}
