import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { advance, isFiring, type RuleMemory, type RuleTiming } from '../../alerts/evaluate/alert-state.ts';
import { type Page, pagesOf } from './pages.ts';

const MINUTE_MS = 60_000;

/** The same by the product's state machine. */
function pagesByStates(conditions: readonly boolean[], timing: RuleTiming): Page[] {
  const pages: Page[] = [];
  let memory: RuleMemory = new Map();
  let fired: number | null = null;
  for (const [index, firing] of conditions.entries()) {
    const now = index * timing.intervalMs;
    const step = advance(
      timing,
      memory,
      { kind: 'instances', instances: [{ labels: {}, firing, values: {} }] },
      now,
      timing.intervalMs,
    );
    memory = step.memory;
    const isOn = step.alerts.some(({ state }) => isFiring(state));
    if (isOn && fired === null) fired = now / MINUTE_MS;
    if (isOn || fired === null) continue;
    pages.push({ fired, resolved: now / MINUTE_MS });
    fired = null;
  }
  if (fired !== null) pages.push({ fired, resolved: null });
  return pages;
}

describe('the pages of a year', () => {
  it('are those of the state machine that tells people', () => {
    fc.assert(
      fc.property(
        fc.array(fc.boolean(), { minLength: 1, maxLength: 60 }),
        fc.integer({ min: 0, max: 4 }),
        fc.integer({ min: 0, max: 6 }),
        fc.constantFrom(1, 2, 10),
        (conditions, pendingMinutes, keepFiringMinutes, intervalMinutes) => {
          const holds = Uint8Array.from(conditions, Number);
          expect(pagesOf({ holds, intervalMinutes, pendingMinutes, keepFiringMinutes })).toEqual(
            pagesByStates(conditions, {
              intervalMs: intervalMinutes * MINUTE_MS,
              forMs: pendingMinutes * MINUTE_MS,
              keepFiringForMs: keepFiringMinutes * MINUTE_MS,
              missingSeriesEvals: 3,
              noDataState: 'OK',
              execErrState: 'Error',
            }),
          );
        },
      ),
    );
  });
});
