import { describe, expect, it } from 'vitest';
import { decode } from '../../../collector/decode/code.ts';
import { cataloguedCodes, reasonTable } from './golden-tables.ts';

const REASONS = reasonTable();
const RANGES: readonly (readonly [string, number, number])[] = [
  ['NONE', 0, 0],
  ['TECH', 11, 19],
  ['AUTHZ', 21, 29],
  ['BUSINESS', 31, 39],
  ['RISK', 41, 49],
  ['USER', 51, 59],
  ['ISSUER', 61, 69],
];
const twoDigits = (code: number) => String(code).padStart(2, '0');
const undecoded = (action: string, format: string) => ({
  action,
  format,
  stage: null,
  result: null,
  state: null,
  reasonCode: null,
  reasonGroup: null,
  reasonDetail: null,
  catalogued: false,
  description: null,
});

describe('a catalogued code', () => {
  it('is one of forty, each written once', () => {
    const actions = cataloguedCodes().map(({ action }) => action);
    expect(actions).toHaveLength(40);
    expect(new Set(actions).size).toBe(40);
  });

  it.each(cataloguedCodes())('$action decodes to what the interface says', (expected) => {
    const { description, ...decoded } = decode(expected.action);
    expect(decoded).toEqual({ ...expected, format: 'v2', catalogued: true });
    expect(description).toMatch(/^[A-Z0-9].{10,}[^.]$/);
  });

  it('has a description of its own', () => {
    const descriptions = cataloguedCodes().map(({ action }) => decode(action).description);
    expect(new Set(descriptions).size).toBe(40);
  });
});

describe('a reason code', () => {
  it('is in the dictionary twenty-seven times', () => {
    expect(REASONS.size).toBe(27);
  });

  const unknown = RANGES.flatMap(([group, from, to]) =>
    Array.from({ length: to - from + 1 }, (_, index) => from + index)
      .filter((code) => !REASONS.has(twoDigits(code)))
      .map((code) => ({ group, code })),
  );

  it('is unknown inside a range twenty-eight times', () => {
    expect(unknown).toHaveLength(28);
  });

  it.each(unknown)('$code, which the dictionary lacks, keeps the group $group', ({ group, code }) => {
    const decoded = decode(`2.2.4.${code}`);
    expect(decoded).toMatchObject({
      format: 'v2',
      stage: 'GATEWAY_CREATE',
      result: 'FAILURE',
      state: 'FAILED',
      reasonCode: code,
      reasonGroup: group,
      reasonDetail: `UNKNOWN_${code}`,
      catalogued: false,
    });
    expect(decoded.description).toContain(String(code));
  });
});

describe('every code of v2 shape', () => {
  const stages = [
    null,
    'INTERNAL',
    'GATEWAY_CREATE',
    'PAYFORM',
    'CHECK',
    'GATEWAY_CALLBACK',
    'MERCHANT_CALLBACK',
  ];
  const results = ['INFO', 'SUCCESS', 'FAILURE'];
  const states = ['INIT', 'CREATED', 'PROCESSING', 'SUCCESS', 'FAILED'];

  const catalogue = new Set(cataloguedCodes().map(({ action }) => action));

  /** What `decode` must give, but for the description. */
  function expectedOf(digits: string) {
    const [a, c, b, reason] = [digits[0], digits[1], digits[2], digits.slice(3)].map(Number) as [
      number,
      number,
      number,
      number,
    ];
    const action = `${a}.${c}.${b}.${digits.slice(3)}`;
    const [stage, result, state] = [stages[a], results[c], states[b]];
    const group = RANGES.find(([, from, to]) => reason >= from && reason <= to)?.[0];
    if (!stage || !result || !state || group === undefined) return undecoded(action, 'unrecognized');
    return {
      action,
      format: 'v2',
      stage,
      result,
      state,
      reasonCode: reason,
      reasonGroup: group,
      reasonDetail: REASONS.get(twoDigits(reason))?.detail ?? `UNKNOWN_${reason}`,
      catalogued: catalogue.has(action),
    };
  }

  it('decodes exactly when each of its segments is allowed (all 100,000 of them)', () => {
    const wrong: unknown[] = [];
    let count = 0;
    for (let number = 0; number < 100_000; number++) {
      const expected = expectedOf(String(number).padStart(5, '0'));
      const { description, ...decoded } = decode(expected.action);
      const same = Object.entries(decoded).every(([field, value]) => Reflect.get(expected, field) === value);
      const described = (description !== null && description.length > 10) === (decoded.format === 'v2');
      if (!same || !described) wrong.push({ expected, decoded, description });
      if (decoded.format === 'v2') count++;
    }
    expect(wrong).toEqual([]);
    expect(count).toBe(6 * 3 * 5 * 55);
  });
});

