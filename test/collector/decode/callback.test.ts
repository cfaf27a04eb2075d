import { createHash } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { decodeCallback, type CallbackDelivery, type Examine } from '../../../collector/decode/callback.ts';
import { sealOf } from '../../../collector/decode/seal.ts';
import { Secret } from '../../../schemas/secret.ts';
import { fingerprint, POLICY } from '../../support/fingerprint.ts';
import { BODY, KEY, receive, SEAL, sign } from './callback-fixtures.ts';

const SIGNATURE = sign(BODY);
const text = JSON.stringify(BODY);
const bytes = (...values: number[]) => Uint8Array.from(values);
const withField = (name: string, json: string) => text.replace(/\}$/, `,${JSON.stringify(name)}:${json}}`);

describe('a callback that verifies', () => {
  it('gives a row with its fields, its coordinates and no problem', () => {
    const { row, verdict } = receive(BODY, SIGNATURE);
    expect(verdict).toBe('valid');
    expect({ ...row, content_hash: null }).toEqual({
      gateway: 'acme-eu',
      content_hash: null,
      delivery_id: 'delivery-1',
      received_at: 1_795_256_130_000_000,
      verdict: 'valid',
      signature_cause: 'none',
      external_id: BODY.externalId,
      status: 'Success',
      amount: '100.00',
      order_type: 'Deposit',
      currency: 'EUR',
      problem: '',
      source: 'kafka',
      topic: 'gateway.callbacks',
      kafka_partition: 3,
      kafka_offset: 42,
      body_bytes: text.length,
      body_seal: expect.any(Number),
      body_key: expect.any(Number),
    });
  });

  it('has no Kafka coordinates when it came over HTTP', () => {
    const { row } = receive(BODY, SIGNATURE, [KEY], { source: 'http', coordinates: null });
    expect(row).toMatchObject({ source: 'http', topic: '', kafka_partition: null, kafka_offset: null });
  });

  it.each([
    ['without currency', { ...BODY, currency: undefined }],
    ['with a currency of null', { ...BODY, currency: null }],
    ['without externalParams', { ...BODY, externalParams: undefined }],
    ['with externalParams of null', { ...BODY, externalParams: null }],
    ['with a field that the interface does not name', { ...BODY, fee: { amount: 3.5 } }],
  ])('does so %s', (_name, body) => {
    expect(receive(body, SIGNATURE).verdict).toBe('valid');
  });

  it('does so with white space, another order of fields and escapes in its JSON', () => {
    const { externalId, status, amount, orderType } = BODY;
    const reordered = JSON.stringify({ orderType, amount, status, externalId }, null, 4);
    expect(receive(reordered.replace('Success', '\\u0053uccess'), SIGNATURE).verdict).toBe('valid');
  });

  it('does so for any name of a status: the interface may grow', () => {
    const body = { ...BODY, status: 'Частично оплачен' };
    expect(receive(body, sign(body)).verdict).toBe('valid');
  });

  it('does so for an id that is a number, by its source text', () => {
    const externalId = '90071992547409931';
    const body = { ...BODY, externalId };
    const sent = JSON.stringify(body).replace(`"${externalId}"`, externalId);
    expect(receive(sent, sign(body))).toMatchObject({ verdict: 'valid', row: { external_id: externalId } });
  });

  it('names one order by a UUID in either case, and is judged by the case that was signed', () => {
    const externalId = 'A0000000-0000-4000-8000-0000000000FF';
    const body = { ...BODY, externalId };
    const small = { ...BODY, externalId: externalId.toLowerCase() };
    expect(receive(body, sign(body))).toMatchObject({
      verdict: 'valid',
      row: { external_id: externalId.toLowerCase() },
      callback: { externalId: externalId.toLowerCase() },
    });
    expect(receive(body, sign(small)).verdict).toBe('mismatch');
  });

  it('does so for a service id whose digits could be taken for a card number', () => {
    // One UUID in five hundred has 13 to 19 digits in a row that pass the Luhn check.
    for (const externalId of [
      '69474544-8046-4f06-a621-80d6efb1df23',
      '540b23a9-0070-4312-9861-f75a20e3038b',
      '16855697-9823-45CA-8B63-8290A90978D3',
    ]) {
      const body = { ...BODY, externalId };
      expect(receive(body, sign(body))).toMatchObject({
        verdict: 'valid',
        row: { external_id: externalId.toLowerCase() },
      });
    }
  });
});

