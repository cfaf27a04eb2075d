import { createHash, createHmac } from 'node:crypto';
import * as fc from 'fast-check';
import type { SignatureCause } from '../../../schemas/signature-causes.ts';
import { type Body, sign } from './callback-fixtures.ts';

/** A callback that was signed by other rules than section 6.3, written without the product's code. */
export interface Mutated {
  readonly body: Body;
  readonly signature: string;
}

export interface Genuine {
  readonly body: Body;
  readonly key: string;
  /** The amount's number, in hundredths. */
  readonly hundredths: number;
}

export const TOKEN = 'the-access-token-of-the-merchant';
export const OTHER_KEY = 'the-key-of-the-other-gateway-000';

/** Amounts as gateways have them: 1 to 9,999,999.99, written with two decimals. */
export const genuine: fc.Arbitrary<Genuine> = fc
  .record({
    externalId: fc.uuid(),
    status: fc.constantFrom('Created', 'Processing', 'Success', 'Failed'),
    hundredths: fc.integer({ min: 100, max: 999_999_999 }),
    orderType: fc.constantFrom('Deposit', 'Withdrawal'),
    currency: fc.constantFrom('EUR', 'INR', 'RUB', 'KZT'),
    key: fc.stringMatching(/^[a-f0-9]{8}[A-F]{4}[a-f0-9]{20,40}$/),
  })
  .map(({ hundredths, key, ...body }) => ({
    hundredths,
    key,
    body: { ...body, amount: (hundredths / 100).toFixed(2), externalParams: { cardToken: null } },
  }));

const sha256 = (content: string | Uint8Array, as: 'hex' | 'base64' = 'hex'): string =>
  createHash('sha256').update(content).digest(as);
const fieldsOf = ({ externalId, status, amount, orderType }: Body): string[] => [
  externalId,
  status,
  amount,
  orderType,
];
/** The header is made of the true hash. */
const header =
  (write: (hash: string) => string) =>
  ({ body, key }: Genuine): Mutated => ({ body, signature: write(sign(body, key)) });
/** Another text is signed than what is sent. */
const signing =
  (write: (genuine: Genuine) => Partial<Body>) =>
  (one: Genuine): Mutated => ({ body: one.body, signature: sign({ ...one.body, ...write(one) }, one.key) });
/** The body is sent with a round amount, and another writing of it is signed. */
const amount =
  (sent: (hundredths: number) => string, signed: (hundredths: number) => string) =>
  ({ body, key, hundredths }: Genuine): Mutated => ({
    body: { ...body, amount: sent(hundredths) },
    signature: sign({ ...body, amount: signed(hundredths) }, key),
  });
const whole = (hundredths: number): number => Math.floor(hundredths / 100);
const twoDecimals = (hundredths: number): string => (hundredths / 100).toFixed(2);
/** 1234.50, whatever the number. */
const tenths = (hundredths: number): string => `${whole(hundredths)}.${(hundredths % 9) + 1}`;

type Mutation = (one: Genuine) => Mutated;

