import { createHmac } from 'node:crypto';
import type { Secret } from '../../schemas/secret.ts';

/** What stands in a row instead of a text that fits no grammar; equal for equal texts of one installation. */
export type Fingerprint = (text: string) => string;

const MAX_SHAPE = 24;

/**
 * `~<shape>:<length>:<16 hexadecimal digits of HMAC-SHA-256>`. Keyed, since the hash of a card number is found by trying
 * all of them.
 * @param key 256 random bits in hexadecimal, the installation's own
 */
export function createFingerprint(key: Secret): Fingerprint {
  const bytes = Buffer.from(key.reveal(), 'hex');
  return (text) => `${shapeOf(text)}:${createHmac('sha256', bytes).update(text).digest('hex').slice(0, 16)}`;
}

/**
 * `~<shape>:<length>`: what a text looks like, without any of it. Letters in a row are one `a`, digits one `9`, blanks one
 * blank, all else one `.`; so `4111.1111 ADA` is `~9.9 a:13`. The shape is cut at 24 characters.
 */
export function shapeOf(text: string): string {
  const shape = text.slice(0, 10 * MAX_SHAPE).replace(PARTS, (part) => {
    const first = part.charAt(0);
    if (/\d|\p{N}/u.test(part)) return '9';
    return /\s/.test(first) ? ' ' : /\p{L}|\p{M}/u.test(part) ? 'a' : '.';
  });
  return `~${shape.slice(0, MAX_SHAPE)}:${text.length}`;
}

const PARTS = /[\p{L}\p{M}]+|\p{N}+|\s+|[^\p{L}\p{M}\p{N}\s]+/gu;
