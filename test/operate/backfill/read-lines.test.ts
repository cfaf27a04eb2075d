import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Defaults } from '../../../operate/backfill/columns.ts';
import { createLineReader, type Line } from '../../../operate/backfill/read-lines.ts';

function readAll(text: string, defaults: Defaults = {}): Line[] {
  const reader = createLineReader(defaults);
  return [...reader.push(text), ...reader.end()];
}
const messages = (text: string, defaults?: Defaults) => readAll(text, defaults).map(({ message }) => message);
const problems = (text: string) =>
  readAll(text).flatMap(({ line, problem }) => (problem === null ? [] : [{ line, ...problem }]));

describe('a file of orders', () => {
  it('is CSV or JSON lines, and both say the same', () => {
    const csv = `order_type,External ID,gateway,CHANNEL,amount,currency,comment
deposit,one,acme-eu,p2p,100.50,EUR,"ignored, as it is"
Withdrawal,two,,,,,
`;
    const json = `{"orderType":"DEPOSIT","externalId":"one","gateway":"acme-eu","channel":"p2p","amount":100.5,"currency":"EUR","x":1}

{"order_type":"Withdrawal","external-id":"two","gateway":null}`;
    const [one, two] = [
      { orderType: 'Deposit', externalId: 'one', gateway: 'acme-eu', channel: 'p2p', currency: 'EUR' },
      { orderType: 'Withdrawal', externalId: 'two' },
    ];
    expect(messages(csv)).toEqual([{ ...one, amount: '100.50' }, two]);
    expect(messages(json)).toEqual([{ ...one, amount: '100.5' }, two]);
    expect(readAll(json).map(({ line }) => line)).toEqual([1, 3]);
  });

  it('may begin with a byte order mark and empty lines', () => {
    const wanted = [{ orderType: 'Deposit', externalId: 'a' }];
    expect(messages('\u{feff}orderType;externalId\r\nDeposit;a\r\n')).toEqual(wanted);
    expect(messages('\u{feff}\n\n{"orderType":"Deposit","externalId":"a"}\n')).toEqual(wanted);
    expect(readAll('\n\norderType,externalId\nDeposit,a').map(({ line }) => line)).toEqual([4]);
  });

  it('is read as spreadsheets write it', () => {
    const german =
      'sep=;\r\norderType;externalTransactionId;amount\r\nDeposit;#1001;"1.234,50"\r\nDeposit;b;100,50\r\n';
    const wanted = [
      { line: 3, message: { orderType: 'Deposit', externalTransactionId: '#1001', amount: '1234.50' } },
      { line: 4, message: { orderType: 'Deposit', externalTransactionId: 'b', amount: '100.50' } },
    ];
    expect(readAll(german)).toMatchObject(wanted);
    const pieces = createLineReader({});
    expect([...Array.from(german).flatMap((one) => pieces.push(one)), ...pieces.end()]).toMatchObject(wanted);
    expect(messages('SEP=\t\norderType\texternalId\nDeposit\ta,b;c'.replace('a,b;c', 'a'))).toEqual([
      { orderType: 'Deposit', externalId: 'a' },
    ]);
    expect(problems('orderType;externalId;amount\nDeposit;a;1.234')).toEqual([
      {
        line: 2,
        field: 'amount',
        received: '"1.234"',
        expected: 'an amount that can be read in one way, such as 1234.00 or 1234,00',
      },
    ]);
  });

  it('has ids that a spreadsheet damaged refused, and all others taken', () => {
    const text = readFileSync('test/cases/15-excel-ids.csv', 'utf8');
    const received = 'a number in scientific notation, as spreadsheets write long ids';
    expect(problems(text)).toMatchObject(
      [2, 3, 4].map((line) => ({ line, field: 'externalTransactionId', received })),
    );
    expect(messages(text).filter((message) => message !== null)).toEqual([
      { orderType: 'Deposit', externalTransactionId: 'shop-78', amount: '1234.50', currency: 'EUR' },
      { orderType: 'Deposit', externalTransactionId: '#1001', amount: '10', currency: 'EUR' },
    ]);
    for (const id of ['1,23E+17', '2E+11', '#####', '#NV', '#REF!'])
      expect(problems(`orderType;externalTransactionId\nDeposit;${id}`)).toMatchObject([
        { field: 'externalTransactionId', received: expect.stringContaining('spreadsheets') as string },
      ]);
    expect(problems('{"orderType":"Deposit","externalId":1.5e17}')).toMatchObject([
      { field: 'externalId', received: 'a number with a point or an exponent' },
    ]);
  });

  it('has numbers for ids, with all their digits', () => {
    expect(messages('{"orderType":"Deposit","external_id":90071992547409931,"amount":1.5}')).toEqual([
      { orderType: 'Deposit', externalId: '90071992547409931', amount: '1.5' },
    ]);
  });

  it('may leave type and gateway to the command', () => {
    const defaults = { orderType: 'Withdrawal', gateway: 'acme-us' };
    expect(messages('externalTransactionId,gateway\nm-1,\nm-2,acme-eu', defaults)).toEqual([
      { orderType: 'Withdrawal', gateway: 'acme-us', externalTransactionId: 'm-1' },
      { orderType: 'Withdrawal', gateway: 'acme-eu', externalTransactionId: 'm-2' },
    ]);
  });

  it('has each bad line reported with number, field, what was there and what belongs there', () => {
    const text = `orderType,externalId,amount
Deposit,good,1
Refund,a,1
Deposit,,1
Deposit,b,lots
Deposit,c
Deposit,"d"e,1
Deposit,also-good,2`;
    expect(problems(text)).toEqual([
      { line: 3, field: 'orderType', received: '"Refund"', expected: '"Deposit" or "Withdrawal"' },
      {
        line: 4,
        field: 'externalId',
        received: 'nothing',
        expected: 'an externalId or an externalTransactionId',
      },
      { line: 5, field: 'amount', received: '"lots"', expected: 'a decimal number such as 100.50' },
      { line: 6, field: 'line', received: '2 fields', expected: '3 fields, as the header has' },
      { line: 7, field: 'line', received: 'a quote that does not belong there', expected: 'CSV' },
    ]);
    expect(messages(text).filter((message) => message !== null)).toHaveLength(2);
    expect(
      problems('{"orderType":"Deposit","externalId":"a"}\nnot JSON\n[1]\n{"orderType":"Deposit"}'),
    ).toEqual([
      { line: 2, field: 'line', received: '8 characters', expected: 'a JSON object' },
      { line: 3, field: 'line', received: '3 characters', expected: 'a JSON object' },
      {
        line: 4,
        field: 'externalId',
        received: 'nothing',
        expected: 'an externalId or an externalTransactionId',
      },
    ]);
  });

  it('never reports a card number', () => {
    const text = JSON.stringify(
      problems(
        'orderType,externalId,amount\n4111111111111111,a,1\nDeposit,b,4111 1111 1111 1111\nx4111111111111111',
      ),
    );
    expect(text).not.toMatch(/4111/);
    expect(text).toContain('a text like ~9:16');
  });

  it.each([
    ['no header with an id', 'orderType,amount\nDeposit,1', /names no id/],
    ['no type anywhere', 'externalId\na', /names no orderType/],
    ['a column twice', 'orderType,externalId,external_id\nDeposit,a,b', /names externalId twice/],
    ['a JSON array', '[{"orderType":"Deposit"}]', /one JSON object a line/],
  ])('with %s is refused as a whole', (_what, text, message) => {
    expect(() => readAll(text)).toThrow(message);
  });

  it('of any text gives lines or one error, and never another', () => {
    const any = fc.string({
      unit: fc.constantFrom('a', ',', '"', '\n', '{', '}', ':', '1', 'externalId', 'orderType', 'Deposit'),
    });
    fc.assert(
      fc.property(any, fc.constantFrom('', 'orderType,externalId\n'), (text, header) => {
        try {
          for (const { message, problem } of readAll(header + text)) {
            expect((message === null) === (problem === null)).toBe(false);
          }
        } catch (error) {
          expect((error as { code?: string }).code).toBe('usage');
        }
      }),
    );
  });
});
