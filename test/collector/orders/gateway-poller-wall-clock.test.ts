import { describe, expect, it } from 'vitest';
import { HOUR } from '../../support/watched-order.ts';
import { createScene, wait } from './scene.ts';

const MINUTE = 60_000;

describe('a wall clock that is set', () => {
  it.each([HOUR, -HOUR])('by %i microseconds neither starves nor floods the gateway', async (step) => {
    const { clock, watch, startsOf, started } = createScene();
    for (let i = 0; i < 10; i += 1) watch(`o-${i}`);
    await clock.advance(8000);
    const before = started.length;
    clock.step(step / 1000);
    await clock.advance(100);
    expect(started).toHaveLength(before);
    await clock.advance(5 * MINUTE);
    expect(startsOf('o-0')).toEqual([0, 2000, 7000, 22_000, 67_000, 187_000]);
    watch('new');
    await clock.advance(10);
    expect(startsOf('new')).toHaveLength(1);
  });

  it.each([HOUR, -HOUR])('by %i microseconds while a request is under way delays no order', async (step) => {
    const scene = createScene({ answer: (_order, clock) => wait(clock, 500).then(() => ({})) });
    scene.watch('a');
    await scene.clock.advance(100);
    scene.clock.step(step / 1000);
    await scene.clock.advance(5000);
    expect(scene.startsOf('a')).toEqual([0, 2500]);
  });

  it.each([HOUR, -HOUR])(
    'by %i microseconds while an answer is being stored delays no order',
    async (step) => {
      const scene = createScene({ handle: (_answer, next) => wait(scene.clock, 500).then(() => next) });
      scene.watch('a');
      await scene.clock.advance(100);
      scene.clock.step(step / 1000);
      await scene.clock.advance(5000);
      expect(scene.startsOf('a')).toEqual([0, 2000]);
    },
  );

  it.each([HOUR, -HOUR, 9 * 24 * HOUR])('by %i microseconds changes no re-read', async (step) => {
    const { clock, poller, watch, startsOf } = createScene({ final: () => true });
    watch('a');
    await clock.advance(90_000);
    clock.step(step / 1000);
    await clock.advance(20 * MINUTE);
    expect(startsOf('a')).toEqual([0, 60_000, 180_000, 630_000]);
    expect(poller.status().watched).toBe(0);
  });

  it('far back, while the process was away, does not keep stored orders waiting', async () => {
    const { clock, poller, order, startsOf } = createScene();
    poller.resume({ order: order({ orderId: 'a', nextPollAt: clock.now() + 30 * 24 * HOUR }), known: '' });
    await clock.advance(630_000);
    expect(startsOf('a')[0]).toBe(630_000);
  });

  it.each([HOUR, -HOUR])(
    'by %i microseconds while a final answer is being stored changes no re-read',
    async (step) => {
      const scene = createScene({
        final: () => true,
        handle: (_answer, next) => wait(scene.clock, 500).then(() => next),
      });
      scene.watch('a');
      await scene.clock.advance(100);
      scene.clock.step(step / 1000);
      await scene.clock.advance(1_200_000);
      expect(scene.startsOf('a')).toEqual([0, 60_000, 180_000, 630_000]);
    },
  );
});