describe('the amount', () => {
  it.each(['100.00', '100', '-0', '0.10', '100000000000.123456789', '100.000000000000'])(
    'sent as the JSON number %s counts by its source text',
    (source) => {
      const { verdict, row } = receive(text.replace('"100.00"', source), sign({ ...BODY, amount: source }));
      expect(verdict).toBe('valid');
      expect(row.amount).toBe(source);
    },
  );

  it.each(['4111111111111111', '4111111.111111111', '41111111111111111228', '1e-18'])(
    'sent as the JSON number %s verifies and is not kept',
    (source) => {
      const signed = sign({ ...BODY, amount: source });
      const { verdict, row, callback } = receive(text.replace('"100.00"', source), signed);
      expect(verdict).toBe('valid');
      expect(row).toMatchObject({
        amount: null,
        problem: 'amount: not kept, expected a decimal number such as 100.50',
      });
      expect(callback).toMatchObject({ externalId: BODY.externalId, amount: null });
    },
  );

  it.each([
    ['a thousands separator', '1 000.00'],
    ['a currency', '100.00 EUR'],
    ['a comma that may be either', '1,234'],
    ['full-width digits', '１００'],
    ['a word for no number', 'NaN'],
  ])('with %s is not kept, and does not cost the callback its verdict', (_name, amount) => {
    const body = { ...BODY, amount };
    const { row, callback } = receive(body, sign(body));
    expect(row).toMatchObject({ verdict: 'valid', amount: null, external_id: BODY.externalId });
    expect(row.problem).toMatch(/^amount: not kept/);
    expect(callback?.externalId).toBe(BODY.externalId);
    expect(receive(body, sign(BODY)).verdict).toBe('mismatch');
  });

  it.each([
    ['1e2', '100'],
    ['+100', '100'],
    ['100,00', '100.00'],
    ['1,234.56', '1234.56'],
    ['.5', '0.5'],
    ['5.', '5'],
    [' 100', '100'],
  ])('signed as %j verifies, and is kept as %s', (amount, kept) => {
    const body = { ...BODY, amount };
    expect(receive(body, sign(body)).row).toMatchObject({ verdict: 'valid', amount: kept, problem: '' });
    expect(receive(body, sign({ ...BODY, amount: kept })).verdict).toBe('mismatch');
  });

  it.each([
    ['a line end', '100\n'],
    ['no digits', ''],
    ['a semicolon', '1;2'],
  ])('with %s is malformed, even when it is signed so', (_name, amount) => {
    const body = { ...BODY, amount };
    expect(receive(body, sign(body)).verdict).toBe('malformed');
  });
});

describe('the currency, which is not signed', () => {
  it.each([
    ['an object', {}],
    ['a list', ['EUR']],
    ['a number', 978],
    ['a word', 'Euro and more'],
    ['a card number', '4111 1111 1111 1111'],
    ['a very long text', 'E'.repeat(100_000)],
  ])('that is %s is not kept, and does not cost the callback its verdict', (_name, currency) => {
    const { row, callback } = receive({ ...BODY, currency }, SIGNATURE);
    expect(row).toMatchObject({ verdict: 'valid', currency: null, external_id: BODY.externalId });
    expect(row.problem).toBe('currency: not kept, expected a currency code');
    expect(callback).toMatchObject({ externalId: BODY.externalId, amount: '100.00', currency: null });
  });

  it.each([undefined, null, ''])('may be missing (%s), which is no problem of the callback', (currency) => {
    const { row } = receive({ ...BODY, currency }, SIGNATURE);
    expect(row).toMatchObject({ verdict: 'valid', currency: null, problem: '' });
  });

  it.each(['EUR', 'usd', 'USDT', '978'])('%s is kept in upper case', (currency) => {
    const { row } = receive({ ...BODY, currency }, SIGNATURE);
    expect(row).toMatchObject({ currency: currency.toUpperCase(), problem: '' });
  });
});