/** Each cause with one or more ways that it comes about. */
export const MUTATIONS: Readonly<Partial<Record<SignatureCause, readonly Mutation[]>>> = {
  key_of_other_gateway: [({ body }) => ({ body, signature: sign(body, OTHER_KEY) })],
  bearer_token_as_key: [({ body }) => ({ body, signature: sign(body, TOKEN) })],
  key_white_space: ['\n', '\r\n', ' '].map((end) => ({ body, key }) => ({
    body,
    signature: sign(body, key + end),
  })),
  key_written_differently: [
    ({ body, key }) => ({ body, signature: sign(body, key.toUpperCase()) }),
    ({ body, key }) => ({ body, signature: sign(body, `"${key}"`) }),
    ({ body, key }) => ({
      body,
      signature: sha256(
        Buffer.concat([Buffer.from(`${fieldsOf(body).join(';')};`), Buffer.from(key, 'base64')]),
      ),
    }),
  ],
  key_missing: ['', ';', ';undefined'].map((end) => ({ body }) => ({
    body,
    signature: sha256(fieldsOf(body).join(';') + end),
  })),
  header_base64: [
    header((hash) => Buffer.from(hash, 'hex').toString('base64')),
    header((hash) => Buffer.from(hash, 'hex').toString('base64url')),
  ],
  header_decorated: [
    header((hash) => `sha256=${hash}`),
    header((hash) => `"${hash}"`),
    header((hash) => `SHA-256 ${hash.toUpperCase()}`),
    header((hash) => (hash.match(/../g) ?? []).join(':')),
  ],
  header_doubled: [header((hash) => hash + hash), header((hash) => `${hash}, ${hash}`)],
  header_truncated: [
    header((hash) => hash.slice(0, 32)),
    header((hash) => hash.slice(1)),
    header((hash) => hash.slice(0, 60)),
  ],
  header_no_hash: [header(() => 'invalid'), header((hash) => `${hash}${hash.slice(0, 9)}`)],
  other_hash: ['md5', 'sha1', 'sha512'].map((name) => ({ body, key }) => ({
    body,
    signature: createHash(name)
      .update([...fieldsOf(body), key].join(';'))
      .digest('hex'),
  })),
  hmac: [
    ({ body, key }) => ({
      body,
      signature: createHmac('sha256', key).update(fieldsOf(body).join(';')).digest('hex'),
    }),
    ({ body, key }) => ({
      body,
      signature: createHmac('sha256', key).update(fieldsOf(body).join(';')).digest('base64'),
    }),
  ],
  text_separator: [
    ...[',', '|', ':', ''].map((by) => ({ body, key }: Genuine): Mutated => ({
      body,
      signature: sha256([...fieldsOf(body), key].join(by)),
    })),
    ({ body, key }) => ({ body, signature: sha256(`${fieldsOf(body).join(';')}${key}`) }),
  ],
  field_order: [
    ({ body, key }) => ({ body, signature: sha256([...fieldsOf(body).toReversed(), key].join(';')) }),
    ({ body, key }) => ({ body, signature: sha256([key, ...fieldsOf(body)].join(';')) }),
  ],
  field_left_out: [0, 1, 2, 3].map((left) => ({ body, key }) => ({
    body,
    signature: sha256([...fieldsOf(body).toSpliced(left, 1), key].join(';')),
  })),
  field_added: [
    ({ body, key }) => ({
      body,
      signature: sha256([...fieldsOf(body).toSpliced(3, 0, String(body['currency'])), key].join(';')),
    }),
  ],
  text_encoding: [
    ({ body, key }) => ({
      body,
      signature: sha256(Buffer.from([...fieldsOf(body), key].join(';'), 'utf16le')),
    }),
  ],
  body_signed: [
    ({ body, key }) => ({ body, signature: sha256(JSON.stringify(body) + key) }),
    ({ body, key }) => ({
      body,
      signature: createHmac('sha256', key).update(JSON.stringify(body)).digest('hex'),
    }),
  ],
  amount_without_zeros: [
    amount(
      (n) => `${whole(n)}.00`,
      (n) => `${whole(n)}`,
    ),
    amount((n) => `${tenths(n)}0`, tenths),
  ],
  amount_one_decimal: [
    amount(
      (n) => `${whole(n)}`,
      (n) => `${whole(n)}.0`,
    ),
  ],
  amount_two_decimals: [
    amount(
      (n) => `${whole(n)}`,
      (n) => `${whole(n)}.00`,
    ),
    amount(tenths, (n) => `${tenths(n)}0`),
  ],
  amount_more_decimals: [
    amount(twoDecimals, (n) => `${twoDecimals(n)}00`),
    amount(twoDecimals, (n) => `${twoDecimals(n)}000000`),
  ],
  amount_comma: [amount(twoDecimals, (n) => twoDecimals(n).replace('.', ','))],
  amount_grouped: [
    amount(
      (n) => twoDecimals(n + 100_000),
      (n) => ((n + 100_000) / 100).toLocaleString('en-US', { minimumFractionDigits: 2 }),
    ),
  ],
  amount_exponent: [
    amount(
      (n) => String(n + 10_000_000),
      (n) => (n + 10_000_000).toExponential().replace('e', 'E'),
    ),
  ],
  amount_minor_units: [amount(twoDecimals, String), amount(String, twoDecimals)],
  amount_rounded: [
    amount(tenths, (n) => String(whole(n))),
    amount(tenths, (n) => String(whole(n) + 1)),
    amount(
      (n) => `${whole(n)}.128`,
      (n) => `${whole(n)}.13`,
    ),
  ],
  status_written_differently: [
    signing(({ body }) => ({ status: body.status.toLowerCase() })),
    signing(({ body }) => ({ status: body.status.toUpperCase() })),
  ],
  order_type_written_differently: [signing(({ body }) => ({ orderType: body.orderType.toLowerCase() }))],
  external_id_written_differently: [
    signing(({ body }) => ({ externalId: body.externalId.replaceAll('-', '') })),
  ],
  status_altered: [signing(({ body }) => ({ status: body.status === 'Failed' ? 'Success' : 'Failed' }))],
  order_type_altered: [
    signing(({ body }) => ({ orderType: body.orderType === 'Deposit' ? 'Withdrawal' : 'Deposit' })),
  ],
  unexplained: [
    ({ body, key }) => ({ body, signature: sign(body, `${key}0`) }),
    signing(({ hundredths }) => ({ amount: String(hundredths + 7) })),
  ],
};
