import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMembership, type Ticket } from '../../../../collector/sources/kafka/membership.ts';

describe('membership of a consumer group', () => {
  it('gives tickets for owned partitions only, and none while the group is moving', () => {
    const membership = createMembership();
    expect(membership.ticket('t', 0)).toBeNull();
    membership.joined({ t: [0, 2] });
    expect(membership.ticket('t', 0)?.isCurrent()).toBe(true);
    expect(membership.ticket('t', 1)).toBeNull();
    expect(membership.ticket('other', 0)).toBeNull();
    membership.leave();
    expect(membership.ticket('t', 0)).toBeNull();
    expect(membership.generation()).toBe(1);
  });

  it('never lets a ticket outlive the join it was given in, whatever happens after', () => {
    const step = fc.oneof(
      fc.constant({ type: 'leave' } as const),
      fc.record({ type: fc.constant('joined' as const), partitions: fc.uniqueArray(fc.nat(3)) }),
      fc.record({ type: fc.constant('ticket' as const), partition: fc.nat(3) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const membership = createMembership();
        // The model: which join we are in, and what it gave us.
        let era = 0;
        let owned: readonly number[] = [];
        const asked: { ticket: Ticket | null; owned: boolean; era: number }[] = [];
        for (const one of steps) {
          if (one.type === 'leave') {
            membership.leave();
            era += 1;
            owned = [];
          } else if (one.type === 'joined') {
            membership.joined({ t: one.partitions });
            era += 1;
            owned = one.partitions;
          } else {
            asked.push({
              ticket: membership.ticket('t', one.partition),
              owned: owned.includes(one.partition),
              era,
            });
          }
          const now = asked.map(({ ticket }) => ticket?.isCurrent() ?? false);
          expect(now).toEqual(asked.map((question) => question.owned && question.era === era));
        }
      }),
    );
  });
});
