import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createFingerprint } from '../../../collector/decode/fingerprint.ts';
import { received, shapeOf } from '../../../schemas/shape.ts';
import {
  currencyCode,
  decimalText,
  isCode,
  isKeepableAmount,
  isKeepableId,
  isMasked,
  isStatus,
  storedChannel,
  storedCode,
  storedDeliveryId,
  storedGateway,
  storedId,
  storedStatus,
} from '../../../collector/decode/grammar.ts';
import { Secret } from '../../../schemas/secret.ts';
import { fingerprint, POLICY } from '../../support/fingerprint.ts';
import { writtenCard } from './callback-fixtures.ts';

const CARD = '4111111111111111';
const UUID = '7d9f2c1e-4b7a-4d53-9a51-0c9f6a1b2c3d';

describe('the shape of a text', () => {
  it.each([
    ['', '~:0'],
    ['ADA LOVELACE', '~a a:12'],
    ['4111.1111.1111.1111', '~9.9.9.9:19'],
    ['4111 -\t- 1111', '~9 . . 9:13'],
    ['Частично оплачен', '~a a:16'],
    ['４１１１ ①', '~9 9:6'],
    ['é', '~a:1'],
    ['~a:1', '~.a.9:4'],
    ['🙂🙂', '~.:4'],
    [`${'a'.repeat(300)}9`, '~a:301'],
    ['a1'.repeat(100), '~a9a9a9a9a9a9a9a9a9a9a9a9:200'],
    ['.a'.repeat(5_000), '~.a.a.a.a.a.a.a.a.a.a.a.a:10000'],
  ])('%j is %s', (text, shape) => {
    expect(shapeOf(text)).toBe(shape);
  });

  it('holds nothing of the text, whatever it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (text) => {
        expect(shapeOf(text)).toMatch(/^~[a9. ]{0,24}:\d+$/);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('a stored text', () => {
  it.each([
    ['~a 9:12', true],
    ['a~', false],
    ['', false],
  ])('%j stands for another one: %s', (text, masked) => {
    expect(isMasked(text)).toBe(masked);
  });
});

describe('an amount', () => {
  it.each([
    [null, null],
    [undefined, null],
    ['', null],
    ['100.00', '100.00'],
    ['-1.5', '-1.5'],
    ['--1', null],
    ['x1', null],
    ['1x', null],
    ['1.', '1'],
    ['.5', '0.5'],
    ['100.', '100'],
    ['1,5', '1.5'],
    ['1,234.56', '1234.56'],
    ['1.234,56', '1234.56'],
    ['1,234,567', '1234567'],
    ['1,234', null],
    ['123456789012', '123456789012'],
    ['1500000000000', '1500000000000'],
    ['100000000000000000000', '100000000000000000000'],
    ['1000000000000000000000', null],
    ['0.123456789', '0.123456789'],
    ['0.1234567891', '0.123456789'],
    ['29.949999999999999', '29.95'],
    ['29.9500000000000001', '29.95'],
    ['-0.30000000000000004', '-0.30'],
    ['1.00000000000000000000001', '1.00'],
    ['1e-18', null],
    ['1e2', '100'],
    ['4111111111111111', null],
    ['8502164798151106', null],
    ['850216479815110.6', null],
    ['1900000000000', '1900000000000'],
    ['0.4111111111111111', '0.411111111'],
    ['0.1234567890', '0.123456789'],
    ['0.12345678900000', '0.123456789'],
    ['0.1000000000', '0.100000000'],
    ['411111111111.1111', null],
    ['411111111111.1112', '411111111111.1112'],
    [0, '0'],
    [7.25, '7.25'],
    [-7.25, '-7.25'],
    [1e-7, '0.0000001'],
    [-1.5e-7, '-0.00000015'],
    [1e-9, '0.000000001'],
    [1e-10, null],
    [1.5e-9, null],
    [1e20, '100000000000000000000'],
    [1e21, null],
    [Number.NaN, null],
  ])('%j is kept as %j', (amount, text) => {
    expect(decimalText(amount)).toBe(text);
  });

  it.each([
    ['100.00', true],
    ['0.1234567890000', true],
    ['0.12345678901', true],
    ['0.4111111111111111', false],
    ['1,234.56', true],
    ['a', false],
    ['411111111111.1111', false],
  ])('%j is decimal: %s', (text, is) => {
    expect(isKeepableAmount(text)).toBe(is);
  });
});

describe('a fingerprint', () => {
  it('is the shape, the length and 16 digits of a keyed hash', () => {
    // HMAC-SHA-256 of "ADA LOVELACE" under 32 bytes of 0x5a, by openssl.
    expect(fingerprint('ADA LOVELACE')).toBe('~a a:12:712d38ae2e0c0d83');
  });

  it('is equal for equal texts, and different for others and under another key', () => {
    const other = createFingerprint(new Secret('a5'.repeat(32)));
    fc.assert(
      fc.property(fc.string(), fc.string(), (one, two) => {
        expect(fingerprint(one) === fingerprint(two)).toBe(one === two);
        expect(other(one)).not.toBe(fingerprint(one));
      }),
    );
  });
});

describe('a code', () => {
  it.each(['4.1.4.63', '1.2.3', '9.9.9.99', '1', '10.20.30.40', '12345678901'.slice(0, 9), '1.2.3.4.5'])(
    '%s is kept',
    (code) => {
      expect(isCode(code)).toBe(true);
      expect(storedCode(code, fingerprint)).toBe(code);
    },
  );

  it.each([
    '',
    '.',
    '1.',
    '.1',
    '1..2',
    '4.1.4.63 ',
    'x4.1.4.63',
    '4111.1111.1111.1111',
    '123456.123456',
    '1111.1111.1111',
    '1.1.1.1.1.1.1.1.1.1.1.1',
    '４.1.4.63',
    'DECLINED',
  ])('%j is no code', (text) => {
    expect(isCode(text)).toBe(false);
    expect(storedCode(text, fingerprint)).toBe(fingerprint(text));
  });

  it('of eleven digits is one, and of twelve is none', () => {
    expect([isCode('123456.12345'), isCode('123456.123456')]).toEqual([true, false]);
  });
});

describe('a status', () => {
  it.each(['Success', 'PROCESSING', 'Отменён', 'x'.repeat(32), '~a 9:12'])('%s is kept', (status) => {
    expect(isStatus(status)).toBe(true);
    expect(storedStatus(status, fingerprint)).toBe(status);
  });

  it.each([
    '',
    'x'.repeat(33),
    'ADA LOVELACE',
    'Failed 4111',
    'a1',
    '~a:1234',
    '~b:1',
    ' Success',
    'Success\n',
  ])('%j is none', (text) => {
    expect(isStatus(text)).toBe(false);
    expect(storedStatus(text, fingerprint)).toBe(fingerprint(text));
  });
});

describe('an id', () => {
  it.each([
    UUID,
    'order-1',
    'Заказ-15',
    '1795256130000000',
    '20261121101530',
    'a|b',
    'x'.repeat(200),
    '~a 9:16',
  ])('%s is kept', (id) => {
    expect(storedId('external-id', id, POLICY)).toBe(id);
  });

  it.each([
    CARD,
    'order-4111-1111-1111-1111',
    '4111_1111_1111_1111',
    '4111--1111--1111--1111',
    '4111.1111.1111.1111',
    '2026-4111111111111111',
    '４１１１１１１１１１１１１１１１',
    '٤١١١١١١١١١١١١١١١',
    'ADA LOVELACE',
    'a\u00a0b',
    '',
    '..',
    'a/../b',
    'x'.repeat(201),
  ])('%j is not', (id) => {
    expect(storedId('external-id', id, POLICY)).toBe(fingerprint(id));
  });

  it('that could be a card number is kept where ids are numbered so, and a name is not', () => {
    const numbers = { fingerprint, keepsCardLikeIds: true };
    expect(storedId('external-id', CARD, numbers)).toBe(CARD);
    expect(storedId('external-id', 'ADA LOVELACE', numbers)).toBe(fingerprint('ADA LOVELACE'));
    expect([isKeepableId('external-id', CARD, true), isKeepableId('external-id', CARD, false)]).toEqual([
      true,
      false,
    ]);
  });

  it('of the merchant is any printable text, of the service is not', () => {
    for (const id of ['#1001', 'SO 12345678', 'order@shop', "O'Brien-1"]) {
      expect(storedId('transaction-id', id, POLICY)).toBe(id);
      expect(storedId('external-id', id, POLICY)).toBe(fingerprint(id));
    }
    for (const id of ['ADA LOVELACE', `SO ${CARD}`, 'https://evil.example/login/g6', 'a\u202e1', '~1'])
      expect(storedId('transaction-id', id, POLICY)).toBe(fingerprint(id));
  });

  it('that is a web address is not kept', () => {
    for (const id of ['https://evil.example/login/g6', 'evil.example/login', 'www.evil', 'evil.example'])
      expect(storedId('external-id', id, POLICY)).toBe(fingerprint(id));
  });

  it('shows no card number, however it is grouped', () => {
    fc.assert(
      fc.property(writtenCard, (card) => {
        expect(storedId('external-id', card.replaceAll(' ', '.'), POLICY)).toMatch(
          /^~[9.]+:\d+:[0-9a-f]{16}$/,
        );
      }),
    );
  });
});

describe('other texts of strangers', () => {
  it.each(['', 'p2p', 'internal-widget', 'P2P_card.2', 'A1234567', 'c'.repeat(32)])(
    'channel %j is kept',
    (text) => {
      expect(storedChannel(text, fingerprint)).toBe(text);
    },
  );

  it.each(['2p', 'internal widget', 'c'.repeat(33), 'a123456789', 'a4111-11111', 'é', '-a'])(
    'channel %j is not',
    (text) => {
      expect(storedChannel(text, fingerprint)).toBe(fingerprint(text));
    },
  );

  it('names of gateways and ids of deliveries are kept in their forms only', () => {
    for (const name of ['', 'acme-eu', 'g2', 'g-1234', 'a'.repeat(63)])
      expect(storedGateway(name, fingerprint)).toBe(name);
    for (const name of [
      'Acme',
      'a b',
      CARD,
      '4111x1111x1111',
      '0x1020b90ba2b46e',
      'g-12345',
      'a'.repeat(64),
    ]) {
      expect(storedGateway(name, fingerprint)).toBe(fingerprint(name));
    }
    for (const id of [UUID, 'gateway.callbacks/3@42'.replace('@', ':'), 'a'.repeat(100)]) {
      expect(storedDeliveryId(id, fingerprint)).toBe(id);
    }
    for (const id of ['', CARD, 'a b', 'a'.repeat(101), `x:${CARD}`, 'https://evil.example']) {
      expect(storedDeliveryId(id, fingerprint)).toBe(fingerprint(id));
    }
  });

  it('keeps a channel of eight digits, and a gateway of four', () => {
    for (const channel of ['a12345678', 'A._-9', 'z', 'Z', 'a'.repeat(32)])
      expect(storedChannel(channel, fingerprint)).toBe(channel);
    for (const channel of ['P2PcardPayments1', 'p2p-card-payments-of-2026', 'P2P_CARD_PAYMENTS_2026'])
      expect(storedChannel(channel, fingerprint)).toBe(channel);
    // Base64 of a card number of 15 digits.
    for (const channel of ['MzcxNDQ5NjM1Mzk4NDMx', 'P2PcardPayments12'])
      expect(storedChannel(channel, fingerprint)).toBe(fingerprint(channel));
    for (const channel of ['a123456789', '1a', '-a', 'a b', 'a\n', 'a'.repeat(33), ' a'])
      expect(storedChannel(channel, fingerprint)).toBe(fingerprint(channel));
    for (const gateway of ['a1234', '-', 'z9', 'a'.repeat(63)])
      expect(storedGateway(gateway, fingerprint)).toBe(gateway);
    for (const gateway of ['a12345', 'A', 'a b', 'a_b', ' a', 'a\n', 'a'.repeat(64)])
      expect(storedGateway(gateway, fingerprint)).toBe(fingerprint(gateway));
  });

  it.each([
    ['EUR', 'EUR'],
    [' usd ', 'USD'],
    ['USDT', 'USDT'],
    ['MATIC', 'MATIC'],
    ['978', '978'],
    ['', null],
    ['EU', null],
    ['EUROEU', null],
    ['97', null],
    ['9788', null],
    ['E1R', null],
    [978, null],
    [null, null],
    [undefined, null],
    [['EUR'], null],
  ])('currency %j is stored as %j', (currency, stored) => {
    expect(currencyCode(currency)).toBe(stored);
  });

  it.each([
    [null, 'nothing'],
    [undefined, 'nothing'],
    ['', 'an empty string'],
    ['Refund', '"Refund"'],
    ['12345678901', '"12345678901"'],
    ['123456789012', 'a text like ~9:12'],
    ['ADA LOVELACE', 'a text like ~a a:12'],
    [7.5, '7.5'],
    [-12_345_678_901, '-12345678901'],
    [123_456_789_012, 'a long number'],
    [1e21, 'a long number'],
    [true, 'true'],
    [[CARD], 'an array of 1'],
    [{ cardNumber: CARD }, 'an object'],
  ])('%j is called %s', (value, text) => {
    expect(received(value)).toBe(text);
  });
});
