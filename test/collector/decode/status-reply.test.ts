import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { foldHistory } from '../../../collector/decode/fold-order.ts';
import { NOTHING_KNOWN } from '../../../collector/decode/known-history.ts';
import { decimalText } from '../../../collector/decode/grammar.ts';
import { fingerprint } from '../../support/fingerprint.ts';
import { decodeStatusReply } from '../../../collector/decode/status-reply.ts';
import { formatTime, parseTime } from '../../../collector/decode/time.ts';
import { accept, at, context, OBSERVED_AT, ORDER_ID, replyText } from './history-fixtures.ts';

const HISTORY = [
  { time: at(0), action: '1.0.0.00' },
  { time: at(1), action: '1.1.1.00' },
  { time: at(5), action: '4.1.4.63' },
];
const rejectOf = (body: string, changes = {}) => {
  const decoded = decodeStatusReply(body, context(changes));
  return decoded.ok ? null : decoded.rejects[0];
};

describe('a status reply', () => {
  it('gives one row for each item, decoded, with where and when it was seen', () => {
    const { newEvents, items } = accept(replyText(HISTORY));
    expect(items).toBe(3);
    expect(newEvents[2]).toEqual({
      gateway: 'acme-eu',
      order_type: 'Deposit',
      external_id: ORDER_ID,
      event_time: parseTime(at(5)),
      action: '4.1.4.63',
      occurrence: 0,
      external_transaction_id: 'tx-1',
      channel: 'p2p',
      code_format: 'v2',
      stage: 'CHECK',
      result: 'SUCCESS',
      state: 'FAILED',
      reason_code: 63,
      reason_group: 'ISSUER',
      reason_detail: 'INSUFFICIENT_FUNDS',
      list_position: 2,
      span_start: parseTime(at(1)),
      observed_at: OBSERVED_AT,
      source: 'poll',
      callback_at: null,
      read_span: '',
    });
  });

  it('says of the order what its history does not', () => {
    const decoded = accept(replyText(HISTORY, { orderStatus: 'Failed', externalTransactionId: 'tx-2' }));
    expect(decoded).toMatchObject({
      final: true,
      orderStatus: 'Failed',
      externalTransactionId: 'tx-2',
      anomaly: '',
    });
    expect(decoded).toMatchObject({
      externalId: ORDER_ID,
      observedAt: OBSERVED_AT,
      amount: '100.5',
      isAmountRefused: false,
      currency: 'EUR',
    });
    expect(decoded.history.map(({ time, observedAt }) => [time, observedAt])).toEqual(
      HISTORY.map(({ time }) => [parseTime(time), OBSERVED_AT]),
    );
  });

  it.each([
    ['without orderHistory', undefined],
    ['with an orderHistory of null', null],
    ['with an empty orderHistory', []],
  ])('%s is an order without items', (_name, orderHistory) => {
    const decoded = accept(replyText(null, { orderHistory }));
    expect(decoded).toMatchObject({
      items: 0,
      newEvents: [],
      known: '',
      history: [],
      rejects: [],
    });
  });

  it.each([
    ['Created', false],
    ['Processing', false],
    ['Success', true],
    ['Failed', true],
    ['success', false],
    ['Refunded', false],
  ])('with the status %s is final: %s', (orderStatus, final) => {
    expect(accept(replyText(HISTORY, { orderStatus }))).toMatchObject({ orderStatus, final });
  });

  it('keeps legacy and unknown codes as rows, and of what is no code its fingerprint', () => {
    const { newEvents, history } = accept(
      replyText(['1.2.3.4', '9.9.9.99', 'DECLINED', '4.1.4.69'].map((action) => ({ time: at(0), action }))),
    );
    expect(newEvents.map((row) => [row.action, row.code_format, row.reason_detail])).toEqual([
      ['1.2.3.4', 'legacy', null],
      ['9.9.9.99', 'unrecognized', null],
      [fingerprint('DECLINED'), 'unrecognized', null],
      ['4.1.4.69', 'v2', 'UNKNOWN_69'],
    ]);
    expect(foldHistory(history).outcome).toBe('issuer_decline');
  });

  it('with bad items among good ones gives rows for the good and rejects for the bad', () => {
    const { newEvents, rejects, items } = accept(
      replyText([HISTORY[0], { time: 'soon', action: '4.1.3.00' }, null, HISTORY[1]]),
    );
    expect(items).toBe(2);
    expect(newEvents.map(({ list_position }) => list_position)).toEqual([0, 3]);
    expect(rejects).toMatchObject([
      {
        reason: 'history_time_invalid',
        field: 'time',
        received: '"soon"',
        order_id: ORDER_ID,
        order_type: 'Deposit',
      },
      { reason: 'history_item_malformed', field: 'body', received: 'nothing' },
    ]);
  });

  it('refuses the same bad item under the same id however often the order is read', () => {
    const body = replyText([
      { time: 'soon', action: '4.1.3.00' },
      { time: 'later', action: '4.1.3.00' },
    ]);
    const first = accept(body).rejects.map(({ reject_id }) => reject_id);
    const second = accept(body, { observedAt: OBSERVED_AT + 1 }).rejects.map(({ reject_id }) => reject_id);
    expect(second).toEqual(first);
    expect(new Set(first).size).toBe(2);
  });
});

