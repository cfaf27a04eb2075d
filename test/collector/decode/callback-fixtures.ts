import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import {
  decodeCallback,
  type CallbackDelivery,
  type DecodedCallback,
} from '../../../collector/decode/callback.ts';
import { POLICY } from '../../support/fingerprint.ts';
import { Secret } from '../../../schemas/secret.ts';

export const KEY = '0123456789abcdef0123456789abcdef';

/** The gateway's token. */
export const SEAL = new Secret('a-token');

/** The signed part of a callback body, with whatever else it carries. */
export interface Body {
  externalId: string;
  status: string;
  amount: string;
  orderType: string;
  [field: string]: unknown;
}

/** A callback of the interface, section 6.2. */
export const BODY: Body = {
  externalId: '7d9f2c1e-4b7a-4d53-9a51-0c9f6a1b2c3d',
  status: 'Success',
  amount: '100.00',
  currency: 'EUR',
  orderType: 'Deposit',
  externalParams: {
    cardToken: null,
    cardStorageToken: null,
    cardHolder: 'A B',
    cardNumber: '411111******1111',
  },
};

/** Signs by the words of the interface, section 6.3, with nothing of the product. */
export function sign(body: Body, key: string = KEY): string {
  const text = [body.externalId, body.status, body.amount, body.orderType, key].join(';');
  return createHash('sha256').update(text, 'utf8').digest('hex');
}

/** Decodes one delivery: `body` as bytes, as raw text, or as a value to be written as JSON. */
export function receive(
  body: Uint8Array | string | object | null,
  signature: string | readonly string[],
  keys: readonly string[] = [KEY],
  more: Partial<CallbackDelivery> = {},
  policy = POLICY,
): DecodedCallback {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const delivery: CallbackDelivery = {
    gateway: 'acme-eu',
    body: body instanceof Uint8Array ? body : new TextEncoder().encode(text),
    signatures: typeof signature === 'string' ? [signature] : signature,
    deliveryId: 'delivery-1',
    receivedAt: 1_795_256_130_000_000,
    source: 'kafka',
    coordinates: { topic: 'gateway.callbacks', partition: 3, offset: 42 },
    ...more,
  };
  return decodeCallback(delivery, { keys: keys.map((key) => new Secret(key)), seal: SEAL }, policy);
}

/**
 * Text that a signed field can hold: no semicolon, no control character, no run of digits that reads as a
 * card.
 */
const fieldText = (maxLength: number) =>
  fc
    .string({ unit: 'binary', minLength: 1, maxLength: Math.floor(maxLength / 2) })
    // oxlint-disable-next-line no-control-regex -- control characters are refused by contract
    .map((text) => text.replace(/[;\u0000-\u001f\u007f]/g, '-').replace(/[0-9]{3,}/g, '12'));

export const externalId = fc.oneof(fc.uuid(), fieldText(200));
export const status = fc.oneof(fc.constantFrom('Created', 'Processing', 'Success', 'Failed'), fieldText(64));
/** Decimal text in the many ways a gateway may write it: none of them may be changed before hashing. */
export const amount = fc.stringMatching(/^-?[0-9]{1,12}(\.[0-9]{1,9})?$/);
export const orderType = fc.constantFrom('Deposit', 'Withdrawal');
export const currency = fc.option(fc.stringMatching(/^[A-Z]{3}$/), { nil: null });
export const privateKey = fc.string({ unit: 'grapheme', minLength: 8, maxLength: 64 });
export const signedBody: fc.Arbitrary<Body> = fc.record({ externalId, status, amount, orderType, currency });

/** Numbers that begin as cards do and pass the Luhn check, 13 to 19 digits. */
export const cardNumber = fc
  .tuple(
    fc.constantFrom('4', '51', '37', '36', '35', '60', '62', '65', '22', '50', '81'),
    fc.stringMatching(/^[0-9]{11,16}$/),
  )
  .map(([first, rest]) => withCheckDigit(`${first}${rest}`));

function withCheckDigit(digits: string): string {
  let sum = 0;
  for (const [index, digit] of Array.from(digits).toReversed().entries()) {
    const doubled = Number(digit) * (index % 2 === 0 ? 2 : 1);
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return digits + String((10 - (sum % 10)) % 10);
}

/** A card number as people and forms write it: bare, or in groups of four. */
export const writtenCard = fc
  .tuple(cardNumber, fc.constantFrom('', ' ', '-'))
  .map(([card, gap]) => (card.match(/.{1,4}/g) ?? []).join(gap));

/**
 * Every text of a row, with the separators of card numbers taken out: what a card number would show up in.
 */
export function textsOf(row: object): string {
  return Object.values(row)
    .filter((value) => typeof value === 'string' || typeof value === 'number')
    .map((value) => String(value).replace(/[ -]/g, ''))
    .join('\n');
}
