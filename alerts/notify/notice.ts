import type { Alert } from '../explain/alert.ts';
import type { PostOutcome } from './post.ts';

/** What a receiver knows of one gateway, and what it did not accept. Times in epoch milliseconds. */
export interface Notice {
  /** When it last accepted a notification; 0 when it never did. */
  readonly at: number;
  /** The statuses in that notification, by fingerprint. */
  readonly heard: Readonly<Record<string, Alert['status']>>;
  /** What it takes for firing, as it was offered last: the ends of these are owed to it. */
  readonly open: readonly Alert[];
  /** What it did not accept, and why; null when it accepted the last notification. */
  readonly trouble: NoticeTrouble | null;
}

export interface NoticeTrouble {
  /** `refused`: the same again would be refused again. `failed`: the receiver was away or busy. */
  readonly kind: 'refused' | 'failed';
  /** Null: no answer. */
  readonly status: number | null;
  /** The first and the last attempt at these news. */
  readonly since: number;
  readonly at: number;
  readonly tries: number;
  /** The news that were not accepted: fingerprints with their statuses. */
  readonly news: string;
  /** Names of the alerts among them, for whoever looks. */
  readonly alerts: readonly string[];
}

/** A notification that is due. */
export interface Notification {
  readonly kind: 'notify';
  readonly alerts: readonly Alert[];
  readonly before: Notice;
  /**
   * `before`, with what begins to fire. Stored before the request, so that after a kill the ends are owed.
   */
  readonly intended: Notice;
}

export type Decision =
  | Notification
  /** Nothing is news, or it is not time yet. */
  | { readonly kind: 'wait' }
  /** All is over and accepted: nothing needs to be remembered. */
  | { readonly kind: 'forget' };

const NOTHING: Notice = { at: 0, heard: {}, open: [], trouble: null };

/** First and longest wait before the same news are offered again. */
const WAITS_MS = { failed: [15_000, 300_000], refused: [300_000, 3_600_000] } as const;

/** What is to be done about one gateway, whose alerts are `offered` at `now`. */
export function decide(
  known: Notice | undefined,
  offered: readonly Alert[],
  now: number,
  repeatMs: number,
): Decision {
  const before = refreshed(known ?? NOTHING, offered);
  const alerts = [...offered, ...owed(before.open, offered, now)];
  const firing = alerts.filter(({ status }) => status === 'firing');
  const changed = alerts.some(({ fingerprint, status }) => before.heard[fingerprint] !== status);
  // What began and ended without the receiver's knowledge is no news.
  if (firing.length === 0 && before.open.length === 0)
    return { kind: known !== undefined && !changed && before.trouble === null ? 'forget' : 'wait' };
  const repeat = firing.length > 0 && hasPassed(before.at, repeatMs, now);
  if ((!changed && !repeat) || isWaiting(before.trouble, newsOf(alerts), now)) return { kind: 'wait' };
  return { kind: 'notify', alerts, before, intended: { ...before, open: withFiring(before.open, firing) } };
}

/** What is known once the request with a notification has an outcome. */
export function afterPost(
  { alerts, before, intended }: Notification,
  outcome: PostOutcome,
  now: number,
): Notice {
  if (outcome.kind === 'accepted')
    return {
      at: now,
      heard: Object.fromEntries(alerts.map(({ fingerprint, status }) => [fingerprint, status])),
      open: alerts.filter(({ status }) => status === 'firing'),
      trouble: null,
    };
  // Without an answer it may have accepted the beginnings, and is owed their ends.
  const kept = outcome.status === null ? intended : before;
  return { ...kept, trouble: troubleOf(outcome, before.trouble, alerts, now) };
}

/** The notice with its open alerts as they are offered now. */
const refreshed = (notice: Notice, offered: readonly Alert[]): Notice => {
  const newest = new Map(offered.map((alert) => [alert.fingerprint, alert]));
  return { ...notice, open: notice.open.map((alert) => newest.get(alert.fingerprint) ?? alert) };
};

/**
 * The ends of alerts that the receiver takes for firing and that are no longer offered: it, or we, were away
 * until after their ends had been offered for long enough.
 */
function owed(open: readonly Alert[], offered: readonly Alert[], now: number): Alert[] {
  const present = new Set(offered.map(({ fingerprint }) => fingerprint));
  return open
    .filter(({ fingerprint }) => !present.has(fingerprint))
    .map((alert) =>
      alert.status === 'resolved' ? alert : { ...alert, status: 'resolved', endsAt: new Date(now) },
    );
}

function withFiring(open: readonly Alert[], firing: readonly Alert[]): Alert[] {
  const known = new Set(open.map(({ fingerprint }) => fingerprint));
  return [...open, ...firing.filter(({ fingerprint }) => !known.has(fingerprint))];
}

/** A clock that was set back ends the wait, rather than making it longer. */
const hasPassed = (since: number, waitMs: number, now: number): boolean =>
  now - since >= waitMs || now < since;

const newsOf = (alerts: readonly Alert[]): string =>
  alerts
    .map(({ fingerprint, status }) => `${fingerprint} ${status}`)
    .toSorted()
    .join(', ');

function isWaiting(trouble: NoticeTrouble | null, news: string, now: number): boolean {
  if (trouble === null || trouble.news !== news) return false;
  const [first, longest] = WAITS_MS[trouble.kind];
  return !hasPassed(trouble.at, Math.min(first * 2 ** (trouble.tries - 1), longest), now);
}

function troubleOf(
  outcome: Exclude<PostOutcome, { kind: 'accepted' }>,
  before: NoticeTrouble | null,
  alerts: readonly Alert[],
  now: number,
): NoticeTrouble {
  const news = newsOf(alerts);
  const again = before?.news === news;
  return {
    kind: outcome.kind,
    status: outcome.status,
    since: again ? before.since : now,
    at: now,
    tries: again ? before.tries + 1 : 1,
    news,
    alerts: [...new Set(alerts.map(({ labels }) => labels['alertname'] ?? ''))],
  };
}
