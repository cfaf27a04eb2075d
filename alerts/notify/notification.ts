import type { Alert } from '../explain/alert.ts';
import type { PostOutcome } from './post.ts';

/** What a receiver knows of one gateway, and what it did not accept. Times in epoch milliseconds. */
export interface NotificationState {
  /** When it last accepted a notification; 0 when it never did. */
  readonly at: number;
  /** The statuses in that notification, by fingerprint. */
  readonly acceptedStatuses: Readonly<Record<string, Alert['status']>>;
  /** What it takes for firing, as it was offered last: it must still learn the ends of these. */
  readonly firingForReceiver: readonly Alert[];
  /** What it did not accept, and why; null when it accepted the last notification. */
  readonly lastFailure: SendFailure | null;
}

export interface SendFailure {
  /** `refused`: the same again would be refused again. `failed`: the receiver was away or busy. */
  readonly kind: 'refused' | 'failed';
  /** Null: no answer. */
  readonly status: number | null;
  /** The first and the last attempt at these changes. */
  readonly since: number;
  readonly at: number;
  readonly tries: number;
  /** The changes that were not accepted: fingerprints with their statuses. */
  readonly changesKey: string;
  /** Names of the alerts among them, for those who read the file. */
  readonly alerts: readonly string[];
}

/** A notification that is due. */
export interface Notification {
  readonly kind: 'notify';
  readonly alerts: readonly Alert[];
  readonly before: NotificationState;
  /**
   * `before`, with what begins to fire: what is known if no answer comes. Stored before the request, so that
   * the ends are sent after a kill, too.
   */
  readonly afterSendAttempt: NotificationState;
}

export type Decision =
  | Notification
  /** Nothing has changed, or it is not time yet. */
  | { readonly kind: 'wait' }
  /** Nobody is notified, and this is what is known from now on. */
  | { readonly kind: 'remember'; readonly state: NotificationState }
  /** All is over and accepted: nothing needs to be remembered. */
  | { readonly kind: 'forget' };

const NOTHING: NotificationState = { at: 0, acceptedStatuses: {}, firingForReceiver: [], lastFailure: null };

/** First and longest wait before the same changes are offered again. */
const WAITS_MS = { failed: [15_000, 300_000], refused: [300_000, 3_600_000] } as const;

/**
 * What is to be done about one gateway, whose alerts are `offered` at `now`. Of an alert that is silenced
 * nothing is sent while it fires; once it is no longer, it is a change. An end is sent to a receiver that
 * knows the beginning, and to no other. One that is acknowledged is sent with what changes, and never
 * repeated for its own sake.
 */
export function decide(
  known: NotificationState | undefined,
  offered: readonly Alert[],
  now: number,
  repeatMs: number,
): Decision {
  const silenced = new Set(offered.filter(isSilenced).map(({ fingerprint }) => fingerprint));
  const before = refreshed(withoutAccepted(known ?? NOTHING, silenced), offered);
  // A receiver that was never sent the beginning learns nothing from the end.
  const isKnown = ({ fingerprint }: Alert): boolean =>
    before.acceptedStatuses[fingerprint] !== undefined ||
    before.firingForReceiver.some((alert) => alert.fingerprint === fingerprint);
  const shown = offered.filter((alert) => (alert.status === 'firing' ? !isSilenced(alert) : isKnown(alert)));
  const alerts = [...shown, ...pendingResolves(before.firingForReceiver, offered, now)];
  const firing = alerts.filter(({ status }) => status === 'firing');
  const changed = alerts.some(({ fingerprint, status }) => before.acceptedStatuses[fingerprint] !== status);
  const wait: Decision = silencedAnew(known, silenced)
    ? { kind: 'remember', state: before }
    : { kind: 'wait' };
  // What began and ended without the receiver's knowledge is no change for it.
  if (firing.length === 0 && before.firingForReceiver.length === 0)
    return known !== undefined && !changed && before.lastFailure === null ? { kind: 'forget' } : wait;
  const repeat = firing.some(({ held }) => held !== 'acknowledged') && hasPassed(before.at, repeatMs, now);
  if ((!changed && !repeat) || isWaiting(before.lastFailure, changesKeyOf(alerts), now)) return wait;
  return {
    kind: 'notify',
    alerts,
    before,
    afterSendAttempt: { ...before, firingForReceiver: withFiring(before.firingForReceiver, firing) },
  };
}

