import type { AlertsConfig } from '../../schemas/config-alerts.ts';
import type { Alert } from '../explain/alert.ts';
import type { Notice, NoticeTrouble } from './notice-book.ts';
import { notTaken, type PostOutcome, postJson, problemOf } from './post.ts';
import type { AlertTarget, TargetOptions } from './target.ts';
import { webhookBody } from './webhook-body.ts';

const NOTHING: Notice = { at: 0, heard: {}, open: [], trouble: null };

/** Gateways told at once. */
const AT_ONCE = 4;
/** First and longest wait before the same news are offered again. */
const WAITS_MS = { failed: [15_000, 300_000], refused: [300_000, 3_600_000] } as const;

/**
 * A plain address, told of one incident per gateway: when its alerts change, and again while they fire. The
 * body has the shape of Grafana's webhooks. Each gateway is told on its own: what one is refused keeps
 * nothing from the others. News that were not taken are offered again, after growing waits, or at once when
 * they change.
 */
export function createWebhook(
  config: NonNullable<AlertsConfig['webhook']>,
  options: TargetOptions = {},
): AlertTarget {
  const { url, token, repeatMinutes } = config;
  let notices: Map<string, Notice> | undefined;
  let unsaved: unknown;

  const load = (): Map<string, Notice> => {
    try {
      return options.notices?.load() ?? new Map<string, Notice>();
    } catch (error) {
      // The page matters more than its record, here and below.
      unsaved = error;
      return new Map<string, Notice>();
    }
  };
  const note = (gateway: string, notice: Notice | null): void => {
    if (notice === null) notices?.delete(gateway);
    else notices?.set(gateway, notice);
    unsaved = undefined;
    try {
      options.notices?.save(notices ?? new Map());
    } catch (error) {
      unsaved = error;
    }
  };

  /** Tells one gateway's group what is news; null when there is none, or when it is not time yet. */
  async function tell(gateway: string, offered: readonly Alert[], now: number): Promise<PostOutcome | null> {
    const before = refreshed(notices?.get(gateway) ?? NOTHING, offered);
    const members = [...offered, ...owed(before.open, offered, now)];
    const firing = members.filter(({ status }) => status === 'firing');
    // What ended before anybody heard of it is no news.
    if (firing.length === 0 && before.open.length === 0) {
      const over = members.every(({ fingerprint, status }) => before.heard[fingerprint] !== status);
      if (notices?.has(gateway) && over && before.trouble === null) note(gateway, null);
      return null;
    }
    const changed = members.some(({ fingerprint, status }) => before.heard[fingerprint] !== status);
    const repeat = firing.length > 0 && hasPassed(before.at, repeatMinutes * 60_000, now);
    const news = newsOf(members);
    if ((!changed && !repeat) || isWaiting(before.trouble, news, now)) return null;
    // Written down first: a kill from here on leaves the ends of these owed.
    const intended = { ...before, open: withFiring(before.open, firing) };
    if (intended.open.length > before.open.length) note(gateway, intended);
    // With each request: it may be renewed.
    const authorization = token && `Bearer ${token.reveal()}`;
    const outcome = await postJson(url, webhookBody(gateway, members), authorization, options);
    options.onOutcome?.('webhook', outcome.kind);
    if (outcome.kind === 'accepted')
      note(gateway, {
        at: now,
        heard: Object.fromEntries(members.map(({ fingerprint, status }) => [fingerprint, status])),
        open: firing,
        trouble: null,
      });
    else {
      // Without an answer it may have heard of the beginnings, and is owed their ends.
      const kept = outcome.status === null ? intended : before;
      note(gateway, { ...kept, trouble: troubleOf(outcome, before.trouble, news, members, now) });
    }
    return outcome;
  }

  return {
    name: 'webhook',
    async send(alerts, now) {
      notices ??= load();
      const groups = Map.groupBy(alerts, ({ labels }) => labels['gateway'] ?? '');
      const waiting = [...new Set([...groups.keys(), ...notices.keys()])];
      const problems: string[] = [];
      let cause: unknown;
      const work = async (): Promise<void> => {
        for (let gateway = waiting.shift(); gateway !== undefined; gateway = waiting.shift()) {
          const outcome = await tell(gateway, groups.get(gateway) ?? [], now);
          if (outcome === null || outcome.kind === 'accepted') continue;
          problems.push(`${problemOf(outcome)} (${gateway})`);
          if (outcome.kind === 'failed') cause ??= outcome.cause;
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, work));
      if (problems.length > 0) throw notTaken('webhook', url, problems.join(', '), cause);
      if (unsaved !== undefined)
        throw notTaken('webhook', url, 'it did, but what it was told cannot be kept', unsaved);
    },
  };
}

/** The notice with its open alerts as they are offered now. */
const refreshed = (notice: Notice, offered: readonly Alert[]): Notice => {
  const newest = new Map(offered.map((alert) => [alert.fingerprint, alert]));
  return { ...notice, open: notice.open.map((alert) => newest.get(alert.fingerprint) ?? alert) };
};

/**
 * Alerts that were told as firing and are no longer offered: the address, or we, were away until after their
 * ends had been offered for long enough. Their ends are still owed.
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

const newsOf = (members: readonly Alert[]): string =>
  members
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
  news: string,
  members: readonly Alert[],
  now: number,
): NoticeTrouble {
  const again = before?.news === news;
  return {
    kind: outcome.kind,
    status: outcome.status,
    since: again ? before.since : now,
    at: now,
    tries: again ? before.tries + 1 : 1,
    news,
    alerts: [...new Set(members.map(({ labels }) => labels['alertname'] ?? ''))],
  };
}
