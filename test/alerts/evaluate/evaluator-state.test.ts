import { describe, expect, it } from 'vitest';
import {
  alertsAt,
  type EvaluatorState,
  firingBySeverity,
  NOTHING_EVALUATED,
  resumedState,
  withInstant,
  withStoredInstant,
} from '../../../alerts/evaluate/evaluator-state.ts';
import { groupsAt } from '../../../alerts/evaluate/due.ts';
import { evaluation, ruleNamed } from '../support/evaluations.ts';

const MINUTE = 60_000;
const rule = ruleNamed('GatewatchSignatureMismatches', { pendingSeconds: 0, keepFiringSeconds: 0 });
const slow = ruleNamed('GatewatchRejects', { pendingSeconds: 600, keepFiringSeconds: 0, group: 'slow' });
const LINKS = { externalUrl: '' };
type Seen = readonly string[];
/** The gateways of an instant: `x` is well, `x!` is not. */
const rowsOf = (gateways: Seen, asOfMs: number, of = rule) =>
  gateways.map((name) =>
    evaluation(of, asOfMs, { gateway: name.replace('!', ''), breach: Number(name.endsWith('!')) }),
  );

/** After instants a minute apart, the first one at minute 1. */
const after = (instants: readonly Seen[], state: EvaluatorState = NOTHING_EVALUATED) =>
  instants.reduce((known, gateways, index) => {
    const asOfMs = (index + 1) * MINUTE;
    const rows = rowsOf(gateways, asOfMs);
    return withInstant(known, [rule], { asOfMs, steadyMs: asOfMs, passedMs: MINUTE, rows, groups: ['fast'] })
      .state;
  }, state);
const statuses = (state: EvaluatorState, now: number) =>
  alertsAt(state, [rule], LINKS, now).map(({ labels, status }) => `${labels['gateway']} ${status}`);

it('changes no state that it was given', () => {
  const state = after([['x!']]);
  after([['x!', 'y!'], []], state);
  expect(statuses(state, MINUTE)).toEqual(['x firing']);
  expect(NOTHING_EVALUATED.memory.size).toBe(0);
});

it('names what fires and how many, by severity', () => {
  const state = after([['x!', 'y!', 'z']]);
  expect(statuses(state, MINUTE)).toEqual(['x firing', 'y firing']);
  expect(firingBySeverity(state, [rule])).toEqual(new Map([[rule.severity, 2]]));
});

it('counts no sign of life, and repeats it only while it is new', () => {
  const heartbeat = ruleNamed('GatewatchHeartbeat');
  const rows = [evaluation(heartbeat, MINUTE, { gateway: '', breach: 1 })];
  const observed = { asOfMs: MINUTE, steadyMs: MINUTE, passedMs: MINUTE, rows, groups: ['fast'] as const };
  const { state } = withInstant(NOTHING_EVALUATED, [heartbeat], observed);
  expect(firingBySeverity(state, [heartbeat])).toEqual(new Map());
  expect([2, 4, 6].map((at) => alertsAt(state, [heartbeat], LINKS, at * MINUTE).length)).toEqual([1, 1, 0]);
});

it('trusts what fires for some intervals more, however long ago it was evaluated', () => {
  const [alert] = alertsAt(after([['x!']]), [rule], LINKS, 30 * MINUTE);
  expect(alert?.endsAt.getTime()).toBe(34 * MINUTE);
});

it('repeats the end of an alert whose series is gone for a quarter of an hour, and then forgets it', () => {
  const instants = [['x!', 'y!'], ['y!'], ['y!'], ['y!'], ...Array.from({ length: 15 }, () => ['y!'])];
  expect(statuses(after(instants.slice(0, 3)), 3 * MINUTE)).toEqual(['y firing', 'x firing']);
  expect(statuses(after(instants.slice(0, 4)), 4 * MINUTE)).toEqual(['y firing', 'x resolved']);
  expect(statuses(after(instants), 19 * MINUTE)).toEqual(['y firing', 'x resolved']);
  const forgotten = after([...instants, ['y!'], ['y!']]);
  expect(statuses(forgotten, 21 * MINUTE)).toEqual(['y firing']);
  expect(forgotten.departed).toEqual([]);
});

