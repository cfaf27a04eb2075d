import { timingSafeEqual } from 'node:crypto';
import { signatureBase, type SignedFields } from '../../schemas/gateway/callback.ts';
import type { Verdict } from '../../schemas/rows.ts';
import type { Secret } from '../../schemas/secret.ts';
import { sha256Bytes } from './ids.ts';

const SHA256_HEX = /^[0-9a-f]{64}$/i;

/**
 * Verifies a callback's signature (interface document, section 6.3): hexadecimal SHA-256 over
 * `externalId;status;amount;orderType;<PRIVATE_KEY>`. `keys` are newest first, so that a key change can
 * overlap.
 */
export function verifySignature(
  callback: SignedFields,
  signature: string,
  keys: readonly Secret[],
): Extract<Verdict, 'valid' | 'valid_previous_key' | 'mismatch'> {
  const given = signature.trim();
  if (!SHA256_HEX.test(given)) return 'mismatch';
  const wanted = Buffer.from(given, 'hex');
  // Every key is tried, so that the time taken does not show which one matched.
  const matches = keys.map((key) => timingSafeEqual(digest(callback, key), wanted));
  const index = matches.indexOf(true);
  if (index === -1) return 'mismatch';
  return index === 0 ? 'valid' : 'valid_previous_key';
}

function digest(callback: SignedFields, key: Secret): Uint8Array {
  return sha256Bytes(signatureBase(callback, key.reveal()));
}
