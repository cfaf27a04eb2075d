import { createFingerprint } from '../../collector/decode/fingerprint.ts';
import type { TextPolicy } from '../../collector/decode/grammar.ts';
import { Secret } from '../../schemas/secret.ts';

/** A key as the store keeps one, and the same in every test. */
export const FINGERPRINT_KEY = new Secret('5a'.repeat(32));
export const fingerprint = createFingerprint(FINGERPRINT_KEY);
export const POLICY: TextPolicy = { fingerprint, keepsCardLikeIds: false };
