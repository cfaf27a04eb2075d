import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJson, parseKeepingIds, parseKeepingSources } from '../../schemas/json.ts';

describe('JSON about orders', () => {
  it('keeps ids that are numbers as they were written', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('externalId', 'externalTransactionId'),
        fc.stringMatching(/^(?:0|[1-9]\d{0,39})$/),
        fc.constantFrom('', ' ', '\n\t'),
        (key, digits, gap) => {
          expect(parseKeepingIds(`{"amount":1.50,"${key}"${gap}:${gap}${digits}}`)).toEqual({
            amount: 1.5,
            [key]: digits,
          });
        },
      ),
    );
  });

  it('keeps them in each of a list', () => {
    expect(parseKeepingIds('[{"externalId":9007199254740993},{"externalId":"a"},{"externalId":7}]')).toEqual([
      { externalId: '9007199254740993' },
      { externalId: 'a' },
      { externalId: '7' },
    ]);
  });

  it.each(['-7', '1.5', '1e17', '1.23457E+17'])('takes %s for no id', (number) => {
    expect(parseKeepingIds(`{"externalId":${number}}`)).toEqual({ externalId: Number(number) });
  });

  it('leaves all other numbers numbers', () => {
    expect(parseKeepingIds('{"id":1,"externalid":2,"xexternalId":3,"externalIdx":4,"externalId":5}')).toEqual(
      {
        id: 1,
        externalid: 2,
        xexternalId: 3,
        externalIdx: 4,
        externalId: '5',
      },
    );
  });

  it('throws for text that is not JSON', () => {
    expect(() => parseKeepingIds('{"externalId":7')).toThrow(SyntaxError);
    expect(() => parseKeepingIds('order 7')).toThrow(SyntaxError);
    expect(parseJson('order 7')).toBeUndefined();
    expect(parseJson('7')).toBe(7);
  });

  it('keeps the sources that are asked for', () => {
    const text = '{"amount":10.00,"n":1.0,"s":"1"}';
    expect(parseKeepingSources(text, (key) => key === 'amount')).toEqual({ amount: '10.00', n: 1, s: '1' });
    expect(parseKeepingSources(text, (_key, source) => source === '1.0')).toEqual({
      amount: 10,
      n: '1.0',
      s: '1',
    });
  });
});
