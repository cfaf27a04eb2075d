import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import type { Secret } from '../../schemas/secret.ts';

/**
 * Stands for what must be distinguished and not be guessed, such as a callback's whole body: HMAC-SHA-256
 * under a gateway's token.
 */
export interface Seal {
  /** Distinguishes the seals of two tokens, 1 to 65,535: what they made cannot be compared. */
  readonly id: number;
  /** 64 hexadecimal digits, equal for equal contents. */
  of(content: Uint8Array | string): string;
}

interface Kept {
  readonly token: string;
  readonly seal: Seal;
}

const kept = new WeakMap<Secret, Kept>();

/** The seal of a token as it is now: tokens are renewed in their place. */
export function sealOf(token: Secret): Seal {
  const known = kept.get(token);
  if (known?.token === token.reveal()) return known.seal;
  const seal = createSeal(token);
  kept.set(token, { token: token.reveal(), seal });
  return seal;
}

function createSeal(token: Secret): Seal {
  // As an object: handed over as text, the key costs more than the hash.
  const key = createSecretKey(Buffer.from(token.reveal()));
  return {
    id: 1 + (mac(key, 'seal').digest().readUInt16BE() % 65_535),
    of: (content) => mac(key, content).digest('hex'),
  };
}

function mac(key: KeyObject, content: Uint8Array | string) {
  return createHmac('sha256', key).update(content);
}
