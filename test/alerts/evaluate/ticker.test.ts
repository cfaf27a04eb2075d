import { expect, it } from 'vitest';
import { startTicker, tickBefore } from '../../../alerts/evaluate/ticker.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

const MINUTE = 60_000;

it('counts whole intervals since 1970', () => {
  expect(tickBefore(10 * MINUTE, MINUTE)).toBe(10 * MINUTE);
  expect(tickBefore(11 * MINUTE - 1, MINUTE)).toBe(10 * MINUTE);
});

it('calls at every whole interval, each interval on its own', async () => {
  const clock = createFakeClock();
  const ticks: [number, number][] = [];
  const stop = startTicker({
    clock,
    intervalsMs: [MINUTE, 2 * MINUTE],
    onTick: async (intervalMs, at) => void ticks.push([intervalMs, at]),
  });
  for (let second = 0; second < 240; second++) await clock.advance(1000);
  await stop();
  expect(ticks.filter(([intervalMs]) => intervalMs === MINUTE)).toHaveLength(4);
  expect(ticks.filter(([intervalMs]) => intervalMs === 2 * MINUTE)).toHaveLength(2);
  expect(ticks.filter(([intervalMs, at]) => at % intervalMs !== 0)).toEqual([]);
});

it('skips the ticks that work takes too long for, never overlaps, and is stopped after it', async () => {
  const clock = createFakeClock();
  let underWay = 0;
  let begun = 0;
  const stop = startTicker({
    clock,
    intervalsMs: [MINUTE],
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