describe('a signed text that fits no grammar', () => {
  it.each([
    'JOHN DOE',
    '3DS pending',
    '4111 1111 1111 1111',
    '4111\u00a01111_1111--1111',
    '４１１１１１１１１１１１１１１１',
  ])('as status "%s" verifies and is kept as its fingerprint', (status) => {
    const body = { ...BODY, status };
    const { row, callback } = receive(body, sign(body));
    expect(row).toMatchObject({ verdict: 'valid', status: fingerprint(status) });
    expect(callback).toMatchObject({ externalId: BODY.externalId, status: fingerprint(status) });
  });

  it.each(['JOHN DOE', '../x', 'a\u200bb'])('as id "%s" verifies, and no order is read', (externalId) => {
    const body = { ...BODY, externalId };
    const { row, callback } = receive(body, sign(body));
    expect(row).toMatchObject({ verdict: 'valid', external_id: fingerprint(externalId) });
    expect(row.problem).toMatch(/^externalId: not kept/);
    expect(callback).toBeNull();
  });
});

describe('an id that could be a card number', () => {
  const body = { ...BODY, externalId: '4111111111111111' };
  const numbered = { ...POLICY, keepsCardLikeIds: true };
  const idIn = (key: string, keepsCardLikeIds = true) =>
    receive(body, sign(body, key), [KEY, 'the previous key'], {}, { ...numbered, keepsCardLikeIds });

  it('is kept where ids are numbered so, when the callback verifies', () => {
    expect(idIn(KEY)).toMatchObject({ verdict: 'valid', row: { external_id: body.externalId } });
    expect(idIn('the previous key')).toMatchObject({
      verdict: 'valid_previous_key',
      row: { external_id: body.externalId },
      callback: { externalId: body.externalId },
    });
  });

  it('is not kept otherwise', () => {
    const hidden = { external_id: fingerprint(body.externalId) };
    expect(idIn('somebody else')).toMatchObject({ verdict: 'mismatch', row: hidden, callback: null });
    expect(idIn(KEY, false)).toMatchObject({ verdict: 'valid', row: hidden, callback: null });
  });
});

describe('the problem of a callback', () => {
  it('says first what is wrong, then what was not kept', () => {
    const body = { externalId: 'a b', status: 'a b', amount: 'x', currency: 'a b', orderType: 'Deposit' };
    expect(receive(body, 'f'.repeat(64)).row.problem).toBe(
      [
        'Signature: does not match the content under any configured key',
        'externalId: not kept, it is no id or looks like a card number',
        'status: not kept, expected one word of letters',
        'amount: not kept, expected a decimal number such as 100.50',
        'currency: not kept, expected a currency code',
      ].join('; '),
    );
  });

  it.each([
    [[], 'Signature: expected 64 hexadecimal digits, received nothing'],
    [['a', 'b', 'c'], 'Signature: expected one header, received 3'],
  ])('with the signatures %j is %s', (signatures, problem) => {
    expect(receive(BODY, signatures).row.problem).toBe(problem);
  });

  it.each([
    ['', 'body: expected JSON, received nothing'],
    ['{', 'body: expected JSON in UTF-8, received something else'],
    ['x'.repeat(262_145), 'body: expected at most 262144 bytes, received 262145'],
  ])('of a body that is none says what was expected', (body, problem) => {
    expect(receive(body, SIGNATURE).row).toMatchObject({ verdict: 'malformed', problem });
  });
});

