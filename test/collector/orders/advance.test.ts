import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { advance, rereadOnce, reopen, type ReplyFacts } from '../../../collector/orders/advance.ts';
import { pollConfigSchema } from '../../../schemas/config.ts';
import { POLL_OUTCOMES, type PollOutcome } from '../../../schemas/rows.ts';
import type { WatchedOrder } from '../../../schemas/watch.ts';
import { HOUR, SECOND, T0, watchedOrder } from '../../support/watched-order.ts';

const POLICY = pollConfigSchema.parse({});
const STEADY = { ...POLICY, jitter: 0 };

const pending: ReplyFacts = {
  outcome: 'ok',
  orderStatus: 'Processing',
  final: false,
  newItems: 0,
  retryAfterMs: null,
};
const final: ReplyFacts = { ...pending, orderStatus: 'Success', final: true };
const failed = (outcome: PollOutcome, retryAfterMs: number | null = null): ReplyFacts => ({
  outcome,
  orderStatus: null,
  final: false,
  newItems: 0,
  retryAfterMs,
});

/**
 * Reads the order whenever it is due, as `answer` says, and says when each read was, in seconds after the
 * first.
 */
function play(
  answer: (read: number, now: number) => ReplyFacts,
  options: { order?: WatchedOrder; policy?: typeof POLICY; maxReads?: number } = {},
) {
  const { policy = STEADY, maxReads = 20 } = options;
  let order = options.order ?? watchedOrder();
  const at: number[] = [];
  while (at.length < maxReads && (order.phase === 'active' || order.phase === 'rereading')) {
    const now = order.nextPollAt;
    at.push((now - T0) / SECOND);
    order = advance(order, answer(at.length - 1, now), policy, now, 0.5);
  }
  return { order, at };
}

describe('the schedule of an order that is not final', () => {
  it('reads after 2, 5, 15, 45 and 120 seconds, then doubling up to five minutes', () => {
    const { at } = play(() => pending, { maxReads: 9 });
    const gaps = at.slice(1).map((time, index) => time - (at[index] ?? 0));
    expect(gaps).toEqual([2, 5, 15, 45, 120, 240, 300, 300]);
  });

  it.each(POLL_OUTCOMES.filter((outcome) => outcome !== 'ok'))(
    'keeps reading in the same rhythm after %s, and leaves status and phase as they were',
    (outcome) => {
      const order = watchedOrder({ lastStatus: 'Processing', attempt: 2 });
      const next = advance(order, failed(outcome), STEADY, T0, 0.5);
      expect(next).toEqual({ ...order, attempt: 3, nextPollAt: T0 + 15 * SECOND });
    },
  );

  it('waits as long as the gateway asks, up to its own longest delay, and never less than its own delay', () => {
    const next = (retryAfterMs: number) =>
      (advance(watchedOrder(), failed('rate_limited', retryAfterMs), STEADY, T0, 0.5).nextPollAt - T0) /
      SECOND;
    expect([0, 1500, 60_000, 86_400_000].map(next)).toEqual([2, 2, 60, 300]);
  });

  it('keeps within its jitter', () => {
    fc.assert(
      fc.property(fc.nat(200), fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (n, random) => {
        const order = watchedOrder({ attempt: n });
        const seconds = (advance(order, pending, POLICY, T0, random).nextPollAt - T0) / SECOND;
        const plain = (advance(order, pending, STEADY, T0, random).nextPollAt - T0) / SECOND;
        expect(Math.abs(seconds / plain - 1)).toBeLessThanOrEqual(POLICY.jitter + 1e-6);
        expect(plain).toBeLessThanOrEqual(POLICY.maxDelayS);
      }),
    );
  });

  it('is given up when it is older than the configured age, and not before', () => {
    const order = watchedOrder({ attempt: 40 });
    const limit = T0 + POLICY.giveUpAfterH * HOUR;
    for (const facts of [pending, failed('unknown')]) {
      expect(advance(order, facts, POLICY, limit, 0.5).phase).toBe('active');
      expect(advance(order, facts, POLICY, limit + 1, 0.5).phase).toBe('abandoned');
    }
  });
});

