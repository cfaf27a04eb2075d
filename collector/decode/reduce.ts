import { signatureBase, type Callback, type SignedFields } from '../../schemas/gateway/callback.ts';
import type { Secret } from '../../schemas/secret.ts';
import type { SignatureCause } from '../../schemas/signature-causes.ts';
import { readCallback, type CallbackSecrets, type Examine } from './callback.ts';
import { canonicalId } from '../../schemas/order-id.ts';
import { shapeOf } from '../../schemas/shape.ts';
import { currencyCode, isKeepableAmount, isKeepableId, isStatus } from './grammar.ts';
import { sha256Bytes } from './ids.ts';
import { sealOf } from './seal.ts';
import { verifySignature } from './signature.ts';

/** What the reduction of a gateway's callbacks needs of its configuration. */
export interface ReduceOptions extends CallbackSecrets {
  readonly keepsCardLikeIds: boolean;
  /** @default nothing is examined */
  readonly examine?: Examine;
}

/** A callback without anything that is not needed to judge it and to read its order. */
export interface ReducedCallback {
  readonly body: Uint8Array;
  readonly signatures: readonly string[];
  /** Stands for the whole body, so that contents stay distinguished: 64 hexadecimal digits. */
  readonly bodyHash: string;
  /** Whose seal that is. */
  readonly bodySeal: number;
  /** Of a signature that does not verify, which is not handed on; null: it does, or there is none. */
  readonly signatureCause: SignatureCause | null;
  /** What was signed, of a callback that verifies, as far as it may be kept. */
  readonly verified: SignedFields | null;
  /** The order's id; null when there is none that may be kept. */
  readonly orderId: string | null;
}

/** No JSON: whoever reads it finds it as malformed as what it stands for. */
const UNREADABLE = Buffer.from('~');

/**
 * Keeps the signed fields of a callback and its currency, each with its exact text when that fits the field's
 * grammar, and nothing else. It verifies under a key exactly when the whole callback does: where a field of a
 * callback that verifies does not fit, the field becomes its shape and the signature is made anew under the
 * same key.
 */
export function reduceCallback(
  body: Uint8Array,
  signatures: readonly string[],
  { keys, seal, keepsCardLikeIds, examine }: ReduceOptions,
): ReducedCallback {
  const { id: bodySeal, of: sealed } = sealOf(seal);
  const bodyHash = sealed(body);
  const read = readCallback(body);
  if (!read.ok) {
    const unread = signatures.map((text) => sealedSignature(text, sealed));
    return {
      body: UNREADABLE,
      signatures: unread,
      bodyHash,
      bodySeal,
      signatureCause: null,
      verified: null,
      orderId: null,
    };
  }
  const { callback } = read;
  const [signature = '', ...more] = signatures;
  const verifying = more.length > 0 ? undefined : keys.find((key) => verifies(callback, signature, key));
  const isMismatch = verifying === undefined && more.length === 0 && signature.trim() !== '';
  const kept = fitting(callback, keepsCardLikeIds && verifying !== undefined);
  return {
    body: Buffer.from(JSON.stringify(kept)),
    signatures:
      verifying === undefined
        ? signatures.map((text) => sealedSignature(text, sealed))
        : [sha256Bytes(signatureBase(kept, verifying.reveal()))].map((hash) =>
            Buffer.from(hash).toString('hex'),
          ),
    bodyHash,
    bodySeal,
    signatureCause: isMismatch ? (examine?.({ callback, signature, body }) ?? 'not_examined') : null,
    verified: verifying === undefined ? null : kept,
    orderId: kept.externalId === callback.externalId ? canonicalId(kept.externalId) : null,
  };
}

const verifies = (callback: Callback, signature: string, key: Secret): boolean =>
  verifySignature(callback, signature, [key]) === 'valid';

function fitting(callback: Callback, keepsCardLikeIds: boolean): Callback & { currency?: string } {
  const { externalId, status, amount, orderType, currency } = callback;
  const named = currency !== null && currency !== undefined && currency !== '';
  return {
    externalId: isKeepableId('external-id', externalId, keepsCardLikeIds) ? externalId : shapeOf(externalId),
    status: isStatus(status) ? status : shapeOf(status),
    amount: isKeepableAmount(amount) ? amount : shapeOf(amount),
    orderType,
    ...(named ? { currency: currencyCode(currency) ?? shapeOf(String(currency)) } : {}),
  };
}

/** A signature that does not verify is a text like any other. */
function sealedSignature(text: string, sealed: (text: string) => string): string {
  return text.trim() === '' ? '' : sealed(text);
}