describe('the header', () => {
  it.each([
    ['no header', [], 'missing_signature'],
    ['an empty header', [''], 'missing_signature'],
    ['a blank header', [' \t '], 'missing_signature'],
    ['two equal headers', [SIGNATURE, SIGNATURE], 'malformed'],
    ['a right and a wrong header', [SIGNATURE, 'f'.repeat(64)], 'malformed'],
    ['two empty headers', ['', ''], 'malformed'],
    ['half a hash', [SIGNATURE.slice(0, 32)], 'mismatch'],
    ['a hash cut by one digit', [SIGNATURE.slice(0, 63)], 'mismatch'],
    ['a hash twice in one header', [SIGNATURE + SIGNATURE], 'mismatch'],
    ['two hashes joined by a comma', [`${SIGNATURE}, ${SIGNATURE}`], 'mismatch'],
    ['a scheme before the hash', [`sha256=${SIGNATURE}`], 'mismatch'],
    ['a digit that is none', [`${SIGNATURE.slice(0, 63)}g`], 'mismatch'],
    ['a hash and rubbish that a lenient reader would cut off', [`${SIGNATURE.slice(0, 62)}zz`], 'mismatch'],
    ['full-width digits', ['０'.repeat(64)], 'mismatch'],
    ['base64', [Buffer.from(SIGNATURE, 'hex').toString('base64')], 'mismatch'],
    ['a very long text', ['a'.repeat(1_000_000)], 'mismatch'],
  ] as const)('with %s gives its verdict', (_name, signatures, verdict) => {
    const { row } = receive(BODY, signatures);
    expect(row.verdict).toBe(verdict);
    expect(row.problem).toMatch(/^Signature: /);
    expect(row.problem.length).toBeLessThan(200);
    expect(row.problem).not.toContain(SIGNATURE.slice(0, 8));
  });

  it('matches nothing when no key is configured', () => {
    expect(receive(BODY, SIGNATURE, []).verdict).toBe('mismatch');
  });

  it('keeps the fields of a callback that does not verify, so that it can be looked into', () => {
    const { row, callback } = receive(BODY, 'f'.repeat(64));
    expect(row).toMatchObject({ verdict: 'mismatch', external_id: BODY.externalId, amount: '100.00' });
    expect(callback).not.toBeNull();
  });
});

describe('a body', () => {
  it.each([
    ['nothing', bytes(), /nothing/],
    ['a JSON null', 'null', /object/],
    ['a JSON array', '[]', /object/],
    ['a JSON text', '"Success"', /object/],
    ['a JSON number', '100.00', /object/],
    ['an empty object', '{}', /^externalId: expected a string, received nothing$/],
    ['truncated JSON', text.slice(0, -5), /JSON/],
    ['two JSON values', `${text}${text}`, /JSON/],
    ['XML', '<callback/>', /JSON/],
    ['a form', 'externalId=1&status=Success', /JSON/],
    [
      'a byte that UTF-8 does not have',
      Buffer.from(text.replace('Success', 'S\xffccess'), 'latin1'),
      /UTF-8/,
    ],
    ['UTF-8 cut within a letter', Buffer.concat([Buffer.from(text), bytes(0xe2, 0x82)]), /UTF-8/],
    [
      'an overlong encoding',
      Buffer.concat([Buffer.from('{"a":"'), bytes(0xc0, 0xaf), Buffer.from('"}')]),
      /UTF-8/,
    ],
    ['UTF-16', Buffer.from(text, 'utf16le'), /JSON/],
    [
      'more than it may hold',
      withField('padding', JSON.stringify('x'.repeat(262_144))),
      /at most 262144 bytes/,
    ],
    ['very deep JSON', `${'['.repeat(100_000)}${']'.repeat(100_000)}`, /./],
    [
      'an order type of another name',
      text.replace('Deposit', 'Refund'),
      /orderType: .*"Deposit" or "Withdrawal"/,
    ],
    ['an order type in another case', text.replace('Deposit', 'deposit'), /orderType/],
    [
      'an id of another type',
      text.replace(`"${BODY.externalId}"`, '7.5'),
      /^externalId: expected a string, received 7.5$/,
    ],
    ['an empty id', text.replace(BODY.externalId, ''), /externalId/],
    ['an id of 201 letters', text.replace(BODY.externalId, 'x'.repeat(201)), /externalId/],
    ['a control character in a signed field', text.replace('Success', 'Suc\\u0007cess'), /status/],
    ['a line end in a signed field', text.replace('Success', 'Success\\n'), /status/],
    ['a null where a signed field should be', text.replace('"Success"', 'null'), /status/],
  ])('with %s is malformed and says so', (_name, body, problem) => {
    const { row, callback } = receive(body, SIGNATURE);
    expect(row).toMatchObject({ verdict: 'malformed', external_id: null, status: null, amount: null });
    expect(row.problem).toMatch(problem);
    expect(callback).toBeNull();
  });

  it('after a broken one is read as if nothing had been', () => {
    receive(bytes(0x7b, 0xe2, 0x82), SIGNATURE);
    expect(receive(BODY, SIGNATURE).verdict).toBe('valid');
  });

  it('as large as it may be is read', () => {
    const room = 262_144 - Buffer.byteLength(withField('padding', '""'));
    const body = withField('padding', JSON.stringify('x'.repeat(room)));
    const { row, verdict } = receive(body, SIGNATURE);
    expect(verdict).toBe('valid');
    expect(row.body_bytes).toBe(262_144);
  });

  it('cannot bring fields in through the prototype', () => {
    const inherited = `{"__proto__":${text}}`;
    expect(receive(inherited, SIGNATURE).verdict).toBe('malformed');
    expect(receive(`{"constructor":{"prototype":${text}}}`, SIGNATURE).verdict).toBe('malformed');
    expect(receive(withField('__proto__', '{"status":"Failed","polluted":1}'), SIGNATURE)).toMatchObject({
      verdict: 'valid',
      row: { status: 'Success' },
    });
    expect('polluted' in {}).toBe(false);
  });

  it('with a field twice counts by the last one, as the signature does', () => {
    expect(receive(withField('status', '"Failed"'), SIGNATURE).verdict).toBe('mismatch');
    expect(receive(withField('status', '"Failed"'), sign({ ...BODY, status: 'Failed' })).verdict).toBe(
      'valid',
    );
  });

  it('is never quoted in a problem', () => {
    const { row } = receive(`${text.slice(0, -1)} "cardHolder": JOHN DOE`, SIGNATURE);
    expect(row.problem).not.toMatch(/JOHN|cardHolder/);
  });
});