describe('spans of new items', () => {
  it('start at the item before, and the first at itself', () => {
    const { newEvents } = accept(replyText(HISTORY));
    expect(newEvents.map(({ span_start }) => span_start)).toEqual([at(0), at(0), at(1)].map(parseTime));
  });

  it('start at the latest known item before, also for a late item in the middle of the list', () => {
    const { known } = accept(replyText(HISTORY));
    const late = { time: at(3), action: '2.2.4.11' };
    const second = accept(replyText([...HISTORY.slice(0, 2), late, ...HISTORY.slice(2)]), { known });
    expect(second.newEvents).toMatchObject([
      { action: '2.2.4.11', list_position: 2, event_time: parseTime(at(3)), span_start: parseTime(at(1)) },
    ]);
    expect(second.anomaly).toBe('history_inserted');
  });

  it('start in time order when the list does not keep it', () => {
    const { newEvents, anomaly } = accept(replyText(HISTORY.toReversed()));
    expect(
      newEvents.map(({ action, list_position, span_start }) => [action, list_position, span_start]),
    ).toEqual([
      ['1.0.0.00', 2, parseTime(at(0))],
      ['1.1.1.00', 1, parseTime(at(0))],
      ['4.1.4.63', 0, parseTime(at(1))],
    ]);
    expect(anomaly).toBe('history_out_of_order');
  });
});

describe('a second reply', () => {
  const { known } = accept(replyText(HISTORY));

  it('that brings nothing new gives no rows', () => {
    const again = accept(replyText(HISTORY), { known });
    expect(again).toMatchObject({ newEvents: [], known, anomaly: '', items: 3, missing: { count: 0 } });
  });

  it('that brings one more item gives one row', () => {
    const more = accept(replyText([...HISTORY, { time: at(5), action: '4.1.4.63' }]), { known });
    expect(more.newEvents).toMatchObject([{ action: '4.1.4.63', occurrence: 1, list_position: 3 }]);
    expect(more.anomaly).toBe('');
  });

  it('that is shorter keeps what was known and says so', () => {
    const fewer = accept(replyText(HISTORY.slice(0, 1)), { known });
    expect(fewer).toMatchObject({ newEvents: [], anomaly: 'history_shrank', known });
    expect(foldHistory(fewer.history).outcome).toBe('issuer_decline');
    expect(fewer.history).toHaveLength(3);
    // The earliest that is missing, with its microseconds.
    const second = fewer.known.split('\n')[2]?.split('|') ?? [];
    expect(fewer.missing).toEqual({
      count: 2,
      first: `${formatTime(Number(second[0]))} ${second[1]} ${second[2]}`,
    });
  });

  it('that drops one item and adds another has the union', () => {
    const other = accept(replyText([HISTORY[0], HISTORY[1], { time: at(9), action: '6.1.1.00' }]), { known });
    expect(other.newEvents.map(({ action }) => action)).toEqual(['6.1.1.00']);
    expect(other.anomaly).toBe('history_shrank');
    expect(foldHistory(other.history).lastItemAt).toBe(parseTime(at(9)));
    expect(other.history).toHaveLength(4);
  });
});

