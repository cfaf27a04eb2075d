import { createHash, createHmac } from 'node:crypto';
import { signatureBase, type FullCallback } from '../schemas/gateway/callback.ts';
import type { Secret } from '../schemas/secret.ts';
import type { SignatureCause } from '../schemas/signature-causes.ts';

/** What a callback is signed with. */
export interface SigningParts {
  readonly body: FullCallback;
  readonly key: Secret;
  /** The merchant's access token. */
  readonly token: Secret;
}

/** Hexadecimal SHA-256 over the four signed fields and the private key (section 6.3). */
export function sign(callback: FullCallback, key: Secret): string {
  return createHash('sha256').update(signatureBase(callback, key.reveal())).digest('hex');
}

type Signing = (parts: SigningParts) => string;

/** The true hash, written otherwise. */
const written =
  (write: (hash: string) => string): Signing =>
  ({ body, key }) =>
    write(sign(body, key));
/** Another text than that of section 6.3. */
const text =
  (write: (fields: readonly string[], key: string, body: FullCallback) => string): Signing =>
  ({ body, key }) =>
    sha256(write([body.externalId, body.status, body.amount, body.orderType], key.reveal(), body));
/** The same text about a callback that differs in one field. */
const changed =
  (change: (body: FullCallback) => { readonly [K in keyof FullCallback]?: string }): Signing =>
  ({ body, key }) =>
    sha256(signatureBase({ ...body, ...change(body) } as FullCallback, key.reveal()));

const sha256 = (content: string): string => createHash('sha256').update(content).digest('hex');
const line = (...parts: readonly string[]): string => parts.join(';');
const lessCents = (amount: string): string => amount.replace(/\.?0+$/, '');

/** Ways to sign a callback that are not those of the interface, by what a diagnosis should call them. */
export const SIGNINGS = {
  bearer_token_as_key: ({ body, token }) => sign(body, token),
  key_white_space: text((fields, key) => line(...fields, `${key}\n`)),
  key_written_differently: text((fields, key) => line(...fields, `"${key}"`)),
  key_missing: text((fields) => line(...fields, '')),
  header_base64: written((hash) => Buffer.from(hash, 'hex').toString('base64')),
  header_decorated: written((hash) => `sha256=${hash}`),
  header_doubled: written((hash) => `${hash}, ${hash}`),
  header_truncated: written((hash) => hash.slice(0, 32)),
  header_no_hash: written(() => 'invalid'),
  other_hash: ({ body, key }) => createHash('sha512').update(signatureBase(body, key.reveal())).digest('hex'),
  hmac: ({ body, key }) =>
    createHmac('sha256', key.reveal())
      .update(line(body.externalId, body.status, body.amount, body.orderType))
      .digest('hex'),
  text_separator: text((fields, key) => [...fields, key].join('|')),
  field_order: text((fields, key) => line(key, ...fields)),
  field_left_out: text((fields, key) => line(...fields.slice(0, 3), key)),
  field_added: text((fields, key, { currency }) => line(...fields.toSpliced(3, 0, currency), key)),
  body_signed: text((_fields, key, body) => JSON.stringify(body) + key),
  amount_without_zeros: changed(({ amount }) => ({ amount: lessCents(amount) })),
  amount_more_decimals: changed(({ amount }) => ({ amount: `${amount}00` })),
  amount_comma: changed(({ amount }) => ({ amount: amount.replace('.', ',') })),
  amount_minor_units: changed(({ amount }) => ({ amount: String(Math.round(Number(amount) * 100)) })),
  amount_rounded: changed(({ amount }) => ({ amount: amount.replace(/\..*$/, '') })),
  status_written_differently: changed(({ status }) => ({ status: status.toUpperCase() })),
  order_type_written_differently: changed(({ orderType }) => ({ orderType: orderType.toLowerCase() })),
  external_id_written_differently: changed(({ externalId }) => ({
    externalId: externalId.replaceAll('-', ''),
  })),
  status_altered: changed(({ status }) => ({ status: status === 'Failed' ? 'Success' : 'Failed' })),
  order_type_altered: changed(({ orderType }) => ({
    orderType: orderType === 'Deposit' ? 'Withdrawal' : 'Deposit',
  })),
} as const satisfies Partial<Record<SignatureCause, Signing>>;

export type SigningName = keyof typeof SIGNINGS;
export const SIGNING_NAMES = Object.keys(SIGNINGS) as SigningName[];
