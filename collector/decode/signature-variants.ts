import { createHmac, hash } from 'node:crypto';
import { ORDER_STATUSES, ORDER_TYPES } from '../../schemas/dictionary.ts';
import { signatureBase, type Callback } from '../../schemas/gateway/callback.ts';
import type { SignatureCause } from '../../schemas/signature-causes.ts';
import { amountVariants } from './amount-variants.ts';

/** A text to hash in place of that of section 6.3, and the cause that it would be; null: the true one. */
export type TextVariant = readonly [cause: SignatureCause | null, text: string | Uint8Array];

/** What is known of the order that a callback names, without asking anybody. */
export interface KnownOrder {
  /** Decimal text. */
  readonly amount: string | null;
  readonly externalTransactionId: string;
}

/** What a status is called elsewhere: the callback types of section 6.2. */
const OTHER_NAMES: Readonly<Record<string, string>> = { Created: 'Create', Processing: 'Progress' };
const SEPARATORS = [',', '|', ':', '', '&', '.', '-', '_', ' ', '\n', '; ', '/', '+', '#'];
/** Room for a key that is not set, as programs write it. */
const NO_KEYS = ['', ';', ';null', ';undefined', ';None', ';<PRIVATE_KEY>'];
/** Hashing more than this costs more than all other variants. */
const MAX_BODY_BYTES = 4096;

const capitalised = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1).toLowerCase();

/** The signed text under one key with one thing changed. */
export function textVariants(callback: Callback, key: string, known: KnownOrder | null): TextVariant[] {
  const base = signatureBase(callback, key);
  return [
    [null, base],
    ...fieldVariants(callback, known).map(([cause, changed]): TextVariant => [
      cause,
      signatureBase({ ...callback, ...changed }, key),
    ]),
    ...joined(callback, key),
    ...keyForms(key).map(([cause, form]): TextVariant => [cause, signatureBase(callback, form)]),
    ...keyBytes(key).map((bytes): TextVariant => [
      'key_written_differently',
      Buffer.concat([Buffer.from(signatureBase(callback, '')), bytes]),
    ]),
    ['text_encoding', Buffer.from(base, 'utf16le')],
    ['text_encoding', Buffer.from(base, 'latin1')],
  ];
}

type Fields = Partial<Record<'externalId' | 'status' | 'amount' | 'orderType', string>>;

/** The signed text with one field written or filled otherwise. */
function fieldVariants(
  { externalId, status, amount, orderType }: Callback,
  known: KnownOrder | null,
): (readonly [SignatureCause, Fields & { orderType?: Callback['orderType'] }])[] {
  const otherType = ORDER_TYPES.filter((type) => type !== orderType);
  const fields: (readonly [SignatureCause, Fields])[] = [
    ...amountVariants(amount).map(([cause, text]) => [cause, { amount: text }] as const),
    ...sameWord(status).map((text) => ['status_written_differently', { status: text }] as const),
    ...sameWord(orderType).map((text) => ['order_type_written_differently', { orderType: text }] as const),
    ...[externalId.toLowerCase(), externalId.toUpperCase(), externalId.replaceAll('-', '')].map(
      (text) => ['external_id_written_differently', { externalId: text }] as const,
    ),
    ...otherStatuses(status).map((text) => ['status_altered', { status: text }] as const),
    ...otherType.map((text) => ['order_type_altered', { orderType: text }] as const),
    ...knownAmounts(known).map((text) => ['amount_altered', { amount: text }] as const),
    ...(known === null || known.externalTransactionId === ''
      ? []
      : [['transaction_id_signed', { externalId: known.externalTransactionId }] as const]),
  ];
  return fields as ReturnType<typeof fieldVariants>;
}

const sameWord = (word: string): string[] => [
  word.toLowerCase(),
  word.toUpperCase(),
  capitalised(word),
  ...Object.entries(OTHER_NAMES).flatMap(([name, other]) =>
    word === name ? [other, other.toLowerCase(), other.toUpperCase()] : word === other ? [name] : [],
  ),
];

const otherStatuses = (status: string): string[] =>
  ORDER_STATUSES.flatMap((one) =>
    one.toLowerCase() === status.toLowerCase() ? [] : [one, one.toLowerCase(), one.toUpperCase()],
  );