describe('the ids of a reply', () => {
  const UPPER = 'A0000000-0000-4000-8000-0000000000FF';

  it('are compared without case where they are UUIDs, and filed in lower case', () => {
    const text = readFileSync('test/cases/05-reply-uuid-upper-case.json', 'utf8');
    for (const orderId of [UPPER, UPPER.toLowerCase()]) {
      const { externalId, newEvents } = accept(text, { orderId });
      expect([externalId, newEvents[0]?.external_id]).toEqual([UPPER.toLowerCase(), UPPER.toLowerCase()]);
    }
    const byMerchants = { idKind: 'transaction-id', orderId: UPPER } as const;
    const echoed = replyText(HISTORY, { externalTransactionId: UPPER.toLowerCase() });
    expect(accept(echoed, byMerchants).externalTransactionId).toBe(UPPER.toLowerCase());
    expect(rejectOf(replyText(HISTORY, { externalId: 'TX-1' }), { orderId: 'tx-1' })).toMatchObject({
      reason: 'id_mismatch',
    });
  });

  it('may be numbers, and keep all their digits', () => {
    const body = replyText(HISTORY)
      .replace(`"${ORDER_ID}"`, '90071992547409931')
      .replace('"amount"', '"externalTransactionId": 20261121044336000123, "amount"');
    expect(accept(body, { orderId: '90071992547409931' })).toMatchObject({
      externalId: '90071992547409931',
      externalTransactionId: '20261121044336000123',
    });
    const other = { orderId: '90071992547409932' };
    expect(rejectOf(body, other)).toMatchObject({ reason: 'id_mismatch' });
  });

  it.each(['#1001', 'SO 12345678', 'order@shop', "O'Brien-1"])('keep the shop’s number %s', (id) => {
    const body = replyText(HISTORY, { externalTransactionId: id });
    expect(accept(body).externalTransactionId).toBe(id);
    expect(accept(body, { idKind: 'transaction-id', orderId: id }).externalId).toBe(ORDER_ID);
  });
});

describe('a reply about something else', () => {
  it.each([
    ['another service id', { externalId: 'another' }, {}, 'externalId'],
    [
      'another merchant id',
      { externalTransactionId: 'tx-2' },
      { idKind: 'transaction-id', orderId: 'tx-1' },
      'externalTransactionId',
    ],
    ['another order type', { orderType: 'Withdrawal' }, {}, 'orderType'],
  ])('with %s is refused whole', (_name, reply, asked, field) => {
    expect(rejectOf(replyText(HISTORY, reply), asked)).toMatchObject({ reason: 'id_mismatch', field });
  });

  it('asked for by merchant id gives the service id, and takes the merchant id as sent or as asked', () => {
    const asked = { idKind: 'transaction-id', orderId: 'tx-1' } as const;
    for (const externalTransactionId of ['tx-1', null, undefined]) {
      expect(accept(replyText(HISTORY, { externalTransactionId }), asked)).toMatchObject({
        externalId: ORDER_ID,
        externalTransactionId: 'tx-1',
        newEvents: [{ external_id: ORDER_ID, external_transaction_id: 'tx-1' }, {}, {}],
      });
    }
  });

  it('may leave the order type out, or write it in another case', () => {
    expect(accept(replyText(HISTORY, { orderType: undefined })).newEvents).toHaveLength(3);
    expect(accept(replyText(HISTORY, { orderType: 'DEPOSIT' })).newEvents).toHaveLength(3);
  });

  it('never shows the other id', () => {
    const reject = rejectOf(replyText(HISTORY, { externalId: 'someone-elses-order' }));
    expect(JSON.stringify(reject)).not.toContain('someone');
  });
});

