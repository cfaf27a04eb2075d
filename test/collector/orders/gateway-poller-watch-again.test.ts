import { expect, it } from 'vitest';
import { createScene } from './scene.ts';

it('An order that is watched and asked for again is read soon, and not each time that it is asked for', async () => {
  const { clock, watch, startsOf } = createScene({ policy: { delaysS: [3600], maxDelayS: 3600 } });
  watch('a');
  await clock.advance(20_000);
  expect(startsOf('a')).toEqual([0]);
  watch('a');
  await clock.advance(10);
  expect(startsOf('a')).toEqual([0, 20_000]);
  for (let i = 0; i < 10; i += 1) {
    watch('a');
    await clock.advance(1000);
  }
  expect(startsOf('a')).toEqual([0, 20_000]);
  await clock.advance(10_000);
  expect(startsOf('a')).toEqual([0, 20_000, 35_000]);
});
