import { describe, expect, it } from 'vitest';
import { createScene, wait } from './scene.ts';

describe('a poller whose orders are due', () => {
  it('stands still while its answers wait for the store and no more may wait', async () => {
    const { clock, poller, watch } = createScene({
      policy: { concurrency: 2 },
      handle: () => new Promise(() => undefined),
      maxPendingReplies: 3,
    });
    for (const id of ['a', 'b', 'c', 'd']) watch(id);
    await clock.advance(20_000);
    expect(poller.status()).toMatchObject({ due: 1, stalledMs: 20_000 });
  });

  it('does not stand still while the gateway takes its time, up to the deadline of a request', async () => {
    const { clock, poller, watch } = createScene({
      policy: { concurrency: 1, deadlineMs: 10_000 },
      answer: (_order, clock) => wait(clock, 60_000).then(() => ({})),
    });
    watch('a');
    watch('b');
    await clock.advance(12_000);
    expect(poller.status().stalledMs).toBe(0);
    await clock.advance(10_000);
    expect(poller.status().stalledMs).toBe(22_000);
  });

  it('does not stand still when the gateway asks for a pause, refuses us, or nothing is due', async () => {
    const paused = createScene({
      policy: { concurrency: 1 },
      answer: async () => ({
        httpStatus: 429,
        outcome: 'rate_limited' as const,
        retryAfterMs: 120_000,
        body: null,
      }),
    });
    paused.watch('a');
    await paused.clock.advance(1_000);
    paused.watch('b');
    await paused.clock.advance(60_000);
    expect(paused.poller.status().stalledMs).toBe(0);

    const idle = createScene();
    idle.watch('a');
    await idle.clock.advance(60_000);
    expect(idle.poller.status().stalledMs).toBe(0);
  });
});
