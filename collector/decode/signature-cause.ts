import { hash, timingSafeEqual } from 'node:crypto';
import { signatureBase, type Callback } from '../../schemas/gateway/callback.ts';
import type { Secret } from '../../schemas/secret.ts';
import type { SignatureCause } from '../../schemas/signature-causes.ts';
import { readSignatureHeader, type MeantSignature } from './signature-header.ts';
import { otherDigests, textVariants, type KnownOrder } from './signature-variants.ts';

/** A callback whose verdict is `mismatch`. */
export interface Mismatch {
  readonly callback: Callback;
  /** The one `Signature` header, as it came. */
  readonly signature: string;
  readonly body: Uint8Array;
}

/** What the gateway may have signed with or about, all of it known already. */
export interface CauseHints {
  /** The gateway's own, newest first. */
  readonly keys: readonly Secret[];
  /** Its access token. */
  readonly token: Secret | null;
  /** Keys of other gateways. */
  readonly otherKeys: readonly Secret[];
  readonly known: KnownOrder | null;
}

/** Variants are tried under so many of the gateway's keys, and so many keys of other gateways are tried. */
const MAX_OWN_KEYS = 2;
const MAX_OTHER_KEYS = 20;

/**
 * Why a signature does not verify: the first variant of text, key, method or header under which it would.
 * It decides nothing: whoever asks has given the verdict `mismatch`, and keeps it. Every variant is tried and
 * compared in constant time, so that the time taken shows neither a cause nor a part of a hash. Some 150
 * hashes a key, for two keys at most.
 */
export function nameCause({ callback, signature, body }: Mismatch, hints: CauseHints): SignatureCause {
  const meant = readSignatureHeader(signature);
  if (meant === null) return 'header_no_hash';
  const { keys, token, otherKeys, known } = hints;
  const isMeant = comparison(meant);
  const found: (SignatureCause | null)[] = [];
  const tryDigest = (cause: SignatureCause | null, digest: string): void => {
    if (isMeant(digest)) found.push(cause ?? meant.form);
  };
  for (const [index, secret] of keys.entries()) {
    const key = secret.reveal();
    // The form of the header is looked at under every key; the rest under those that are in use.
    const variants =
      index < MAX_OWN_KEYS
        ? textVariants(callback, key, known)
        : [[null, signatureBase(callback, key)] as const];
    for (const [cause, text] of variants) tryDigest(cause, hash('sha256', text, 'hex'));
    if (index >= MAX_OWN_KEYS) continue;
    for (const [cause, digest] of otherDigests(callback, key, body)) tryDigest(cause, digest);
  }
  for (const secret of otherKeys.slice(0, MAX_OTHER_KEYS))
    tryDigest('key_of_other_gateway', hash('sha256', signatureBase(callback, secret.reveal()), 'hex'));
  if (token !== null)
    tryDigest('bearer_token_as_key', hash('sha256', signatureBase(callback, token.reveal()), 'hex'));
  return found.find((cause) => cause !== null) ?? 'unexplained';
}

/** Compares a digest's digits with those meant: all, or with a cut header its beginning or its end. */
function comparison({ digits }: MeantSignature): (digest: string) => boolean {
  const wanted = Buffer.from(digits, 'latin1');
  const { byteLength } = wanted;
  const scratch = Buffer.alloc(MAX_DIGITS);
  return (digest) => {
    // A hash of another length is only ever compared as a whole.
    const isCut = digest.length === SHA256_DIGITS && byteLength < SHA256_DIGITS;
    if (!isCut && digest.length !== byteLength) return false;
    scratch.write(digest, 'latin1');
    const isStart = timingSafeEqual(scratch.subarray(0, byteLength), wanted);
    if (!isCut) return isStart;
    const isEnd = timingSafeEqual(scratch.subarray(digest.length - byteLength, digest.length), wanted);
    return isStart || isEnd;
  };
}

const SHA256_DIGITS = 64;
const MAX_DIGITS = 128;
