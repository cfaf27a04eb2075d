import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decode } from '../../../collector/decode/code.ts';

/** Any sequence of UTF-16 units, halves of surrogate pairs included. */
const anyText = fc
  .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 40 })
  .map((units) => String.fromCharCode(...units));

const digits = (max: number) =>
  fc.stringMatching(/^[0-9]+$/, { size: 'small' }).map((text) => text.slice(0, max));
/** Dotted numbers: v2 codes, their near misses and legacy codes. */
const dotted = fc.array(digits(3), { minLength: 3, maxLength: 5 }).map((segments) => segments.join('.'));
const v2Shaped = fc
  .tuple(fc.nat(9), fc.nat(9), fc.nat(9), fc.nat(99))
  .map(([a, c, b, reason]) => `${a}.${c}.${b}.${String(reason).padStart(2, '0')}`);
/** A v2-shaped code with every segment allowed. */
const allowed = fc
  .tuple(
    fc.integer({ min: 1, max: 6 }),
    fc.nat(2),
    fc.nat(4),
    fc.nat(69).filter((reason) => groupByHand(reason) !== null),
  )
  .map(([a, c, b, reason]) => `${a}.${c}.${b}.${String(reason).padStart(2, '0')}`);
/** A v2-shaped code with one unit replaced, removed or added. */
const almost = fc
  .tuple(v2Shaped, fc.nat(8), fc.constantFrom('replace', 'remove', 'add'), anyText)
  .map(([code, at, change, text]) => {
    const unit = text.charAt(0);
    if (change === 'remove') return code.slice(0, at) + code.slice(at + 1);
    return code.slice(0, at) + unit + code.slice(change === 'add' ? at : at + 1);
  });
const anything = fc.oneof(anyText, fc.string({ unit: 'binary' }), dotted, v2Shaped, allowed, almost);

const isDigits = (text: string) =>
  text !== '' && Array.from(text).every((unit) => unit >= '0' && unit <= '9');

/** Format by the contract's words, unit by unit, with no regular expression and no table of the product. */
function formatByHand(action: string): 'v2' | 'legacy' | 'unrecognized' {
  const segments = action.split('.');
  if (segments.length !== 4 || !segments.every(isDigits)) return 'unrecognized';
  if (segments.map((segment) => segment.length).join() !== '1,1,1,2') {
    return segments.join('').length <= 11 ? 'legacy' : 'unrecognized';
  }
  const [a, c, b, reason] = segments.map(Number) as [number, number, number, number];
  const allowed = a >= 1 && a <= 6 && c <= 2 && b <= 4 && groupByHand(reason) !== null;
  return allowed ? 'v2' : 'unrecognized';
}

function groupByHand(reason: number): string | null {
  if (reason === 0) return 'NONE';
  if (reason % 10 === 0) return null;
  return [null, 'TECH', 'AUTHZ', 'BUSINESS', 'RISK', 'USER', 'ISSUER'][Math.floor(reason / 10)] ?? null;
}

const DECODED_FIELDS = [
  'stage',
  'result',
  'state',
  'reasonCode',
  'reasonGroup',
  'reasonDetail',
  'description',
] as const;

describe('decode, for any text', () => {
  it('gives a value, in the format that the contract describes, with the text as it came', () => {
    fc.assert(
      fc.property(anything, (action) => {
        const decoded = decode(action);
        expect(decoded.format).toBe(formatByHand(action));
        expect(decoded.action).toBe(action);
      }),
      { numRuns: 20_000 },
    );
  });

  it('fills the decoded fields for v2 and leaves all of them null otherwise', () => {
    fc.assert(
      fc.property(anything, (action) => {
        const decoded = decode(action);
        for (const field of DECODED_FIELDS) expect(decoded[field] !== null).toBe(decoded.format === 'v2');
        expect(decoded.catalogued && decoded.format !== 'v2').toBe(false);
      }),
      { numRuns: 5_000 },
    );
  });

  it('gives the same value for the same text, and nobody can change it for others', () => {
    fc.assert(
      fc.property(anything, (action) => {
        const first = decode(action);
        expect(decode(action)).toEqual(first);
        expect(Object.isFrozen(first) || decode(action) !== first).toBe(true);
      }),
      { numRuns: 5_000 },
    );
  });
});