describe('the schedule of an order whose final status was seen', () => {
  it('reads again 60, 180 and 630 seconds after that, and then it is settled', () => {
    const { at, order } = play(() => final);
    expect(at).toEqual([0, 60, 180, 630]);
    expect(order).toMatchObject({ phase: 'settled', lastStatus: 'Success', finalAt: T0, reread: 3 });
  });

  it('is settled with its first read when its history ended more than a day before', () => {
    const over = (hours: number) => play(() => ({ ...final, newItems: 4, newestItemAt: T0 - hours * HOUR }));
    const end = T0 - 24.5 * HOUR;
    expect(over(24.5)).toMatchObject({
      at: [0],
      order: { phase: 'settled', lastStatus: 'Success', finalAt: end },
    });
    // It may have ended now, at a gateway that dates it in its local time.
    expect(over(14).at.slice(0, 4)).toEqual([0, 60, 180, 630]);
  });

  it('is read again as usual when it was seen final before, however old what it brings is', () => {
    const order = watchedOrder({ phase: 'rereading', finalAt: T0, nextPollAt: T0 + 60 * SECOND });
    const { at } = play(() => ({ ...final, newItems: 0, newestItemAt: T0 - 100 * HOUR }), { order });
    expect(at).toEqual([60, 180, 630]);
  });

  it('reads on until one read brings nothing new', () => {
    const { at, order } = play((read) => ({ ...final, newItems: read < 6 ? 1 : 0 }));
    expect(at).toEqual([0, 60, 180, 630, 1080, 1530, 1980]);
    expect(order.phase).toBe('settled');
  });

  it('does not settle on a read that got no answer', () => {
    const { at, order } = play((read) => (read >= 3 && read < 5 ? failed('unknown') : final));
    expect(at.slice(0, 4)).toEqual([0, 60, 180, 630]);
    expect(at).toHaveLength(6);
    expect(order.phase).toBe('settled');
  });

  it('is settled, not given up, when its history grows for longer than the configured age', () => {
    const { order } = play(() => ({ ...final, newItems: 1 }), { maxReads: 10_000 });
    expect(order).toMatchObject({ phase: 'settled', lastStatus: 'Success' });
  });

  it('becomes active again when the gateway takes the final status back', () => {
    const order = watchedOrder({ phase: 'rereading', finalAt: T0 - 60 * SECOND, reread: 2, attempt: 5 });
    expect(advance(order, pending, STEADY, T0, 0.5)).toMatchObject({
      phase: 'active',
      finalAt: null,
      reread: 0,
    });
  });

  it('re-reads from now on when the wall clock was set back behind the moment of the final status', () => {
    const order = watchedOrder({ phase: 'rereading', finalAt: T0 + HOUR, reread: 1 });
    expect(advance(order, final, STEADY, T0, 0.5)).toMatchObject({ nextPollAt: T0 + 60 * SECOND });
  });
});

describe('an order that is named again', () => {
  it.each(['settled', 'abandoned', 'merged'] as const)('is read from the start when it was %s', (phase) => {
    const order = watchedOrder({ phase, attempt: 9, reread: 3, finalAt: T0, firstSeenAt: T0 - 999 * HOUR });
    const now = T0 + 5 * HOUR;
    const open = reopen(order, now);
    expect(open).toMatchObject({ phase: 'active', attempt: 0, nextPollAt: now, finalAt: null });
    expect(advance(open, failed('unknown'), POLICY, now, 0.5).phase).toBe('active');
  });

  it.each(['active', 'rereading'] as const)('goes on as it is while %s', (phase) => {
    const order = watchedOrder({ phase, attempt: 3 });
    expect(reopen(order, T0 + HOUR)).toBe(order);
  });

  it('is read until there is an answer, and then settled again, when it had settled long ago', () => {
    const order = watchedOrder({
      phase: 'settled',
      finalAt: T0,
      lastStatus: 'Success',
      firstSeenAt: T0 - HOUR,
    });
    const again = rereadOnce(order, T0 + 999 * HOUR);
    const { order: end, at } = play((read) => (read < 3 ? failed('unknown') : final), { order: again });
    expect(at).toHaveLength(4);
    expect(end).toMatchObject({ phase: 'settled', lastStatus: 'Success', finalAt: T0 });
  });
});

describe('whatever the gateway answers', () => {
  const answers = fc.record({
    outcome: fc.constantFrom(...POLL_OUTCOMES),
    final: fc.boolean(),
    newItems: fc.nat(3),
    retryAfterMs: fc.option(fc.nat(10_000_000)),
  });
  const script = fc.array(answers, { minLength: 1, maxLength: 12 });
  const facts = (script: readonly Omit<ReplyFacts, 'orderStatus'>[]) => (read: number) => {
    const answer = script[read % script.length] as Omit<ReplyFacts, 'orderStatus'>;
    const ok = answer.outcome === 'ok';
    return {
      ...answer,
      final: ok && answer.final,
      newItems: ok ? answer.newItems : 0,
      orderStatus: ok ? (answer.final ? 'Failed' : 'Processing') : null,
    };
  };

  it('every order comes to an end, and every next read lies ahead, an hour at most', () => {
    fc.assert(
      fc.property(script, (answered) => {
        let last = 0;
        const { order } = play(
          (read, now) => {
            expect(now).toBeGreaterThan(last);
            last = now;
            return facts(answered)(read);
          },
          { policy: POLICY, maxReads: 100_000 },
        );
        expect(['settled', 'abandoned']).toContain(order.phase);
      }),
      { numRuns: 30 },
    );
    fc.assert(
      fc.property(answers, fc.nat(300), fc.boolean(), (answer, attempt, isFinal) => {
        const order = watchedOrder(
          isFinal
            ? { attempt, phase: 'rereading', finalAt: T0 - 100 * SECOND, lastStatus: 'Failed' }
            : { attempt },
        );
        const next = advance(order, facts([answer])(0), POLICY, T0, 0.99);
        if (next.phase === 'settled' || next.phase === 'abandoned') return;
        expect(next.nextPollAt).toBeGreaterThan(T0);
        expect(next.nextPollAt).toBeLessThanOrEqual(T0 + HOUR);
      }),
    );
  });

  it('only an answer changes the status, and no order is settled without a final one', () => {
    fc.assert(
      fc.property(answers, (answer) => {
        const order = watchedOrder({ lastStatus: 'Created', attempt: 3 });
        const next = advance(order, facts([answer])(0), POLICY, T0, 0.5);
        const ok = answer.outcome === 'ok';
        expect(next.lastStatus === 'Created').toBe(!ok);
        expect(next.phase === 'settled' && !(ok && answer.final)).toBe(false);
      }),
    );
  });
});
