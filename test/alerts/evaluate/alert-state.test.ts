import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  advance,
  type AlertMemory,
  type EvaluationOutcome,
  isFiring,
  labelKey,
  type RuleMemory,
  type RuleTiming,
} from '../../../alerts/evaluate/alert-state.ts';

const MINUTE = 60_000;
const TIMING: RuleTiming = {
  intervalMs: MINUTE,
  forMs: 2 * MINUTE,
  keepFiringForMs: 3 * MINUTE,
  missingSeriesEvals: 3,
  noDataState: 'OK',
  execErrState: 'KeepLast',
};
const A = { gateway: 'a' };
const result = (firing: boolean, gateway = 'a'): EvaluationOutcome => ({
  kind: 'instances',
  instances: [{ labels: { gateway }, firing, values: {} }],
});
const EMPTY: EvaluationOutcome = { kind: 'instances', instances: [] };
const NO_DATA: EvaluationOutcome = { kind: 'no-data' };
const ERROR: EvaluationOutcome = { kind: 'error', message: 'no answer' };

/** States of the instance after each evaluation, a minute apart. `-` when there is none. */
function states(outcomes: readonly EvaluationOutcome[], timing: Partial<RuleTiming> = {}): string {
  let memory: RuleMemory = new Map();
  return outcomes
    .map((outcome, index) => {
      memory = advance({ ...TIMING, ...timing }, memory, outcome, index * MINUTE).memory;
      return memory.get(labelKey(A))?.state ?? memory.get(labelKey({}))?.state ?? '-';
    })
    .join(' ');
}
const F = result(true);
const N = result(false);

describe('an alert', () => {
  it('waits for its "for" before it fires, and keeps firing for a while after', () => {
    expect(states([N, F, F, F, F, N, N, N, N])).toBe(
      'Normal Pending Pending Alerting Alerting Recovering Recovering Recovering Normal',
    );
  });

  it('begins anew when the condition ends before "for" has passed', () => {
    expect(states([F, F, N, F, F])).toBe('Pending Pending Normal Pending Pending');
  });

  it('fires at once without a "for", and ends at once without a "keep firing for"', () => {
    expect(states([F, N, F], { forMs: 0, keepFiringForMs: 0 })).toBe('Alerting Normal Alerting');
  });

  it('goes on firing without waiting when the condition comes back', () => {
    expect(states([F, F, F, N, F, N])).toBe('Pending Pending Alerting Recovering Alerting Recovering');
  });

  it('ends when its series has been missing for as many evaluations as the rule says', () => {
    expect(states([F, F, F, EMPTY, EMPTY, EMPTY, EMPTY])).toBe(
      'Pending Pending Alerting Alerting Alerting - -',
    );
  });

  it('does as the rule says when there is no data', () => {
    expect(states([F, F, F, NO_DATA])).toBe('Pending Pending Alerting Recovering');
    expect(states([F, F, F, NO_DATA], { noDataState: 'KeepLast' })).toBe('Pending Pending Alerting Alerting');
    expect(states([N, NO_DATA, NO_DATA, NO_DATA], { noDataState: 'Alerting' })).toBe(
      'Normal Pending Pending Alerting',
    );
    expect(states([NO_DATA, NO_DATA, NO_DATA], { noDataState: 'Alerting' })).toBe('Pending Pending Alerting');
  });

  it('holds while the store does not answer, or says so in a name of its own', () => {
    expect(states([F, F, F, ERROR, ERROR, ERROR, ERROR, ERROR])).toBe(
      'Pending Pending Alerting Alerting Alerting Alerting Alerting Alerting',
    );
    const [step] = [advance({ ...TIMING, execErrState: 'Error' }, new Map(), ERROR, 0)];
    expect([...step.memory.values()]).toMatchObject([{ labels: {}, state: 'Error', error: 'no answer' }]);
    // It ends with the first answer.
    expect(states([ERROR, ERROR, N], { execErrState: 'Error' })).toBe('Error Error Normal');
    const after = advance({ ...TIMING, execErrState: 'Error' }, step.memory, N, MINUTE);
    expect(after.alerts.find(({ reason }) => reason === 'MissingSeries')?.resolvedAt).toBe(MINUTE);
  });

  it('remembers since when it fires, and when that ended', () => {
    let memory: RuleMemory = new Map();
    const seen: Partial<AlertMemory>[] = [];
    for (const [index, outcome] of [F, F, F, F, N, N, N, N, N].entries()) {
      memory = advance(TIMING, memory, outcome, index * MINUTE).memory;
      const { firingSince, resolvedAt } = memory.get(labelKey(A)) as AlertMemory;
      seen.push({ firingSince, resolvedAt });
    }
    expect(seen[1]).toEqual({ firingSince: null, resolvedAt: null });
    expect(seen[5]).toEqual({ firingSince: 2 * MINUTE, resolvedAt: null });
    expect(seen[8]).toEqual({ firingSince: 2 * MINUTE, resolvedAt: 7 * MINUTE });
  });
});

