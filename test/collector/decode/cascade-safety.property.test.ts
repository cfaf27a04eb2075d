import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  judgeCascade,
  readStatusFacts,
  type KnownFacts,
  type StatusFinding,
} from '../../../collector/decode/cascade-safety.ts';
import { SAFETY_RULE_NAMES, SAFETY_RULES } from '../../../schemas/cascade-safety.ts';
import { CATALOGUE } from '../../../schemas/dictionary.ts';
import { T0 } from '../../support/watched-order.ts';

const ASKED = {
  gateway: 'acme-eu',
  orderType: 'Deposit',
  idKind: 'external-id',
  orderId: 'a',
  keepsCardLikeIds: false,
  observedAt: T0,
} as const;

const action = fc.oneof(
  fc.constantFrom(...CATALOGUE.map((entry) => entry.action)),
  fc.constantFrom('4.1.4.00', '4.1.3.00', '10.2.31.4', '7.0.0.00', '', 'Success'),
);
const item = fc.oneof(
  { weight: 8, arbitrary: fc.record({ time: fc.constant('2026-11-21T10:15:30Z'), action }) },
  { weight: 1, arbitrary: fc.constantFrom(null, 7, { time: 'yesterday', action: '4.1.4.00' }, {}) },
);
const status = fc.oneof(
  { weight: 5, arbitrary: fc.constant('Failed') },
  { weight: 3, arbitrary: fc.constantFrom('Created', 'Processing', 'Success') },
  { weight: 2, arbitrary: fc.constantFrom('failed', 'FAILED', 'Declined', 'Failed ', 'Expired') },
);
const body = fc
  .record({
    externalId: fc.oneof({ weight: 6, arbitrary: fc.constant('a') }, fc.constantFrom('b', '', 'a ')),
    externalTransactionId: fc.constantFrom('m', 'n', null, undefined),
    orderType: fc.constantFrom('Deposit', undefined, 'Withdrawal'),
    orderStatus: status,
    orderHistory: fc.oneof(fc.constant(undefined), fc.array(item, { maxLength: 4 })),
  })
  .map((reply) => JSON.stringify(reply));

const reply = fc
  .oneof(
    { weight: 9, arbitrary: body },
    fc.string(),
    body.map((text) => text.slice(0, -3)),
  )
  .map((text): { text: string | null; finding: StatusFinding } => {
    const read = readStatusFacts(text, ASKED);
    return { text, finding: read.ok ? { ended: 'status', facts: read.facts } : { ended: 'no_status' } };
  });
const silence = fc
  .constantFrom('no_status', 'not_asked', 'too_late')
  .map((ended): { text: string | null; finding: StatusFinding } => ({ text: null, finding: { ended } }));
const request = fc.oneof({ weight: 6, arbitrary: reply }, silence);

const known: fc.Arbitrary<KnownFacts | null> = fc.option(
  fc.record({
    externalId: fc.constantFrom('', 'a', 'b'),
    externalTransactionId: fc.constantFrom('', 'm', 'n'),
    saidSuccess: rarely(),
    hasSuccessItem: rarely(),
    hasSuccessCallback: rarely(),
    isAmbiguous: rarely(),
  }),
  { freq: 6 },
);

function rarely(): fc.Arbitrary<boolean> {
  return fc.oneof({ weight: 8, arbitrary: fc.constant(false) }, fc.constant(true));
}

/** A second reading of what a reply must be, which shares nothing with the product's. */
function provesFailure(text: string | null): boolean {
  if (text === null) return false;
  let value: Record<string, unknown>;
  try {
    value = JSON.parse(text) as Record<string, unknown>;
  } catch {
    return false;
  }
  const items = (value['orderHistory'] ?? []) as { time?: unknown; action?: unknown }[];
  return (
    value['orderStatus'] === 'Failed' &&
    value['externalId'] === 'a' &&
    value['orderType'] !== 'Withdrawal' &&
    items.every(
      (one) =>
        one?.time === '2026-11-21T10:15:30Z' &&
        typeof one.action === 'string' &&
        // The third digit is the payment's state; 3 is success.
        (/^[1-6]\.[0-2]\.[0124]\.\d\d$/.test(one.action) || one.action === '10.2.31.4'),
    )
  );
}

describe('what decides whether a payment may be cascaded', () => {
  it('is safe for nothing but a failure that every reply proves and nothing known contradicts', () => {
    let safe = 0;
    fc.assert(
      fc.property(fc.array(request, { maxLength: 2 }), known, (requests, before) => {
        const rule = judgeCascade(
          requests.map(({ finding }) => finding),
          before,
        );
        if (SAFETY_RULES[rule].verdict !== 'safe') return;
        safe += 1;
        expect(requests.length).toBeGreaterThan(0);
        for (const { text } of requests)
          expect({ text, proves: provesFailure(text) }).toEqual({ text, proves: true });
        expect(before).toMatchObject({
          saidSuccess: false,
          hasSuccessItem: false,
          hasSuccessCallback: false,
          isAmbiguous: false,
        });
        expect(['', 'a']).toContain(before?.externalId);
      }),
      { numRuns: 5_000 },
    );
    // Else the property says nothing.
    expect(safe).toBeGreaterThan(20);
  });

  it('gets no safer by one more reply, or by more that is known', () => {
    const isSafe = (findings: StatusFinding[], before: KnownFacts | null) =>
      SAFETY_RULES[judgeCascade(findings, before)].verdict === 'safe';
    fc.assert(
      fc.property(fc.array(request, { minLength: 1, maxLength: 2 }), request, known, (some, more, before) => {
        const findings = some.map(({ finding }) => finding);
        if (isSafe([...findings, more.finding], before)) expect(isSafe(findings, before)).toBe(true);
        expect(isSafe(findings, null)).toBe(false);
      }),
    );
  });

  it('is unsafe when any reply says that the payment went through or may still', () => {
    fc.assert(
      fc.property(fc.array(request, { minLength: 1, maxLength: 2 }), known, (requests, before) => {
        const says = requests.some(
          ({ finding }) =>
            finding.ended === 'status' &&
            ['Success', 'Processing', 'Created'].includes(finding.facts.orderStatus),
        );
        const rule = judgeCascade(
          requests.map(({ finding }) => finding),
          before,
        );
        if (says) expect(SAFETY_RULES[rule].verdict).toBe('unsafe');
      }),
    );
  });

  it('has one rule that is safe, and a section of the interface for each', () => {
    expect(SAFETY_RULE_NAMES.filter((name) => SAFETY_RULES[name].verdict === 'safe')).toEqual(['failed']);
    for (const { section } of Object.values(SAFETY_RULES)) expect(section).toMatch(/^\d/);
  });
});