it('repeats an end for as long as nothing newer was evaluated', () => {
  const state = after([['x!'], ['x']]);
  expect(statuses(state, 90 * MINUTE)).toEqual(['x resolved']);
});

it('never puts an end into the future when the clock was set back', () => {
  const [alert] = alertsAt(after([['x!'], ['x']]), [rule], LINKS, MINUTE / 2);
  expect(alert?.status).toBe('resolved');
  expect(alert?.endsAt.getTime()).toBeLessThanOrEqual(MINUTE / 2);
});

it('lets all minutes between count for a slow rule', () => {
  const at = (state: EvaluatorState, minute: number) => {
    const asOfMs = minute * MINUTE;
    const rows = rowsOf(['x!'], asOfMs, slow);
    const groups = groupsAt(asOfMs);
    return withInstant(state, [slow], { asOfMs, steadyMs: asOfMs, passedMs: MINUTE, rows, groups }).state;
  };
  const statesOf = (state: EvaluatorState) =>
    [...(state.memory.get(slow.uid)?.values() ?? [])].map((one) => one.state);
  let state = at(NOTHING_EVALUATED, 10);
  for (let minute = 11; minute < 20; minute++) state = at(state, minute);
  expect(statesOf(state)).toEqual(['Pending']);
  expect(statesOf(at(state, 20))).toEqual(['Alerting']);
});

describe('whoever goes on', () => {
  const states = (state: EvaluatorState) => state.memory.get(rule.uid) ?? new Map();

  it('reads the instant whose states are missing, and comes to the same', () => {
    const whole = after([
      ['x!', 'y'],
      ['x', 'y!'],
    ]);
    const stored = after([['x!', 'y']]);
    const resumed = resumedState([rule], stored.memory, { asOfMs: 2 * MINUTE, steadyMs: null });
    const { state, steps } = withStoredInstant(resumed, [rule], 2 * MINUTE, rowsOf(['x', 'y!'], 2 * MINUTE));
    expect(states(state)).toEqual(states(whole));
    expect(steps.flatMap(({ alerts }) => alerts.map((alert) => alert.state))).toEqual(['Normal', 'Alerting']);
  });

  it('leaves alone what has been there already', () => {
    const done = after([['x!', 'y']]);
    const resumed = resumedState([rule], done.memory, { asOfMs: MINUTE, steadyMs: null });
    const { state, steps } = withStoredInstant(resumed, [rule], MINUTE, rowsOf(['x!', 'y', 'z!'], MINUTE));
    expect(steps.flatMap(({ alerts }) => alerts.map(({ labels }) => labels['gateway']))).toEqual(['z']);
    expect(statuses(state, MINUTE)).toEqual(['x firing', 'z firing']);
  });

  it('still reports an alert that ended with its series', () => {
    const memory = after([['x!'], [], [], []]);
    const gone = memory.departed.map(({ alert }) => alert);
    const stored = new Map([[rule.uid, new Map(gone.map((alert) => ['x', alert]))]]);
    const resumed = resumedState([rule], stored, { asOfMs: 4 * MINUTE, steadyMs: null });
    expect(states(resumed).size).toBe(0);
    expect(statuses(resumed, 5 * MINUTE)).toEqual(['x resolved']);
  });
});

it('takes rules that could not be evaluated at their time for unknown, and not for gone', () => {
  const both = [rule, slow];
  const seen = [...rowsOf(['x!'], 10 * MINUTE), ...rowsOf(['x!'], 10 * MINUTE, slow)];
  const first = withInstant(NOTHING_EVALUATED, both, {
    asOfMs: 10 * MINUTE,
    steadyMs: null,
    passedMs: MINUTE,
    rows: seen,
    groups: ['fast', 'slow'],
  }).state;
  const only = rowsOf(['x!'], 20 * MINUTE);
  const next = { asOfMs: 20 * MINUTE, steadyMs: null, passedMs: MINUTE, rows: only };
  const own = withInstant(first, both, { ...next, groups: ['fast'] }).state;
  const stored = withStoredInstant(first, both, 20 * MINUTE, only).state;
  for (const state of [own, stored])
    expect([...(state.memory.get(slow.uid)?.values() ?? [])].map((one) => one.state)).toEqual(['Pending']);
});