describe('the identity of a content', () => {
  const identity = (body: string, signatures: readonly string[], bodyHash: string | null = null): string =>
    Buffer.from(receive(body, signatures, [KEY], { bodyHash }).row.content_hash).toString('hex');

  it('is that of body, signatures and the hash of a body that was reduced on its way', () => {
    const text = JSON.stringify(BODY);
    const hash = 'ab'.repeat(32);
    const all = [
      identity(text, []),
      identity(text, ['']),
      identity(text, [SIGNATURE]),
      identity(text, [SIGNATURE.toUpperCase()]),
      identity(text, [SIGNATURE, SIGNATURE]),
      identity(text, [SIGNATURE], hash),
      identity(`${text} `, [SIGNATURE]),
    ];
    expect(new Set(all).size).toBe(all.length);
    expect(identity(text, [SIGNATURE], hash)).toBe(identity(text, [SIGNATURE], hash));
  });

  it('is the SHA-256 of both, each with its length before it', () => {
    const written = (...parts: string[]) => createHash('sha256').update(parts.join('')).digest('hex');
    expect(identity('x', ['a', 'bc'])).toBe(written('1\n', 'x', '\n1\na', '\n2\nbc'));
    expect(identity('x', ['a'], 'ff')).toBe(written('1\n', 'x', '\n1\na', '\nbody ff'));
  });

  it('does not change places between body and signatures', () => {
    expect(identity('x', ['a', 'b'])).not.toBe(identity('x', ['ab']));
    expect(identity('x', ['a\n1\nb'])).not.toBe(identity('x', ['a', 'b']));
    expect(identity('x\n1\na', [])).not.toBe(identity('x', ['a']));
  });
});

