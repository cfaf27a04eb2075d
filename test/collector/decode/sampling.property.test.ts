import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { traceId } from '../../../collector/decode/ids.ts';
import { createSampler, markSampled } from '../../../collector/decode/sampling.ts';
import { itemSpans } from '../../../collector/decode/spans.ts';
import { samplingSchema } from '../../../schemas/config-traces.ts';
import { historyEvent, settlement } from '../sinks/support/rows.ts';

const sampler = (config: object) => createSampler(samplingSchema.parse(config));
const order = (changes: Parameters<typeof settlement>[0], hasFinding = false) => ({
  settlement: settlement(changes),
  hasFinding,
});
const paid = { outcome: 'succeeded', reason_group: null, reason_detail: null } as const;
const ALL = { rate: 1, traceState: 'ot=th:0' };

describe('the trace of an order', () => {
  it.each([
    ['that failed', order({ outcome: 'technical_failure' })],
    ['that was given up', order({ ...paid, kind: 'abandoned' })],
    ['that was slow', order({ ...paid, first_event_at: 0, last_event_at: 61_000_000 })],
    ['with a finding', order(paid, true)],
  ])('%s is kept, and stands for itself', (_, known) => {
    expect(sampler({ share: 0, slowerThanS: 60 })(known)).toEqual(ALL);
  });

  it('is left out when nothing keeps it', () => {
    expect(sampler({ share: 0, slowerThanS: 60 })(order(paid))).toBeNull();
    expect(sampler({ share: 0, keepFindings: false })(order(paid, true))).toBeNull();
    expect(sampler({ share: 0, keepOutcomes: [] })(order({ outcome: 'issuer_decline' }))).toBeNull();
  });

  it.each([
    [0.5, 'ot=th:8'],
    [0.25, 'ot=th:c'],
    [1, 'ot=th:0'],
  ])('says at a share of %d that it stands for others: %s', (share, traceState) => {
    const decide = sampler({ share });
    const kept = Array.from({ length: 100 }, (_, i) => decide(order({ ...paid, external_id: `o-${i}` })));
    expect(kept.find((sampling) => sampling !== null)).toEqual({ rate: share, traceState });
  });

  it('is kept as often as the share says, so that counts can be restored', () => {
    const decide = sampler({ share: 0.1 });
    const rates = Array.from({ length: 20_000 }, (_, i) => decide(order({ ...paid, external_id: `o-${i}` })));
    const restored = rates.reduce((sum, sampling) => sum + (sampling === null ? 0 : 1 / sampling.rate), 0);
    // Four standard deviations.
    expect(Math.abs(restored - 20_000)).toBeLessThan(4 * Math.sqrt(20_000 * 9));
  });

  it('is decided about by the last 56 bits of its id, and kept at every larger share', () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 1 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (externalId, one, other) => {
          const [less, more] = [Math.min(one, other), Math.max(one, other)];
          const known = order({ ...paid, external_id: externalId });
          const id = traceId({ gateway: 'acme-eu', orderType: 'Deposit', externalId });
          const bits = Number.parseInt(id.slice(-14), 16) / 2 ** 56;
          // Floating point is exact enough away from the border.
          fc.pre(Math.abs(bits - (1 - less)) > 1e-9);
          expect(sampler({ share: less })(known) !== null).toBe(bits >= 1 - less);
          if (sampler({ share: less })(known) !== null)
            expect(sampler({ share: more })(known)).not.toBeNull();
        },
      ),
    );
  });

  it('carries the rate on each of its spans', () => {
    const [span] = markSampled(itemSpans([historyEvent()]), { rate: 0.25, traceState: 'ot=th:c' });
    expect(span?.traceState).toBe('ot=th:c');
    expect(span?.attributes).toMatchObject({ 'payment.sampling.rate': 0.25 });
  });
});