/** Nothing is said of it: what is said of an end is good news. */
const isSilenced = ({ held, status }: Alert): boolean => held === 'silenced' && status === 'firing';

/** Once these are notified again, that is a change. */
const withoutAccepted = (state: NotificationState, silenced: ReadonlySet<string>): NotificationState => ({
  ...state,
  acceptedStatuses: Object.fromEntries(
    Object.entries(state.acceptedStatuses).filter(([fingerprint]) => !silenced.has(fingerprint)),
  ),
});

const silencedAnew = (known: NotificationState | undefined, silenced: ReadonlySet<string>): boolean =>
  Object.keys(known?.acceptedStatuses ?? {}).some((fingerprint) => silenced.has(fingerprint));

/** What is known once the request with a notification has an outcome. */
export function afterPost(
  { alerts, before, afterSendAttempt }: Notification,
  outcome: PostOutcome,
  now: number,
): NotificationState {
  if (outcome.kind === 'accepted')
    return {
      at: now,
      acceptedStatuses: Object.fromEntries(alerts.map(({ fingerprint, status }) => [fingerprint, status])),
      firingForReceiver: [
        ...alerts.filter(({ status }) => status === 'firing'),
        // It still has to learn the ends of these.
        ...before.firingForReceiver.filter(isSilenced),
      ],
      lastFailure: null,
    };
  // Without an answer it may have accepted the beginnings, and must learn their ends.
  const kept = outcome.status === null ? afterSendAttempt : before;
  return { ...kept, lastFailure: failureOf(outcome, before.lastFailure, alerts, now) };
}

/** The state, with its firing alerts as they are offered now. */
const refreshed = (state: NotificationState, offered: readonly Alert[]): NotificationState => {
  const newest = new Map(offered.map((alert) => [alert.fingerprint, alert]));
  return {
    ...state,
    firingForReceiver: state.firingForReceiver.map((alert) => newest.get(alert.fingerprint) ?? alert),
  };
};

/**
 * The ends of alerts that the receiver takes for firing and that are no longer offered: it, or we, were away
 * until after their ends had been offered for long enough.
 */
function pendingResolves(
  firingForReceiver: readonly Alert[],
  offered: readonly Alert[],
  now: number,
): Alert[] {
  const present = new Set(offered.map(({ fingerprint }) => fingerprint));
  return firingForReceiver
    .filter(({ fingerprint }) => !present.has(fingerprint))
    .map((alert) =>
      alert.status === 'resolved' ? alert : { ...alert, status: 'resolved', endsAt: new Date(now) },
    );
}

function withFiring(firingForReceiver: readonly Alert[], firing: readonly Alert[]): Alert[] {
  const known = new Set(firingForReceiver.map(({ fingerprint }) => fingerprint));
  return [...firingForReceiver, ...firing.filter(({ fingerprint }) => !known.has(fingerprint))];
}

/** A clock that was set back ends the wait, rather than making it longer. */
const hasPassed = (since: number, waitMs: number, now: number): boolean =>
  now - since >= waitMs || now < since;

const changesKeyOf = (alerts: readonly Alert[]): string =>
  alerts
    .map(({ fingerprint, status }) => `${fingerprint} ${status}`)
    .toSorted()
    .join(', ');

function isWaiting(lastFailure: SendFailure | null, changesKey: string, now: number): boolean {
  if (lastFailure === null || lastFailure.changesKey !== changesKey) return false;
  const [first, longest] = WAITS_MS[lastFailure.kind];
  return !hasPassed(lastFailure.at, Math.min(first * 2 ** (lastFailure.tries - 1), longest), now);
}

function failureOf(
  outcome: Exclude<PostOutcome, { kind: 'accepted' }>,
  before: SendFailure | null,
  alerts: readonly Alert[],
  now: number,
): SendFailure {
  const changesKey = changesKeyOf(alerts);
  const again = before?.changesKey === changesKey;
  return {
    kind: outcome.kind,
    status: outcome.status,
    since: again ? before.since : now,
    at: now,
    tries: again ? before.tries + 1 : 1,
    changesKey,
    alerts: [...new Set(alerts.map(({ labels }) => labels['alertname'] ?? ''))],
  };
}
