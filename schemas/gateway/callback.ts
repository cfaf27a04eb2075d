import { z } from 'zod';
import type { OrderType } from '../dictionary.ts';
import { isUsualId } from '../order-id.ts';
import type { ExternalParams } from './status-reply.ts';

/**
 * Grammar of the signed fields (interface document, sections 2.3 and 6.3). The signature joins them with `;`,
 * so none of them may contain one: otherwise text could move between fields without changing the hash.
 */
const signedText = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    // oxlint-disable-next-line no-control-regex -- control characters are what is being refused
    .regex(/^[^;\u0000-\u001f\u007f]+$/, 'must not contain ";" or control characters');

/**
 * The parts of a callback that we read (section 6.2). `amount` is the exact text as sent: a string's content,
 * or a JSON number's source text. Only externalId, status, amount and orderType are signed; currency is not
 * authenticated, and may be anything. What a row keeps of each is decided afterwards: the signature covers
 * the texts as they came.
 */
export const callbackSchema = z.object({
  externalId: signedText(200),
  status: signedText(64),
  amount: signedText(64),
  orderType: z.enum(['Deposit', 'Withdrawal']),
  currency: z.unknown().optional(),
});
export type Callback = z.infer<typeof callbackSchema>;
export type SignedFields = Pick<Callback, 'externalId' | 'status' | 'amount' | 'orderType'>;

const USUAL_STATUS = /^\w{1,64}$/;
const USUAL_AMOUNT = /^\d{1,30}(?:\.\d{1,30})?$/;

/** A callback as gateways send them, recognized without the schema's cost. The schema judges all else. */
export function isUsualCallback(value: unknown): value is Callback {
  if (typeof value !== 'object' || value === null) return false;
  const { externalId, status, amount, orderType } = value as Partial<Record<string, unknown>>;
  return (
    typeof externalId === 'string' &&
    isUsualId(externalId) &&
    typeof status === 'string' &&
    USUAL_STATUS.test(status) &&
    typeof amount === 'string' &&
    USUAL_AMOUNT.test(amount) &&
    (orderType === 'Deposit' || orderType === 'Withdrawal')
  );
}

/** The whole callback body as a gateway sends it: what the sandbox writes (section 6.2). */
export interface FullCallback {
  externalId: string;
  status: string;
  /** A string in callbacks, unlike in status replies. */
  amount: string;
  currency: string;
  orderType: OrderType;
  externalParams: ExternalParams;
}

/** The five callback types a merchant can ask for (section 6.2). */
export const CALLBACK_TYPES = ['Create', 'Progress', 'Success', 'Failed', 'AmountChanged'] as const;
export type CallbackType = (typeof CALLBACK_TYPES)[number];

/**
 * The text that is hashed (section 6.3): the four signed fields and the private key, joined by semicolons.
 */
export function signatureBase(callback: SignedFields, privateKey: string): string {
  return `${callback.externalId};${callback.status};${callback.amount};${callback.orderType};${privateKey}`;
}
