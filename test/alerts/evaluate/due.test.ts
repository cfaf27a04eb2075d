import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type DueInstant,
  dueInstants,
  type EvaluatedInstant,
  groupsAt,
  INTERVAL_MS,
  MOST_INSTANTS,
  SETTLE_MS,
} from '../../../alerts/evaluate/due.ts';

const MINUTE = 60_000;
const START = Date.UTC(2026, 10, 21, 10, 15);
/** Wall and steady clock in step; the steady one counts from the start. */
const at = (ms: number, setBy = 0) => ({ wallMs: START + ms + setBy, steadyMs: ms });
const evaluated = (minute: number): EvaluatedInstant => ({
  asOfMs: START + minute * MINUTE,
  steadyMs: minute * MINUTE,
});
const minutesOf = (due: readonly DueInstant[]) => due.map(({ asOfMs }) => (asOfMs - START) / MINUTE);

describe('instants', () => {
  it('are due once they have settled', () => {
    expect(dueInstants(evaluated(0), at(MINUTE + SETTLE_MS - 1))).toEqual([]);
    expect(dueInstants(evaluated(0), at(MINUTE + SETTLE_MS))).toEqual([
      { asOfMs: START + MINUTE, steadyMs: MINUTE, passedMs: MINUTE, missed: 0 },
    ]);
  });

  it('stay due until they are evaluated, up to thirty; the others are counted', () => {
    expect(minutesOf(dueInstants(evaluated(0), at(10.5 * MINUTE)))).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    const [first, ...others] = dueInstants(evaluated(0), at(100.5 * MINUTE));
    expect(first).toEqual({
      asOfMs: START + 71 * MINUTE,
      steadyMs: 71 * MINUTE,
      passedMs: 71 * MINUTE,
      missed: 70,
    });
    expect(others).toHaveLength(MOST_INSTANTS - 1);
    expect(others.every(({ missed, passedMs }) => missed === 0 && passedMs === MINUTE)).toBe(true);
  });

  it('begin with the newest one where nothing was ever evaluated', () => {
    expect(dueInstants(null, at(90_000))).toEqual([
      { asOfMs: START + MINUTE, steadyMs: MINUTE, passedMs: INTERVAL_MS, missed: 0 },
    ]);
  });

  it.each([-3_600_000, -91_000, 91_000, 3_600_000])(
    'are only the current one after the clock was set by %i ms, and time passes as ever',
    (setBy) => {
      const [only, ...others] = dueInstants(evaluated(0), at(MINUTE + SETTLE_MS, setBy));
      expect(others).toEqual([]);
      expect(only?.asOfMs).toBe(Math.floor((START + MINUTE + setBy) / MINUTE) * MINUTE);
      expect(only?.passedMs).toBeGreaterThanOrEqual(0);
      expect(only?.passedMs).toBeLessThanOrEqual(2 * MINUTE);
      if (only === undefined) return;
      // And from there on every minute again.
      expect(dueInstants(only, at(2 * MINUTE + SETTLE_MS, setBy))).toHaveLength(1);
    },
  );

  it('go on after a restart by the wall clock', () => {
    const stored = { asOfMs: START, steadyMs: null };
    expect(minutesOf(dueInstants(stored, at(3.5 * MINUTE)))).toEqual([1, 2, 3]);
    expect(dueInstants(stored, at(3.5 * MINUTE)).map(({ passedMs }) => passedMs)).toEqual([
      MINUTE,
      MINUTE,
      MINUTE,
    ]);
  });

  it('are only the current one where the store has evaluations of the future', () => {
    const stored = { asOfMs: START + 60 * MINUTE, steadyMs: null };
    expect(dueInstants(stored, at(3.5 * MINUTE))).toEqual([
      { asOfMs: START + 3 * MINUTE, steadyMs: 3 * MINUTE, passedMs: INTERVAL_MS, missed: 0 },
    ]);
  });

  it('wait for a clock that is slightly behind that of the collector before', () => {
    expect(dueInstants({ asOfMs: START + MINUTE, steadyMs: null }, at(50_000))).toEqual([]);
  });
});

it('evaluates slow rules every ten minutes', () => {
  expect(groupsAt(Date.UTC(2026, 10, 21, 10, 20))).toEqual(['fast', 'slow']);
  expect(groupsAt(Date.UTC(2026, 10, 21, 10, 21))).toEqual(['fast']);
});

describe('however late the ticks are', () => {
  /** Times between looks: mostly a minute, sometimes much longer. */
  const waits = fc.array(
    fc.oneof(fc.integer({ min: 1, max: 120_000 }), fc.integer({ min: 1, max: 90 * MINUTE })),
    { minLength: 1, maxLength: 40 },
  );
  /** Of what is due at a look, this many are evaluated before the store fails. */
  const progress = fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 40, maxLength: 40 });

  function run(waitsMs: readonly number[], taken: readonly number[], driftMs: (look: number) => number) {
    const done: DueInstant[] = [];
    let nowMs = 0;
    let last: EvaluatedInstant = evaluated(0);
    waitsMs.forEach((waitMs, look) => {
      nowMs += waitMs;
      for (let count = 0; count < (taken[look] ?? 0); count++) {
        const [next, ...later] = dueInstants(last, at(nowMs, driftMs(look)));
        if (next === undefined) break;
        // One after the other is the same as all at once.
        expect(minutesOf(dueInstants(next, at(nowMs, driftMs(look))))).toEqual(minutesOf(later));
        done.push(next);
        last = next;
      }
    });
    return { done, last };
  }

  it('no minute is evaluated twice, and none is left out but those that are counted', () => {
    fc.assert(
      fc.property(waits, progress, (waitsMs, taken) => {
        const { done } = run(waitsMs, taken, () => 0);
        let before = 0;
        for (const [index, minute] of minutesOf(done).entries()) {
          expect(minute).toBe(before + 1 + (done[index]?.missed ?? 0));
          before = minute;
        }
      }),
    );
  });

  it('as much time counts as passed as has passed, also while the clock is corrected', () => {
    const drifts = fc.array(fc.integer({ min: -40_000, max: 40_000 }), { minLength: 40, maxLength: 40 });
    fc.assert(
      fc.property(waits, progress, drifts, (waitsMs, taken, drift) => {
        const { done, last } = run(waitsMs, taken, (look) => drift[look] ?? 0);
        const sum = done.reduce((total, { passedMs }) => total + passedMs, 0);
        expect(Math.abs(sum - (last.steadyMs ?? NaN))).toBeLessThan(1);
        // The steady time of an instant is right up to what the clock was off.
        expect(Math.abs((last.steadyMs ?? NaN) - (last.asOfMs - START))).toBeLessThanOrEqual(
          INTERVAL_MS * 1.5,
        );
        expect(done.every(({ passedMs }) => passedMs >= 0)).toBe(true);
      }),
    );
  });
});
