import { describe, expect, it } from 'vitest';
import { createScene, wait } from './scene.ts';

describe('a verified callback', () => {
  it('makes the poller read the order now, before everything that is merely due', async () => {
    const { clock, watch, started } = createScene({
      policy: { concurrency: 1 },
      answer: (_order, clock) => wait(clock, 100).then(() => ({})),
    });
    for (let i = 0; i < 5; i += 1) watch(`due-${i}`);
    watch('hot', 'callback');
    await clock.advance(250);
    expect(started.map(({ orderId }) => orderId)).toEqual(['due-0', 'hot', 'due-1']);
  });

  it('replaces the next poll', async () => {
    const { clock, watch, startsOf } = createScene();
    watch('a');
    await clock.advance(1500);
    watch('a', 'callback');
    await clock.advance(7000);
    // Without it: 0, 2000, 7000. The delay after the second read is five seconds.
    expect(startsOf('a')).toEqual([0, 1500, 6500]);
  });

  it('merges with others within the second: they cause one read, which starts after the last of them', async () => {
    const { clock, watch, startsOf } = createScene();
    watch('a', 'callback');
    for (let i = 0; i < 9; i += 1) {
      await clock.advance(100);
      watch('a', 'callback');
    }
    await clock.advance(1500);
    expect(startsOf('a')).toEqual([0, 1000]);
  });

  it('causes exactly one more read when it comes while a request is under way, however often', async () => {
    const { clock, watch, startsOf, handled } = createScene({
      answer: (_order, clock) => wait(clock, 1200).then(() => ({})),
    });
    watch('a');
    await clock.advance(10);
    for (let i = 0; i < 5; i += 1) watch('a', 'callback');
    await clock.advance(3000);
    expect(startsOf('a')).toEqual([0, 1200]);
    expect(handled.map(({ cause }) => cause)).toEqual(['watch', 'callback']);
  });

  it('causes one more read also when it comes while the answer is being stored, and when that settles the order', async () => {
    let release = () => {};
    const scene = createScene({
      handle: async (_answer, next) => {
        await new Promise<void>((resolve) => (release = resolve));
        return { ...next, order: { ...next.order, phase: 'settled' }, known: null };
      },
    });
    const key = scene.watch('a', 'watch', { phase: 'rereading', finalAt: 1 });
    await scene.clock.advance(5000);
    scene.watch('a', 'callback');
    release();
    await scene.clock.advance(0);
    expect(scene.startsOf('a')).toEqual([0, 5000]);
    expect(scene.handled[1]).toMatchObject({ known: null, cause: 'callback', order: { phase: 'active' } });
    release();
    await scene.clock.advance(0);
    expect(scene.poller.get(key)).toBeUndefined();
  });

  it('keeps its place in the queue when more callbacks for the order come', async () => {
    const { clock, watch, startsOf } = createScene({ policy: { requestsPerSecond: 1 } });
    watch('first', 'callback');
    watch('a', 'callback');
    await clock.advance(500);
    watch('b', 'callback');
    watch('a', 'callback');
    await clock.advance(2500);
    expect(startsOf('a')[0]).toBeLessThan(startsOf('b')[0] ?? 0);
  });

  it('is not forgotten when the answer under way cannot be stored', async () => {
    let breaks = true;
    const scene = createScene({
      handle: async (_answer, next) => {
        await wait(scene.clock, 100);
        if (breaks) throw new Error('the store is away');
        return next;
      },
    });
    scene.watch('a');
    await scene.clock.advance(50);
    scene.watch('a', 'callback');
    await scene.clock.advance(100);
    breaks = false;
    await scene.clock.advance(5100);
    // The read that replaces the failed one started after the callback: it is the one that the callback
    // wanted.
    expect(scene.startsOf('a')).toEqual([0, 5100]);
  });
});

describe('a callback that does not verify', () => {
  it('never jumps the queue, and causes a read every 15 seconds at most', async () => {
    const { clock, poller, watch, startsOf } = createScene({ policy: { delaysS: [100], maxDelayS: 100 } });
    const key = watch('a');
    await clock.advance(1000);
    for (let i = 0; i < 40; i += 1) {
      expect(poller.nudge(key)).toBe(true);
      await clock.advance(1000);
    }
    expect(startsOf('a')).toEqual([0, 15_000, 30_000]);
    expect(poller.nudge('nobody')).toBe(false);
  });

  it('neither delays nor demotes the read that a verified one asked for', async () => {
    const { clock, poller, watch, started } = createScene({
      policy: { concurrency: 1, mergeCallbacksMs: 20_000 },
      answer: (_order, clock) => wait(clock, 100).then(() => ({})),
    });
    const key = watch('a', 'callback');
    await clock.advance(1000);
    watch('a', 'callback');
    poller.nudge(key);
    await clock.advance(18_950);
    for (let i = 0; i < 3; i += 1) watch(`due-${i}`);
    await clock.advance(250);
    expect(started.map(({ orderId }) => orderId).slice(-3)).toEqual(['due-0', 'a', 'due-1']);
  });

  it('is left aside while a request is under way', async () => {
    const { clock, poller, watch, startsOf } = createScene({
      answer: (_order, clock) => wait(clock, 500).then(() => ({})),
      policy: { delaysS: [60] },
    });
    const key = watch('a');
    await clock.advance(10);
    poller.nudge(key);
    await clock.advance(30_000);
    expect(startsOf('a')).toEqual([0]);
  });
});