describe('a legacy code', () => {
  it.each([
    '1.2.3.4',
    '4.1.4.6',
    '4.1.4.063',
    '4.1.4.630',
    '04.1.4.63',
    '4.01.4.63',
    '4.1.04.63',
    '10.20.30.40',
    '0.0.0.0',
    '9999999.1.4.63',
  ])('%.40s is kept raw with nothing decoded', (action) => {
    expect(decode(action)).toEqual(undecoded(action, 'legacy'));
  });

  it('that happens to have the shape of v2 is read as v2: the two cannot be distinguished', () => {
    expect(decode('1.1.1.11').format).toBe('v2');
  });
});

describe('garbage', () => {
  it.each([
    ['nothing', ''],
    ['a card number with dots', '4111.1111.1111.1111'],
    ['12 digits with dots', '1111.111.111.11'],
    ['very many digits', `${'7'.repeat(10_000)}.1.4.63`],
    ['a space before', ' 4.1.4.63'],
    ['a space after', '4.1.4.63 '],
    ['a line end after', '4.1.4.63\n'],
    ['a carriage return after', '4.1.4.63\r\n'],
    ['a line end before', '\n4.1.4.63'],
    ['a line end inside', '4.1.\n4.63'],
    ['two codes on two lines', '4.1.4.63\n4.1.4.63'],
    ['a legacy code with a line end after', '10.20.30.40\n'],
    ['a tab', '4.1.4\t.63'],
    ['a no-break space', '4.1.4.63\u00a0'],
    ['a byte order mark', '\ufeff4.1.4.63'],
    ['a zero-width space', '4.1.4.6\u200b3'],
    ['a NUL', '4.1.4.63\0'],
    ['a leading plus', '+4.1.4.63'],
    ['a minus in a segment', '4.-1.4.63'],
    ['an exponent', '4.1.4.6e1'],
    ['hexadecimal', '4.1.4.0x3f'],
    ['full-width digits', '４.１.４.６３'],
    ['full-width dots', '4．1．4．63'],
    ['ideographic full stops', '4。1。4。63'],
    ['Arabic-Indic digits', '٤.١.٤.٦٣'],
    ['Devanagari digits', '४.१.४.६३'],
    ['mathematical digits', '\u{1d7d2}.1.4.63'],
    ['superscript digits', '4.1.4.6³'],
    ['commas', '4,1,4,63'],
    ['dashes', '4-1-4-63'],
    ['a missing segment', '4.1.63'],
    ['a segment too many', '4.1.4.63.1'],
    ['an empty segment', '4..4.63'],
    ['dots only', '...'],
    ['a trailing dot', '4.1.4.63.'],
    ['a leading dot', '.4.1.4.63'],
    ['letters', 'A.C.B.RR'],
    ['the letter O for a zero', '4.1.4.O0'],
    ['a half of a surrogate pair', '4.1.4.63\ud800'],
    ['a property name of every object', '__proto__'],
    ['a method name of every map', 'constructor'],
    ['a very long text', 'x'.repeat(1_000_000)],
    ['a very long row of dots', '1.'.repeat(500_000)],
    ['a very long legacy-like code', `1.2.3.${'4'.repeat(1_000_000)}x`],
  ])('with %s is unrecognized and kept raw', (_name, action) => {
    const decoded = decode(action);
    expect(decoded.action === action).toBe(true);
    expect({ ...decoded, action: '' }).toEqual(undecoded('', 'unrecognized'));
  });
});

describe('the result', () => {
  it('is the worked example of the contract', () => {
    expect(JSON.parse(JSON.stringify(decode('4.1.4.63')))).toEqual({
      action: '4.1.4.63',
      format: 'v2',
      stage: 'CHECK',
      result: 'SUCCESS',
      state: 'FAILED',
      reasonCode: 63,
      reasonGroup: 'ISSUER',
      reasonDetail: 'INSUFFICIENT_FUNDS',
      catalogued: true,
      description: 'Status check found the payment declined: insufficient funds',
    });
  });

  it('says in plain words what an uncatalogued code means', () => {
    expect(decode('5.2.2.64').description).toBe(
      'Gateway callback failed, payment in processing: issuer decision 64, which the dictionary does not know',
    );
    expect(decode('6.0.0.00').description).toBe('Merchant callback noted, payment not yet created');
  });

  it.each(['4.1.4.63', '4.1.4.10', '1.2.3.4', 'garbage'])('of %s cannot spoil the next one', (action) => {
    const before = structuredClone(decode(action));
    for (const field of Object.keys(before)) Reflect.set(decode(action), field, 'spoilt');
    expect(decode(action)).toEqual(before);
  });
});