describe('a reply that is no order', () => {
  const whole = replyText(HISTORY);

  it('is truncated at any place: refused, with nothing of it shown', () => {
    for (let length = 0; length < whole.length; length++) {
      const reject = rejectOf(whole.slice(0, length));
      expect(reject).toMatchObject({ reason: 'reply_truncated', field: 'body', content: '' });
      expect(reject?.received).toMatch(/^\d+ characters of something else$/);
    }
  });

  it.each([
    ['an HTML page', '<html></html>', 'reply_truncated', 'body'],
    ['a JSON null', 'null', 'reply_malformed', 'body'],
    ['a list', '[]', 'reply_malformed', 'body'],
    ['an error body', '{"code":"NOT_FOUND"}', 'reply_malformed', 'externalId'],
    ['an empty id', replyText(HISTORY, { externalId: '' }), 'reply_malformed', 'externalId'],
    ['no status', replyText(HISTORY, { orderStatus: undefined }), 'reply_malformed', 'orderStatus'],
    ['a number for its status', replyText(HISTORY, { orderStatus: 3 }), 'reply_malformed', 'orderStatus'],
    ['an object for its history', replyText(null, { orderHistory: {} }), 'reply_malformed', 'orderHistory'],
    [
      'more items than any order has',
      replyText(Array.from({ length: 10_001 }, () => HISTORY[0])),
      'reply_malformed',
      'orderHistory',
    ],
    ['its fields in the prototype', `{"__proto__":${whole}}`, 'reply_malformed', 'externalId'],
  ])('but %s is refused', (_name, body, reason, field) => {
    const reject = rejectOf(body);
    expect(reject).toMatchObject({ reason, field });
    expect(JSON.stringify(reject)).not.toContain('4111');
  });
});

describe('two replies that show different items at one place', () => {
  const read = (actions: readonly string[]) => {
    let known = NOTHING_KNOWN;
    let outcome: string | null = null;
    for (const action of actions) {
      const decoded = accept(replyText([HISTORY[0], { time: at(5), action }]), { known });
      ({ known } = decoded);
      ({ outcome } = foldHistory(decoded.history));
    }
    return outcome;
  };

  // As the measures have it: `tuple(event_time, list_position, action)`.
  it.each([
    ['4.1.3.00', '4.1.4.63', 'issuer_decline'],
    ['2.2.4.11', '4.1.3.00', 'succeeded'],
  ])('%s and %s give %s, whichever was read first', (one, other, outcome) => {
    expect(read([one, other])).toBe(outcome);
    expect(read([other, one])).toBe(outcome);
  });
});

describe('a reply with texts that fit no grammar', () => {
  it.each([
    '4111.1111.1111.1111',
    'ADA LOVELACE',
    '4111\t1111\t1111\t1111',
    '4111\u00a01111\u00a01111\u00a01111',
    '4111_1111_1111_1111',
    '4111--1111--1111--1111',
    '４１１１１１１１１１１１１１１１',
  ])('keeps fingerprints of %j only', (text) => {
    const body = replyText(
      [
        { time: at(0), action: text },
        { time: text, action: '1.0.0.00' },
      ],
      {
        orderStatus: text,
        currency: text,
        externalTransactionId: text,
      },
    );
    const decoded = accept(body);
    expect(decoded.newEvents).toMatchObject([
      { action: fingerprint(text), external_transaction_id: fingerprint(text) },
    ]);
    expect(decoded).toMatchObject({ orderStatus: fingerprint(text), currency: null });
    expect(JSON.stringify([decoded, decoded.known])).not.toContain(JSON.stringify(text).slice(1, -1));
  });

  it('behind a byte order mark is read', () => {
    expect(accept(`\u{feff}${replyText(HISTORY)}`).newEvents).toHaveLength(HISTORY.length);
  });
});

