import { expect, it } from 'vitest';
import type { EvaluationOutcome } from '../../../alerts/evaluate/alert-state.ts';
import {
  alertsAt,
  type EvaluatorState,
  firingBySeverity,
  NOTHING_EVALUATED,
  withEvaluation,
} from '../../../alerts/evaluate/evaluator.ts';
import type { ProvisionedRule } from '../../../alerts/evaluate/rule-file.ts';

const MINUTE = 60_000;
const rule: ProvisionedRule = {
  uid: 'a',
  title: 'GatewatchA',
  condition: 'number',
  data: [],
  for: '0s',
  keepFiringFor: '0s',
  noDataState: 'OK',
  execErrState: 'Error',
  missing_series_evals_to_resolve: 2,
  labels: { severity: 'critical' },
  annotations: { summary: 'A.' },
  isPaused: false,
  group: 'fast',
  interval: '1m',
};
const TEXTS = { externalUrl: '' };
const fires = (...gateways: string[]): EvaluationOutcome => ({
  kind: 'instances',
  instances: gateways.map((gateway) => ({ labels: { gateway }, firing: true, values: {} })),
});

/** After evaluations a minute apart, the first one at minute 1. */
const after = (outcomes: readonly EvaluationOutcome[], state: EvaluatorState = NOTHING_EVALUATED) =>
  outcomes.reduce((known, outcome, index) => {
    const now = (index + 1) * MINUTE;
    return withEvaluation(known, rule, outcome, { nowMs: now, steadyMs: now }).state;
  }, state);
const statuses = (state: EvaluatorState, now: number) =>
  alertsAt(state, [rule], TEXTS, now).map(({ labels, status }) => `${labels['gateway']} ${status}`);

it('changes no state that it was given', () => {
  const state = after([fires('x')]);
  after([fires('x', 'y'), fires()], state);
  expect(statuses(state, MINUTE)).toEqual(['x firing']);
  expect(NOTHING_EVALUATED.memory.size).toBe(0);
});

it('names what fires and how many, by severity', () => {
  const state = after([fires('x', 'y')]);
  expect(statuses(state, MINUTE)).toEqual(['x firing', 'y firing']);
  expect(firingBySeverity(state, [rule])).toEqual(new Map([['critical', 2]]));
});

it('trusts what fires for some intervals more, however long ago it was evaluated', () => {
  const [alert] = alertsAt(after([fires('x')]), [rule], TEXTS, 30 * MINUTE);
  expect(alert?.endsAt.getTime()).toBe(34 * MINUTE);
});

it('repeats the end of an alert whose series is gone for a quarter of an hour, and then forgets it', () => {
  const state = after([fires('x', 'y'), fires('y'), fires('y')]);
  expect(statuses(state, 3 * MINUTE)).toEqual(['y firing', 'x resolved']);
  expect(statuses(state, 18 * MINUTE)).toEqual(['y firing', 'x resolved']);
  expect(statuses(state, 18 * MINUTE + 1)).toEqual(['y firing']);
  const later = withEvaluation(state, rule, fires('y'), { nowMs: 20 * MINUTE, steadyMs: 20 * MINUTE });
  expect(later.state.departed).toEqual([]);
});

it('never puts an end into the future when the clock was set back', () => {
  const state = after([
    fires('x'),
    { kind: 'instances', instances: [] },
    { kind: 'instances', instances: [] },
  ]);
  const [alert] = alertsAt(state, [rule], TEXTS, MINUTE / 2);
  expect(alert?.status).toBe('resolved');
  expect(alert?.endsAt.getTime()).toBeLessThanOrEqual(MINUTE / 2);
});

it('ends an error under the name under which it began', () => {
  const failed = after([{ kind: 'error', message: 'no answer' }]);
  const [began] = alertsAt(failed, [rule], TEXTS, MINUTE);
  expect(began?.labels).toMatchObject({ alertname: 'DatasourceError', rulename: 'GatewatchA' });
  const now = 2 * MINUTE;
  const ended = withEvaluation(failed, rule, fires(), { nowMs: now, steadyMs: now }).state;
  expect(alertsAt(ended, [rule], TEXTS, now)).toMatchObject([
    { status: 'resolved', fingerprint: began?.fingerprint },
  ]);
});
