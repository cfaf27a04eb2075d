import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WHOLE } from '../../../alerts/count/slices.ts';
import { leadOf, type OneSymptom, suppressedBy } from '../../../alerts/evaluate/judge-slices.ts';

const SLICES = [WHOLE, 'order_type=Withdrawal', 'channel=p2p', 'channel=card', 'currency=BRL'];
const verdict = (slice: string, holds: boolean, strength = 1) => ({ slice, holds, strength });
const symptom = (given: Partial<OneSymptom>): OneSymptom => ({
  verdicts: [],
  before: null,
  holdsWithout: () => true,
  ...given,
});

describe('what stands for a symptom', () => {
  it('is nothing while nothing is in breach', () => {
    expect(leadOf(symptom({ verdicts: SLICES.map((slice) => verdict(slice, false)) }))).toBe(null);
  });

  it('is the whole gateway where that is in breach', () => {
    const verdicts = [verdict(WHOLE, true), verdict('channel=p2p', true, 99)];
    expect(leadOf(symptom({ verdicts }))).toBe(WHOLE);
  });

  it('is the slice that explains most, while the whole is not in breach', () => {
    const verdicts = [
      verdict(WHOLE, false),
      verdict('channel=p2p', true, 3),
      verdict('currency=BRL', true, 9),
    ];
    expect(leadOf(symptom({ verdicts }))).toBe('currency=BRL');
  });

  it('stays the slice that was first, also when others are still in breach once it is over', () => {
    const verdicts = [
      verdict(WHOLE, false),
      verdict('channel=p2p', true, 3),
      verdict('currency=BRL', true, 9),
    ];
    expect(leadOf(symptom({ verdicts, before: 'channel=p2p' }))).toBe('channel=p2p');
    const over = [verdict(WHOLE, false), verdict('channel=p2p', false), verdict('currency=BRL', true, 9)];
    expect(leadOf(symptom({ verdicts: over, before: 'channel=p2p' }))).toBe('channel=p2p');
    expect(leadOf(symptom({ verdicts: over }))).toBe('currency=BRL');
  });

  it('stays the slice when it draws the whole over the limit, until the other orders are hit as well', () => {
    const verdicts = [verdict(WHOLE, true), verdict('channel=p2p', true)];
    const before = 'channel=p2p';
    expect(leadOf(symptom({ verdicts, before, holdsWithout: () => false }))).toBe('channel=p2p');
    expect(leadOf(symptom({ verdicts, before, holdsWithout: () => true }))).toBe(WHOLE);
  });

  it('alone raises an alert, and nothing does in its place', () => {
    const arbitrary = fc.record({
      verdicts: fc.tuple(
        ...SLICES.map((slice) =>
          fc.record({ slice: fc.constant(slice), holds: fc.boolean(), strength: fc.integer({ max: 50 }) }),
        ),
      ),
      before: fc.option(fc.constantFrom(...SLICES)),
      holdsWithout: fc.func(fc.boolean()),
    });
    fc.assert(
      fc.property(arbitrary, (given) => {
        const inBreach = given.verdicts.filter(({ holds }) => holds).map(({ slice }) => slice);
        const lead = leadOf(given);
        expect(lead === null).toBe(inBreach.length === 0 && given.before === null);
        expect(inBreach.filter((slice) => suppressedBy(slice, lead) === '')).toEqual(
          inBreach.filter((slice) => slice === lead),
        );
        if (inBreach.includes(WHOLE)) expect(inBreach).toContain(lead);
      }),
    );
  });
});
