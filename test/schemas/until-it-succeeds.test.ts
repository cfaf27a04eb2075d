import { expect, it } from 'vitest';
import { untilItSucceeds } from '../../schemas/until-it-succeeds.ts';

it('shares a run, begins again after a failure, and keeps the first answer', async () => {
  let runs = 0;
  const ask = untilItSucceeds(async () => {
    runs += 1;
    if (runs === 1) throw new Error('not yet');
    return runs;
  });
  const both = await Promise.allSettled([ask(), ask()]);
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(runs).toBe(1);
  expect([await ask(), await ask()]).toEqual([2, 2]);
});