const outcomes = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc
        .uniqueArray(fc.record({ gateway: fc.constantFrom('a', 'b', 'c'), firing: fc.boolean() }), {
          selector: ({ gateway }) => gateway,
        })
        .map((instances): EvaluationOutcome => ({
          kind: 'instances',
          instances: instances.map(({ gateway, firing }) => ({ labels: { gateway }, firing, values: {} })),
        })),
    },
    fc.constant(NO_DATA),
    fc.constant(ERROR),
  ),
  { maxLength: 60 },
);
const timings = fc.record<RuleTiming>({
  intervalMs: fc.constantFrom(10_000, MINUTE, 10 * MINUTE),
  forMs: fc.constantFrom(0, MINUTE, 5 * MINUTE),
  keepFiringForMs: fc.constantFrom(0, MINUTE, 5 * MINUTE),
  missingSeriesEvals: fc.integer({ min: 1, max: 4 }),
  noDataState: fc.constantFrom('NoData', 'OK', 'Alerting', 'KeepLast'),
  execErrState: fc.constantFrom('Error', 'OK', 'Alerting', 'KeepLast'),
});

describe('any sequence of evaluations', () => {
  it('never fires before the condition has held for "for", counted from when it began', () => {
    fc.assert(
      fc.property(timings, outcomes, (timing, sequence) => {
        let memory: RuleMemory = new Map();
        const since = new Map<string, number>();
        for (const [index, outcome] of sequence.entries()) {
          const now = index * timing.intervalMs;
          const before = memory;
          memory = advance(timing, memory, outcome, now).memory;
          for (const [key, alert] of memory) {
            const was = before.get(key)?.state ?? 'Normal';
            if (alert.state === 'Pending' && was !== 'Pending') since.set(key, now);
            if (alert.state === 'Alerting' && was === 'Pending')
              expect(now - (since.get(key) ?? now)).toBeGreaterThanOrEqual(timing.forMs);
            if (alert.state === 'Alerting' && (was === 'Normal' || was === 'NoData' || was === 'Error'))
              expect(timing.forMs).toBe(0);
            if (alert.state === 'Recovering') expect(timing.keepFiringForMs).toBeGreaterThan(0);
          }
        }
      }),
    );
  });

  it('reports each end once, keeps its records, and never lets a firing alert lapse between evaluations', () => {
    fc.assert(
      fc.property(timings, outcomes, (timing, sequence) => {
        let memory: RuleMemory = new Map();
        for (const [index, outcome] of sequence.entries()) {
          const now = index * timing.intervalMs;
          const before = memory;
          const step = advance(timing, memory, outcome, now);
          memory = step.memory;
          for (const alert of step.alerts) {
            const was = before.get(labelKey(alert.labels));
            expect(alert.evaluatedAt).toBeLessThanOrEqual(now);
            if (isFiring(alert.state)) {
              expect(alert.resolvedAt).toBeNull();
              expect(alert.firingSince).not.toBeNull();
              // Missing series are given until they are stale.
              if (alert.evaluatedAt === now) expect(alert.endsAt).toBeGreaterThan(now);
            } else if (was !== undefined && isFiring(was.state) && alert.state === 'Normal')
              expect(alert.resolvedAt).toBe(now);
          }
          for (const key of before.keys())
            expect(
              memory.has(key) ||
                step.alerts.some(
                  (alert) => labelKey(alert.labels) === key && alert.reason === 'MissingSeries',
                ),
            ).toBe(true);
        }
      }),
    );
  });

  it('is the same whatever the wall clock is set to meanwhile', () => {
    const steps = fc.array(fc.integer({ min: -7_200_000, max: 7_200_000 }), { minLength: 60, maxLength: 60 });
    fc.assert(
      fc.property(timings, outcomes, steps, (timing, sequence, stepped) => {
        let steady: RuleMemory = new Map();
        let set: RuleMemory = new Map();
        let wall = 0;
        for (const [index, outcome] of sequence.entries()) {
          wall += timing.intervalMs + (stepped[index] ?? 0);
          steady = advance(timing, steady, outcome, index * timing.intervalMs, timing.intervalMs).memory;
          set = advance(timing, set, outcome, wall, timing.intervalMs).memory;
          const statesOf = (memory: RuleMemory) => [...memory].map(([key, { state }]) => [key, state]);
          expect(statesOf(set)).toEqual(statesOf(steady));
        }
      }),
    );
  });

  it('gives the same whether its memory went through the store or not', () => {
    fc.assert(
      fc.property(timings, outcomes, (timing, sequence) => {
        let kept: RuleMemory = new Map();
        let stored: RuleMemory = new Map();
        for (const [index, outcome] of sequence.entries()) {
          const now = index * timing.intervalMs;
          kept = advance(timing, kept, outcome, now).memory;
          stored = advance(
            timing,
            new Map(JSON.parse(JSON.stringify([...stored])) as [string, AlertMemory][]),
            outcome,
            now,
          ).memory;
        }
        expect(new Map(stored)).toEqual(new Map(kept));
      }),
    );
  });
});