describe('the amount of a reply', () => {
  it.each([
    ['100', '100'],
    ['100.00', '100'],
    ['100.5', '100.5'],
    ['0.1', '0.1'],
    ['-3.25', '-3.25'],
    ['1e2', '100'],
    ['1e-7', '0.0000001'],
    ['0.00000001', '0.00000001'],
    ['1.5e-8', '0.000000015'],
    ['1e-9', '0.000000001'],
    ['1e-10', null],
    ['1.23456789012', '1.234567890'],
    ['1e21', null],
    ['1e300', null],
    ['"100.00"', '100.00'],
    ['"0.000000001"', '0.000000001'],
    ['"0.0000000001"', null],
    [`"1${'0'.repeat(11)}.999999999"`, `1${'0'.repeat(11)}.999999999`],
    [`"${'9'.repeat(30)}"`, null],
    ['"1e2"', '100'],
    ['"1,000.00"', '1000.00'],
    ['"abc"', null],
    ['""', null],
    ['null', null],
    ['"4111111111111111"', null],
    ['4111111111111111', null],
    // More digits than a double holds.
    ['9007199254740993', null],
    ['900719925474000', '900719925474000'],
    ['1500000000000', '1500000000000'],
    ['29.949999999999999', '29.95'],
    ['900719925474.099307', '900719925474.099307'],
    ['-12345678.123456789', '-12345678.123456789'],
    ['12345678.100000001', '12345678.100000001'],
    ['100000000009.123456789', '100000000009.123456789'],
    ['1.00000000000000000000001', '1.00'],
    ['100.100000000000000', '100.100000000'],
    ['"100.100000000000000"', '100.100000000'],
    ['1.00000000000000000000e2', '100'],
    [`0.${'0'.repeat(80)}1`, null],
  ])('%s becomes %s', (source, text) => {
    const body = replyText(HISTORY).replace('"amount":100.5', `"amount":${source}`);
    const { amount, newEvents } = accept(body);
    expect(amount).toBe(text);
    expect(newEvents).toHaveLength(3);
  });

  it.each([
    ['true', 'true'],
    ['[1]', 'an array of 1'],
    ['{"value":"10.50","currency":"EUR"}', 'an object'],
    ['1e-18', '1e-18'],
    ['4111111111111111', 'a text like ~9:16'],
  ])('that is %s is dropped and reported, and the rest of the reply counts', (source, seen) => {
    const body = replyText(HISTORY).replace('"amount":100.5', `"amount":${source}`);
    const decoded = accept(body);
    const { newEvents, rejects, known } = decoded;
    expect(decoded).toMatchObject({ amount: null, isAmountRefused: true, orderStatus: 'Processing' });
    expect(newEvents).toHaveLength(HISTORY.length);
    expect(rejects).toEqual([
      expect.objectContaining({ reason: 'field_unreadable', field: 'amount', received: expect.any(String) }),
    ]);
    expect([seen, 'a long number']).toContain(rejects[0]?.received);
    // The next reply of the order says the same, once.
    expect(accept(body, { known }).rejects).toEqual([]);
  });

  it('is rounded to the digits of its currency where a tail is no part of it, which is noted', () => {
    const rounded = (amount: string, currency: string) => {
      const body = replyText(HISTORY, { currency }).replace('"amount":100.5', `"amount":${amount}`);
      const decoded = accept(body);
      return [decoded.amount, decoded.anomaly];
    };
    expect(rounded('29.949999999999999', 'EUR')).toEqual(['29.95', 'amount_rounded']);
    expect(rounded('1500.0000000000002', 'JPY')).toEqual(['1500', 'amount_rounded']);
    expect(rounded('1.2349999999999999', 'KWD')).toEqual(['1.235', 'amount_rounded']);
    expect(rounded('29.95', 'EUR')).toEqual(['29.95', '']);
  });

  it('that is missing is null', () => {
    expect(decimalText(undefined)).toBeNull();
    expect(accept(replyText(HISTORY, { amount: undefined })).amount).toBeNull();
  });

  it('as large as a number can be is dropped rather than invented', () => {
    const decoded = accept(replyText(HISTORY).replace('100.5', '1e999'));
    expect(decoded).toMatchObject({ amount: null, isAmountRefused: true });
  });
});

describe('an odd field that is not needed', () => {
  it.each([
    ['externalTransactionId', 'x'.repeat(201)],
    ['externalTransactionId', { id: 'a' }],
    ['orderType', ['Deposit']],
    ['currency', 978],
    ['currency', 'euro-cents'],
  ])('such as %s is dropped and reported, and the rest counts', (field, value) => {
    const { rejects, newEvents, orderStatus } = accept(replyText(HISTORY, { [field]: value }));
    expect(rejects).toEqual([expect.objectContaining({ reason: 'field_unreadable', field })]);
    expect(newEvents).toHaveLength(HISTORY.length);
    expect(orderStatus).toBe('Processing');
  });
});

describe('the currency of a reply', () => {
  it.each([
    ['EUR', 'EUR'],
    ['', null],
    ['  ', null],
    [null, null],
  ])('%o becomes %o', (currency, expected) => {
    expect(accept(replyText(HISTORY, { currency })).currency).toBe(expected);
  });
});
