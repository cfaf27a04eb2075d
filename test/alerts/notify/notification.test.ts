import { expect, it } from 'vitest';
import type { Alert } from '../../../alerts/explain/alert.ts';
import {
  afterPost,
  decide,
  type Decision,
  type NotificationState,
  type Notification,
} from '../../../alerts/notify/notification.ts';
import type { PostOutcome } from '../../../alerts/notify/post.ts';

const MINUTE = 60_000;
const REPEAT = 60 * MINUTE;
const alert = (name: string, status: Alert['status']): Alert => ({
  fingerprint: name,
  status,
  labels: { alertname: name, gateway: 'acme-eu' },
  annotations: {},
  startsAt: new Date(MINUTE),
  endsAt: new Date(3 * MINUTE),
  generatorUrl: '',
  values: {},
});
const FIRES = [alert('A', 'firing')];
const ENDS = [alert('A', 'resolved')];
const OK: PostOutcome = { kind: 'accepted' };
const REFUSED: PostOutcome = { kind: 'refused', status: 400 };
const NO_ANSWER: PostOutcome = { kind: 'failed', status: null };

const due = (decision: Decision): Notification =>
  decision.kind === 'notify' ? decision : expect.fail(`it is to ${decision.kind}`);
/** What is known after a notification of these alerts had this outcome. */
const known = (
  before: NotificationState | undefined,
  offered: readonly Alert[],
  now: number,
  outcome: PostOutcome = OK,
): NotificationState => afterPost(due(decide(before, offered, now, REPEAT)), outcome, now);
const kinds = (
  before: NotificationState | undefined,
  offered: readonly Alert[],
  minutes: readonly number[],
) => minutes.map((minute) => decide(before, offered, minute * MINUTE, REPEAT).kind);

it('notifies of a beginning once, again when it is time, and of the end', () => {
  const begun = known(undefined, FIRES, MINUTE);
  expect(kinds(begun, FIRES, [2, 60, 61])).toEqual(['wait', 'wait', 'notify']);
  expect(decide(begun, ENDS, 3 * MINUTE, REPEAT).kind).toBe('notify');
});

it('forgets what is over once the end was accepted', () => {
  const ended = known(known(undefined, FIRES, MINUTE), ENDS, 3 * MINUTE);
  expect(decide(ended, ENDS, 4 * MINUTE, REPEAT).kind).toBe('forget');
  expect(decide(ended, [], 4 * MINUTE, REPEAT).kind).toBe('forget');
});

it('says nothing of what began and ended without the receiver', () => {
  expect(decide(undefined, ENDS, MINUTE, REPEAT).kind).toBe('wait');
});

it('sends the end of an alert that is no longer offered', () => {
  const begun = known(undefined, FIRES, MINUTE);
  const { alerts } = due(decide(begun, [], 30 * MINUTE, REPEAT));
  expect(alerts).toMatchObject([{ fingerprint: 'A', status: 'resolved', endsAt: new Date(30 * MINUTE) }]);
});

it('stores what begins to fire before the request, so that its end is sent after a kill', () => {
  const { before, afterSendAttempt } = due(decide(undefined, FIRES, MINUTE, REPEAT));
  expect(before.firingForReceiver).toEqual([]);
  expect(afterSendAttempt.firingForReceiver).toEqual(FIRES);
  expect(decide(afterSendAttempt, [], 2 * MINUTE, REPEAT).kind).toBe('notify');
});

it('must send the end after no answer, and not after a refusal', () => {
  expect(known(undefined, FIRES, MINUTE, NO_ANSWER).firingForReceiver).toEqual(FIRES);
  expect(known(undefined, FIRES, MINUTE, REFUSED).firingForReceiver).toEqual([]);
});

