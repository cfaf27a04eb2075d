import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { budgetWaitMs, createRequestBudget, spend } from '../../../collector/orders/request-budget.ts';
import { mostWithin } from './scene.ts';

describe('the budget', () => {
  it('never lets more requests start in any second than it says, whenever they are asked for', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.integer({ min: 1, max: 60 }), fc.double({ min: 0.2, max: 60, noNaN: true })),
        fc.array(fc.double({ min: 0, max: 400, noNaN: true }), { maxLength: 300 }),
        (rate, gaps) => {
          const budget = createRequestBudget(rate);
          const starts: number[] = [];
          let now = 0;
          for (const gap of gaps) {
            now += gap;
            // As the poller does: wait for that time, rounded up.
            now += Math.ceil(budgetWaitMs(budget, now));
            expect(budgetWaitMs(budget, now)).toBe(0);
            spend(budget, now);
            starts.push(now);
          }
          const [perMs, windowMs] = rate < 1 ? [1, 1000 / rate] : [Math.floor(rate), 1000];
          expect(mostWithin(starts, windowMs)).toBeLessThanOrEqual(perMs);
        },
      ),
    );
  });
});