describe('the cause of a signature', () => {
  /** What the row says, and what the examiner was asked. */
  function cause(signatures: readonly string[], more: Partial<CallbackDelivery> = {}, examined = true) {
    const body = Buffer.from(text);
    const examine = vi.fn<Examine>(() => 'header_doubled');
    const delivery: CallbackDelivery = {
      gateway: 'acme-eu',
      body,
      signatures,
      deliveryId: 'delivery-1',
      receivedAt: 1,
      source: 'http',
      coordinates: null,
      ...more,
    };
    const secrets = { keys: [new Secret(KEY)], seal: SEAL };
    const { row } = decodeCallback(delivery, secrets, POLICY, examined ? examine : undefined);
    return { cause: row.signature_cause, asked: examine.mock.calls };
  }
  const WRONG = 'f'.repeat(64);

  it('that does not verify is what the examiner says of callback, signature and body', () => {
    const { externalId, status, amount, orderType, currency } = BODY;
    const callback = { externalId, status, amount, orderType, currency };
    expect(cause([WRONG])).toEqual({
      cause: 'header_doubled',
      asked: [[{ callback, signature: WRONG, body: Buffer.from(text) }]],
    });
  });

  it('is not known where nobody examines it, or where the intake handed on a part of the body', () => {
    expect(cause([WRONG], {}, false).cause).toBe('not_examined');
    expect(cause([WRONG], { bodyHash: 'ab'.repeat(32) })).toEqual({ cause: 'not_examined', asked: [] });
  });

  it('is what the intake found, when that is one of the causes', () => {
    const bodyHash = 'ab'.repeat(32);
    expect(cause([WRONG], { bodyHash, signatureCause: 'key_missing' })).toEqual({
      cause: 'key_missing',
      asked: [],
    });
    expect(cause([WRONG], { bodyHash, signatureCause: 'rain' }).cause).toBe('not_examined');
    expect(cause([WRONG], { signatureCause: 'rain' }).cause).toBe('header_doubled');
  });

  it.each([
    ['verifies', [SIGNATURE]],
    ['is missing', []],
    ['came twice', [WRONG, WRONG]],
  ])('that %s is none, and nobody is asked', (_how, signatures) => {
    expect(cause(signatures)).toEqual({ cause: 'none', asked: [] });
  });
});

describe('what deliveries of one body have in common', () => {
  const keyOf = (body: object, signature: string, more: Partial<CallbackDelivery> = {}) => {
    const { row } = receive(body, signature, [KEY], more);
    return { body_seal: row.body_seal, body_key: row.body_key };
  };
  const NONE = { body_seal: 0, body_key: 0 };
  const seal = sealOf(SEAL);
  const firstDigits = (hash: string) => Number.parseInt(hash.slice(0, 8), 16);

  it.each(['Success', 'Failed'])('is the seal of the whole body when it verifies as %s', (status) => {
    const body = { ...BODY, status };
    expect(keyOf(body, sign(body))).toEqual({
      body_seal: seal.id,
      body_key: firstDigits(seal.of(JSON.stringify(body))),
    });
    expect(keyOf({ ...body, note: 1 }, sign(body))).not.toEqual(keyOf(body, sign(body)));
  });

  it('is nothing before the end, and of one that does not verify', () => {
    const early = { ...BODY, status: 'Processing' };
    expect(keyOf(early, sign(early))).toEqual(NONE);
    expect(keyOf(BODY, 'f'.repeat(64))).toEqual(NONE);
  });

  it('is what the intake says of a body that it reduced', () => {
    const bodyHash = `0123abcd${'f'.repeat(56)}`;
    expect(keyOf(BODY, SIGNATURE, { bodyHash, bodySeal: 7 })).toEqual({ body_seal: 7, body_key: 0x0123abcd });
    expect(keyOf(BODY, SIGNATURE, { bodyHash })).toEqual(NONE);
  });
});

describe('an amount with a tail that is none of it', () => {
  const amountOf = (amount: string) => {
    const body = { ...BODY, amount };
    const { row } = receive(body, sign(body));
    return [row.verdict, row.amount, row.problem];
  };

  it('is kept to the letter where no card number can hide in it, and rounded with a note where one can', () => {
    expect(amountOf('29.9500000001')).toEqual(['valid', '29.9500000001', '']);
    const note = 'amount: rounded to what the store holds';
    expect(amountOf('29.949999999999999')).toEqual(['valid', '29.95', note]);
    expect(amountOf('2.9949999999999999e1')).toEqual(['valid', '29.95', note]);
  });
});