it('offers refused changes again after five minutes, then after longer, and other changes at once', () => {
  const once = known(undefined, FIRES, 0, REFUSED);
  expect(kinds(once, FIRES, [4, 5])).toEqual(['wait', 'notify']);
  const twice = known(once, FIRES, 5 * MINUTE, REFUSED);
  expect(twice.lastFailure).toMatchObject({
    kind: 'refused',
    tries: 2,
    since: 0,
    at: 5 * MINUTE,
    alerts: ['A'],
  });
  expect(kinds(twice, FIRES, [14, 15])).toEqual(['wait', 'notify']);
  expect(kinds(twice, [...FIRES, alert('B', 'firing')], [6])).toEqual(['notify']);
});

it.each([-24 * 60 * MINUTE, 24 * 60 * MINUTE])(
  'repeats itself once at most, and loses nothing, when the clock is set by %i ms',
  (step) => {
    const start = 48 * 60 * MINUTE;
    const begun = known(undefined, FIRES, start);
    const repeated = known(begun, FIRES, start + step);
    expect(decide(repeated, FIRES, start + step + MINUTE, REPEAT).kind).toBe('wait');
    expect(decide(repeated, ENDS, start + step + MINUTE, REPEAT).kind).toBe('notify');
    const refused = known(undefined, FIRES, start, REFUSED);
    expect(decide(refused, FIRES, start + step, REPEAT).kind).toBe('notify');
  },
);

const heldAs = (held: NonNullable<Alert['held']>, name = 'A', status: Alert['status'] = 'firing'): Alert => ({
  ...alert(name, status),
  held,
});

it('says nothing of what is silenced, and notifies of it when that ends and it still fires', () => {
  expect(kinds(undefined, [heldAs('silenced')], [1, 61, 300])).toEqual(['wait', 'wait', 'wait']);
  const { alerts } = due(decide(undefined, [heldAs('silenced'), alert('B', 'firing')], MINUTE, REPEAT));
  expect(alerts).toMatchObject([{ fingerprint: 'B' }]);
  const begun = known(undefined, FIRES, MINUTE);
  const silenced = decide(begun, [heldAs('silenced')], 2 * MINUTE, REPEAT);
  if (silenced.kind !== 'remember') return expect.fail(`it is to ${silenced.kind}`);
  expect(kinds(silenced.state, [heldAs('silenced')], [3, 61, 300])).toEqual(['wait', 'wait', 'wait']);
  expect(decide(silenced.state, FIRES, 4 * MINUTE, REPEAT).kind).toBe('notify');
});

it('sends the end of what is silenced to a receiver that knows its beginning, and to no other', () => {
  const begun = known(undefined, [...FIRES, alert('B', 'firing')], MINUTE);
  const offered = [heldAs('silenced'), alert('B', 'resolved')];
  const later = known(begun, offered, 3 * MINUTE);
  expect(later.firingForReceiver).toMatchObject([{ fingerprint: 'A' }]);
  const over = due(decide(later, [heldAs('silenced', 'A', 'resolved')], 4 * MINUTE, REPEAT));
  expect(over.alerts).toMatchObject([{ fingerprint: 'A', status: 'resolved' }]);
  const unknown = [heldAs('silenced', 'C', 'resolved'), alert('B', 'firing')];
  expect(decide(known(undefined, [alert('B', 'firing')], MINUTE), unknown, 2 * MINUTE, REPEAT).kind).toBe(
    'wait',
  );
});

it('does not repeat what is acknowledged for its own sake, and sends its end', () => {
  const begun = known(undefined, FIRES, MINUTE);
  expect(kinds(begun, [heldAs('acknowledged')], [2, 61, 300])).toEqual(['wait', 'wait', 'wait']);
  expect(decide(begun, ENDS, 300 * MINUTE, REPEAT).kind).toBe('notify');
  expect(decide(begun, [heldAs('acknowledged'), alert('B', 'firing')], 2 * MINUTE, REPEAT).kind).toBe(
    'notify',
  );
  expect(decide(undefined, [heldAs('acknowledged')], MINUTE, REPEAT).kind).toBe('notify');
});
