import { expect, it } from 'vitest';
import { startTicker } from '../../jobs/ticker.ts';
import { createFakeClock } from '../support/fake-clock.ts';

const MINUTE = 60_000;

it('calls at once, and then a little after every whole interval', async () => {
  const clock = createFakeClock();
  const ticks: number[] = [];
  const stop = startTicker({
    clock,
    intervalMs: MINUTE,
    delayMs: 3_000,
    onTick: async () => void ticks.push((clock.now() / 1000) % MINUTE),
  });
  for (let second = 0; second < 240; second++) await clock.advance(1000);
  await stop();
  expect(ticks).toEqual([30_000, 3_000, 3_000, 3_000, 3_000]);
});

it('skips the ticks that work takes too long for, never overlaps, and is stopped after it', async () => {
  const clock = createFakeClock();
  let underWay = 0;
  let begun = 0;
  const stop = startTicker({
    clock,
    intervalMs: MINUTE,
    delayMs: 0,
    async onTick() {
      begun += 1;
      expect((underWay += 1)).toBe(1);
      await new Promise<void>((done) => void clock.after(2.5 * MINUTE, done));
      underWay -= 1;
    },
  });
  for (let second = 0; second < 7 * 60; second++) await clock.advance(1000);
  expect(begun).toBe(3);
  const stopped = stop();
  await clock.advance(3 * MINUTE);
  await stopped;
  expect(underWay).toBe(0);
  expect(clock.pending()).toBe(0);
});
