import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SECOND } from '../../support/watched-order.ts';
import { createScene, mostWithin, refusal, wait } from './scene.ts';

const MINUTE = 60_000;

describe('the budget', () => {
  it('is used up under load: the whole of it but a twentieth', async () => {
    const { clock, watch, started } = createScene({ policy: { requestsPerSecond: 20 } });
    for (let i = 0; i < 500; i += 1) watch(`o-${i}`);
    await clock.advance(20_000);
    expect(started.length / 20).toBeGreaterThanOrEqual(19);
    expect(
      mostWithin(
        started.map(({ atMs }) => atMs),
        1000,
      ),
    ).toBe(20);
  });

  it('holds for callbacks as well, and whatever is asked for in whatever order', async () => {
    const step = fc.record({
      order: fc.integer({ min: 0, max: 8 }),
      what: fc.constantFrom('watch', 'callback', 'nudge'),
      afterMs: fc.nat(700),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 80 }),
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 4 }),
        async (steps, requestsPerSecond, concurrency) => {
          const scene = createScene({
            policy: { requestsPerSecond, concurrency, delaysS: [1], maxDelayS: 2, mergeCallbacksMs: 500 },
            answer: (order, clock) => wait(clock, 100 + order.orderId.length * 37).then(() => ({})),
          });
          const callbacks: { orderId: string; atMs: number }[] = [];
          for (const { order, what, afterMs } of steps) {
            const orderId = 'x'.repeat(order + 1);
            if (what === 'nudge') scene.poller.nudge(`acme-eu|Deposit|external-id|${orderId}`);
            else scene.watch(orderId, what as 'watch');
            if (what === 'callback') callbacks.push({ orderId, atMs: scene.clock.monotonicMs() });
            await scene.clock.advance(afterMs);
          }
          await scene.clock.advance(20_000);
          const starts = scene.started.map(({ atMs }) => atMs);
          expect(mostWithin(starts, 1000)).toBeLessThanOrEqual(requestsPerSecond);
          expect(scene.most.inFlight).toBeLessThanOrEqual(concurrency);
          // No callback is lost: each is followed by a read of its order.
          for (const { orderId, atMs } of callbacks) {
            expect(scene.startsOf(orderId).some((start) => start >= atMs)).toBe(true);
          }
          // Nobody is forgotten: everything that was taken up is still being read.
          const watched = new Set(scene.started.map(({ orderId }) => orderId));
          expect(scene.poller.status().watched).toBe(watched.size);
        },
      ),
      { numRuns: 60 },
    );
  });

  it.each([429, 503])(
    'stands still while the gateway asks for it with %i and Retry-After',
    async (httpStatus) => {
      let overloaded = true;
      const { clock, watch, started } = createScene({
        answer: () => (overloaded ? refusal('rate_limited', httpStatus, { retryAfterMs: 30_000 }) : {}),
      });
      watch('a');
      await clock.advance(100);
      overloaded = false;
      for (let i = 0; i < 10; i += 1) watch(`o-${i}`, 'callback');
      await clock.advance(29_800);
      expect(started).toHaveLength(1);
      await clock.advance(200);
      expect(started.length).toBeGreaterThanOrEqual(11);
    },
  );

  it('stands still for half a minute at first, and longer only while the gateway goes on asking', async () => {
    let asking = true;
    const { clock, watch, started, poller } = createScene({
      policy: { concurrency: 8 },
      answer: () => (asking ? refusal('unknown', 503, { retryAfterMs: 999_999_999_000 }) : {}),
    });
    for (const id of ['a', 'b', 'c', 'd', 'e']) watch(id);
    await clock.advance(0);
    // All five were under way when the first answer asked for the pause: the others do not prolong it.
    expect(started).toHaveLength(5);
    for (let n = 0; n < 20; n += 1) watch(`o-${n}`, 'callback');
    const triesAfter = async (ms: number): Promise<number> => {
      await clock.advance(ms);
      return started.length - 5;
    };
    expect(await triesAfter(29_999)).toBe(0);
    expect(await triesAfter(1)).toBe(1);
    expect(await triesAfter(59_999)).toBe(1);
    expect(await triesAfter(1)).toBe(2);
    expect(await triesAfter(2 * MINUTE)).toBe(3);
    expect(await triesAfter(4 * MINUTE)).toBe(4);
    // Five minutes at most.
    expect(await triesAfter(5 * MINUTE)).toBe(5);
    expect(poller.status().pausedMs).toBe(12.5 * MINUTE);
    asking = false;
    await clock.advance(5 * MINUTE);
    expect(started.length).toBeGreaterThanOrEqual(5 + 20);
    expect(poller.status().pausedMs).toBe(0);
  });

  it('does not stand still when another answer comes with a Retry-After', async () => {
    const { clock, watch, started } = createScene({
      answer: () => refusal('unknown', 500, { retryAfterMs: 86_400_000 }),
    });
    watch('a');
    await clock.advance(0);
    watch('b');
    await clock.advance(0);
    expect(started).toHaveLength(2);
  });
});

describe('answers that wait for the store', () => {
  it.each([
    ['many', { maxPendingReplies: 7 }],
    ['large', { maxPendingBytes: 700, policy: { concurrency: 1 } }],
  ])(
    'hold further requests back when they are too %s, and let them go on when they are stored',
    async (_what, limit) => {
      let release = () => {};
      const gate = new Promise<void>((resolve) => (release = resolve));
      const scene = createScene({
        ...limit,
        answer: () => ({ bodyBytes: 100 }),
        handle: async (_answer, next) => gate.then(() => next),
      });
      for (let i = 0; i < 40; i += 1) scene.watch(`o-${i}`);
      await scene.clock.advance(10 * MINUTE);
      expect(scene.started).toHaveLength(7);
      release();
      await scene.clock.advance(1000);
      expect(scene.started.length).toBeGreaterThanOrEqual(40);
    },
  );
});

describe('what the poller says of itself', () => {
  it('measures how late each request started', async () => {
    const { clock, watch, handled } = createScene({ policy: { requestsPerSecond: 1 } });
    watch('a');
    watch('b');
    await clock.advance(1500);
    expect(handled.map(({ latenessMs }) => latenessMs)).toEqual([0, 1050]);
  });

  it('holds its watermark back while the polls are behind, and while the gateway shows nothing', async () => {
    let blind = false;
    const scene = createScene({
      policy: { delaysS: [10], maxDelayS: 10 },
      handle: async (_answer, next) => ({ ...next, outcome: blind ? 'invalid_response' : next.outcome }),
    });
    const ageS = () => (scene.clock.now() - scene.poller.status().watermarkAt) / SECOND;
    for (const id of ['a', 'b', 'c']) scene.watch(id);
    await scene.clock.advance(15_000);
    expect(ageS()).toBe(0);
    // Replies that hold nothing that can be read show as little as no replies.
    blind = true;
    await scene.clock.advance(20_000);
    expect(ageS()).toBe(25);
    blind = false;
    await scene.clock.advance(10_000);
    expect(ageS()).toBe(0);
  });
});
