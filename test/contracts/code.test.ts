import { describe, expect, it } from 'vitest';
import { decode } from '../../collector/decode/code.ts';
import { CODE_FORMATS, REASON_GROUPS, RESULTS, STAGES, STATES } from '../../schemas/dictionary.ts';

const names = (entries: readonly { name: string }[]) => entries.map(({ name }) => name).join(' ');

// What leaves the product as JSON (`gatewatch decode --json`) and as enum members in SQL: changing one breaks
// its users.
describe('the contract of a decoded code', () => {
  it('has these fields in this order', () => {
    expect(JSON.stringify(decode('4.1.4.63'))).toBe(
      '{"action":"4.1.4.63","format":"v2","stage":"CHECK","result":"SUCCESS","state":"FAILED","reasonCode":63,' +
        '"reasonGroup":"ISSUER","reasonDetail":"INSUFFICIENT_FUNDS","catalogued":true,' +
        '"description":"Status check found the payment declined: insufficient funds"}',
    );
    expect(JSON.stringify(decode('1.2.3.4'))).toBe(
      '{"action":"1.2.3.4","format":"legacy","stage":null,"result":null,"state":null,"reasonCode":null,' +
        '"reasonGroup":null,"reasonDetail":null,"catalogued":false,"description":null}',
    );
  });

  it('has these names for the segments', () => {
    expect(names(STAGES)).toBe('INTERNAL GATEWAY_CREATE PAYFORM CHECK GATEWAY_CALLBACK MERCHANT_CALLBACK');
    expect(names(RESULTS)).toBe('INFO SUCCESS FAILURE');
    expect(names(STATES)).toBe('INIT CREATED PROCESSING SUCCESS FAILED');
    expect(names(REASON_GROUPS)).toBe('NONE TECH AUTHZ BUSINESS RISK USER ISSUER');
    expect(CODE_FORMATS.join(' ')).toBe('v2 legacy unrecognized');
  });
});
