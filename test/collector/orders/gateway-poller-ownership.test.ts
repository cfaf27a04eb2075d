import { describe, expect, it } from 'vitest';
import type { WatchedOrder } from '../../../schemas/watch.ts';
import { createScene, refusal, wait } from './scene.ts';

const MINUTE = 60_000;
const ours = ({ orderId }: WatchedOrder) => orderId.startsWith('ours');

describe('an order that another collector owns', () => {
  it('is read once when it is named, and goes on there', async () => {
    const { clock, poller, watch, startsOf } = createScene({ owns: ours });
    watch('theirs', 'callback');
    watch('ours', 'callback');
    await clock.advance(10 * MINUTE);
    expect(startsOf('theirs')).toHaveLength(1);
    expect(startsOf('ours').length).toBeGreaterThan(5);
    expect(poller.status().watched).toBe(1);
  });

  it('is read until the gateway answers', async () => {
    let up = false;
    const { clock, poller, watch, startsOf } = createScene({
      owns: ours,
      answer: () => (up ? {} : refusal('unknown', 503)),
    });
    watch('theirs', 'callback');
    await clock.advance(MINUTE);
    const before = startsOf('theirs').length;
    expect(before).toBeGreaterThan(1);
    up = true;
    await clock.advance(10 * MINUTE);
    expect(startsOf('theirs')).toHaveLength(before + 1);
    expect(poller.status().watched).toBe(0);
  });

  it('is read again for a callback that came while it was read', async () => {
    const { clock, watch, startsOf } = createScene({
      owns: ours,
      answer: (_order, clock) => wait(clock, 500).then(() => ({})),
    });
    watch('theirs', 'callback');
    await clock.advance(100);
    watch('theirs', 'callback');
    await clock.advance(MINUTE);
    expect(startsOf('theirs')).toHaveLength(2);
  });

  it('is forgotten on release; one under way, or asked for by a callback, after its read', async () => {
    let ownsAll = true;
    const { clock, poller, watch, startsOf } = createScene({
      owns: (order) => ownsAll || ours(order),
      policy: { concurrency: 1 },
      answer: (_order, clock) => wait(clock, 500).then(() => ({})),
    });
    for (const orderId of ['theirs-1', 'theirs-2', 'ours']) watch(orderId);
    watch('theirs-3', 'callback');
    await clock.advance(100);
    ownsAll = false;
    poller.release();
    expect(poller.status()).toMatchObject({ watched: 3, inFlight: 1 });
    await clock.advance(10 * MINUTE);
    expect(poller.status().watched).toBe(1);
    expect(startsOf('theirs-2')).toEqual([]);
    expect(startsOf('theirs-3')).toHaveLength(1);
    expect(startsOf('ours').length).toBeGreaterThan(3);
  });
});
