import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ProvisionedRule } from '../../alerts/evaluate/rule-file.ts';
import { replayRule } from '../../alerts/backtest/replay.ts';
import { pagesOf } from './pages.ts';

const rule = (pendingMinutes: number, keepFiringMinutes: number): ProvisionedRule => ({
  uid: 'rule',
  title: 'Rule',
  condition: 'c',
  data: [],
  for: `${pendingMinutes}m`,
  keepFiringFor: `${keepFiringMinutes}m`,
  noDataState: 'OK',
  execErrState: 'Error',
  missing_series_evals_to_resolve: 3,
  labels: {},
  annotations: {},
  isPaused: false,
  group: 'group',
  interval: '1m',
});

describe('the pages of a year', () => {
  it('are those of the state machine that backtests use', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.boolean(), { minLength: 1, maxLength: 60 }),
        fc.integer({ min: 0, max: 4 }),
        fc.integer({ min: 0, max: 6 }),
        fc.constantFrom(1, 2, 10),
        async (conditions, pendingMinutes, keepFiringMinutes, intervalMinutes) => {
          const one = rule(pendingMinutes, keepFiringMinutes);
          const stepMs = intervalMinutes * 60_000;
          const replay = await replayRule(one, {
            fromMs: 0,
            toMs: (conditions.length - 1) * stepMs,
            stepMs,
            source: {
              evaluate: (_, instants) =>
                Promise.resolve(
                  instants.map((instant) => ({
                    rule: one,
                    noData: false,
                    instances: [
                      { labels: {}, values: {}, firing: conditions[instant.getTime() / stepMs] === true },
                    ],
                  })),
                ),
            },
          });
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
