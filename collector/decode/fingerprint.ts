import { createHmac, createSecretKey } from 'node:crypto';
import type { Secret } from '../../schemas/secret.ts';
import { shapeOf } from '../../schemas/shape.ts';

/** What stands in a row instead of a text that fits no grammar; equal for equal texts of one installation. */
export type Fingerprint = (text: string) => string;

/**
 * `~<shape>:<length>:<16 hexadecimal digits of HMAC-SHA-256>`. Keyed, since the hash of a card number is
 * found by trying all of them.
 * @param key 256 random bits in hexadecimal, the installation's own
 */
export function createFingerprint(key: Secret): Fingerprint {
  // As an object: handed over as bytes, the key costs six times as much as the hash.
  const secret = createSecretKey(key.reveal(), 'hex');
  return (text) => `${shapeOf(text)}:${createHmac('sha256', secret).update(text).digest('hex').slice(0, 16)}`;
}
