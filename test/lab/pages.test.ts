import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createReplay } from '../../alerts/backtest/replay.ts';
import { evaluation, ruleNamed } from '../alerts/support/evaluations.ts';
import { pagesOf } from './pages.ts';

describe('the pages of a year', () => {
  it('are those of the state machine that backtests use', () => {
    fc.assert(
      fc.property(
        fc.array(fc.boolean(), { minLength: 1, maxLength: 60 }),
        fc.integer({ min: 0, max: 4 }),
        fc.integer({ min: 0, max: 6 }),
        fc.constantFrom(1, 2, 10),
        (conditions, pendingMinutes, keepFiringMinutes, intervalMinutes) => {
          const rule = ruleNamed('GatewatchTechTimeouts', {
            pendingSeconds: pendingMinutes * 60,
            keepFiringSeconds: keepFiringMinutes * 60,
          });
          const stepMs = intervalMinutes * 60_000;
          const replaying = createReplay(rule, stepMs);
          for (const [index, holds] of conditions.entries())
            replaying.add(index * stepMs, [evaluation(rule, index * stepMs, { breach: Number(holds) })]);
          const replay = replaying.replay();
          const pages = (replay.instances[0]?.episodes ?? [])
            .filter(({ firedAtMs }) => firedAtMs !== null)
            .map(({ firedAtMs, resolvedAtMs }) => ({
              fired: (firedAtMs ?? 0) / 60_000,
              resolved: resolvedAtMs === null ? null : resolvedAtMs / 60_000,
            }));
          const holds = Uint8Array.from(conditions, Number);
          expect(pagesOf({ holds, intervalMinutes, pendingMinutes, keepFiringMinutes })).toEqual(pages);
        },
      ),
    );
  });
});