const knownAmounts = (known: KnownOrder | null): string[] =>
  known?.amount == null ? [] : [known.amount, ...amountVariants(known.amount).map(([, text]) => text)];

/** The same fields, joined in another way. */
function joined(callback: Callback, key: string): TextVariant[] {
  const { externalId, status, amount, orderType, currency } = callback;
  const fields = [externalId, status, amount, orderType];
  const line = (...parts: readonly string[]): string => parts.join(';');
  const named = typeof currency === 'string' && currency !== '' ? currency : null;
  return [
    ...SEPARATORS.map((separator): TextVariant => ['text_separator', [...fields, key].join(separator)]),
    ['text_separator', `${line(...fields)}${key}`],
    ['text_separator', `${line(...fields, key)};`],
    ...orders(fields).flatMap((order): TextVariant[] => [
      ['field_order', line(...order, key)],
      ['field_order', line(key, ...order)],
    ]),
    ...fields.flatMap((_field, left): TextVariant[] => [
      ['field_left_out', line(...fields.toSpliced(left, 1), key)],
      ['field_left_out', line(...fields.toSpliced(left, 1, ''), key)],
    ]),
    ...(named === null
      ? []
      : [
          ...fields.map((_field, index): TextVariant => [
            'field_added',
            line(...fields.toSpliced(index + 1, 0, named), key),
          ]),
          ['field_added', line(externalId, status, `${amount} ${named}`, orderType, key)] as const,
        ]),
    ...NO_KEYS.map((end): TextVariant => ['key_missing', line(...fields) + end]),
  ];
}

/** All 24 orders of four fields; the interface's own comes first. */
function orders(fields: readonly string[]): string[][] {
  if (fields.length <= 1) return [[...fields]];
  return fields.flatMap((field, index) => orders(fields.toSpliced(index, 1)).map((rest) => [field, ...rest]));
}

function keyForms(key: string): (readonly [SignatureCause, string])[] {
  const spaced = [key.trim(), `${key}\n`, `${key}\r\n`, `${key} `, ` ${key}`, `${key}\t`];
  const written = [
    `"${key}"`,
    `'${key}'`,
    key.toLowerCase(),
    key.toUpperCase(),
    key.replaceAll('-', ''),
    Buffer.from(key).toString('hex'),
    Buffer.from(key).toString('base64'),
  ];
  return [
    ...spaced.map((form) => ['key_white_space', form] as const),
    ...written.map((form) => ['key_written_differently', form] as const),
  ];
}

/** The key as the bytes that it may spell. */
function keyBytes(key: string): Buffer[] {
  const isHex = key.length % 2 === 0 && /^[0-9a-f]+$/i.test(key);
  return [...(isHex ? [Buffer.from(key, 'hex')] : []), Buffer.from(key, 'base64')];
}

/** Ways that are no SHA-256 over text and key: digests in hexadecimal digits. */
export function otherDigests(
  callback: Callback,
  key: string,
  body: Uint8Array | null,
): (readonly [SignatureCause, string])[] {
  const { externalId, status, amount, orderType } = callback;
  const fields = [externalId, status, amount, orderType].join(';');
  const base = signatureBase(callback, key);
  const hmac = (content: string | Uint8Array): string =>
    createHmac('sha256', key).update(content).digest('hex');
  const whole = body === null || body.byteLength > MAX_BODY_BYTES ? null : Buffer.from(body);
  const sha256 = (...parts: readonly (string | Uint8Array)[]): string =>
    hash('sha256', Buffer.concat(parts.map((part) => Buffer.from(part as string))), 'hex');
  return [
    ['hmac', hmac(fields)],
    ['hmac', hmac(`${fields};`)],
    ['hmac', hmac(base)],
    ...(whole === null
      ? []
      : ([
          ['body_signed', sha256(whole)],
          ['body_signed', sha256(whole, key)],
          ['body_signed', sha256(whole, ';', key)],
          ['body_signed', sha256(key, whole)],
          ['body_signed', hmac(whole)],
        ] as const)),
    ['other_hash', hash('md5', base, 'hex')],
    ['other_hash', hash('sha1', base, 'hex')],
    ['other_hash', hash('sha512', base, 'hex')],
  ];
}
