import { expect, it } from 'vitest';
import { firedAlerts, type StateRow } from '../../../alerts/incidents/firings.ts';

const MINUTE = 60_000;
const NOW = 1_000 * MINUTE;

const row = (
  state: StateRow['state'],
  changedAt: number,
  evaluatedAt: number,
  more: { firingSince?: number; resolvedAt?: number; rule?: string; labels?: Record<string, string> } = {},
): StateRow => ({
  rule: more.rule ?? 'GatewatchTechTimeouts',
  severity: 'critical',
  labels: more.labels ?? { gateway: 'acme-eu', stage: 'CHECK' },
  state,
  changedAt: changedAt * MINUTE,
  evaluatedAt: evaluatedAt * MINUTE,
  firingSince: more.firingSince === undefined ? null : more.firingSince * MINUTE,
  resolvedAt: more.resolvedAt === undefined ? null : more.resolvedAt * MINUTE,
});
const beat = row('Alerting', 0, 1_000, {
  rule: 'GatewatchHeartbeat',
  labels: { gateway: '' },
  firingSince: 0,
});
const inMinutes = (rows: readonly StateRow[], at = NOW) =>
  firedAlerts([...rows, beat], at).map(({ beganAt, firedAt, recoveringSince, endedAt }) =>
    [beganAt, firedAt, recoveringSince, endedAt].map((ms) => (ms === null ? null : ms / MINUTE)),
  );

const story = [
  row('Pending', 100, 101),
  row('Alerting', 102, 120, { firingSince: 102 }),
  row('Recovering', 121, 125, { firingSince: 102 }),
  row('Normal', 126, 126, { firingSince: 102, resolvedAt: 126 }),
  // Waits anew, and does not fire: its states still name the firing before.
  row('Pending', 200, 200, { firingSince: 102, resolvedAt: 126 }),
  row('Normal', 201, 201, { firingSince: 102, resolvedAt: 126 }),
  row('Pending', 300, 301, { firingSince: 102, resolvedAt: 126 }),
  row('Alerting', 302, 1_000, { firingSince: 302 }),
];

it('tells when an alert began to hold, fired and ended, each firing for itself', () => {
  expect(inMinutes(story)).toEqual([
    [100, 102, null, 126],
    [300, 302, null, null],
  ]);
  expect(firedAlerts(story, NOW)[0]).toMatchObject({
    rule: 'GatewatchTechTimeouts',
    gateway: 'acme-eu',
    slice: '',
    label: 'CHECK',
    severity: 'critical',
    summary: expect.stringMatching(/\w/),
    side: expect.stringMatching(/\w/),
  });
});

it('knows what was known at an earlier time', () => {
  expect(inMinutes(story, 110 * MINUTE)).toEqual([[100, 102, null, null]]);
  expect(inMinutes(story, 123 * MINUTE)).toEqual([[100, 102, 121, null]]);
  expect(inMinutes(story, 101 * MINUTE)).toEqual([]);
});

it('an alert that nobody has evaluated for long has ended; while nobody evaluates anything it fires on', () => {
  const alone = [row('Pending', 99, 99), row('Alerting', 100, 120, { firingSince: 100 })];
  expect(inMinutes(alone)).toEqual([[99, 100, null, 120]]);
  expect(firedAlerts(alone, NOW)[0]?.endedAt).toBeNull();
});

it('a rule that does not wait has begun when it fired', () => {
  expect(
    inMinutes([row('Alerting', 50, 60, { firingSince: 50 }), row('NoData', 61, 1_000, { firingSince: 50 })]),
  ).toEqual([[50, 50, null, null]]);
});
