import type { AlertsConfig } from '../../schemas/config-alerts.ts';
import type { Alert } from '../explain/alert.ts';
import { RULES } from '../rules/all.ts';
import { isHeartbeat } from '../rules/rule.ts';
import { afterPost, decide, type NotificationState } from './notification.ts';
import { notTaken, type PostOutcome, postJson, problemOf } from './post.ts';
import type { AlertTarget, TargetOptions } from './alert-target.ts';
import { webhookBody } from './webhook-body.ts';

/** Signs of life: the webhook repeats what fires to people, these go to an address of their own. */
const HEARTBEATS: ReadonlySet<string> = new Set(RULES.filter(isHeartbeat).map(({ name }) => name));
/**
 * Info has notifications of its own, so that it is not repeated with every page. No gateway has such a name.
 */
const INFO = '/info';
/** Gateways whose notifications are sent at once. */
const CONCURRENCY = 4;

/**
 * A plain address, notified of each gateway when its alerts change, and again while they fire; of info
 * apart, and once. The body has the shape of Grafana's webhooks. Each gateway has its own requests, so that
 * a refusal of one delays no other. Changes that were not accepted are offered again, after growing waits,
 * or at once when there are others.
 */
export function createWebhook(
  config: NonNullable<AlertsConfig['webhook']>,
  options: TargetOptions = {},
): AlertTarget {
  const { url, token, repeatMinutes, heartbeatUrl } = config;
  const memory = createNotificationMemory(options.notifications);

  /**
   * Sends what has changed for one gateway's pages, or its info; null when nothing has, or when it is not
   * time yet.
   */
  async function notify(group: string, offered: readonly Alert[], now: number): Promise<PostOutcome | null> {
    const repeatMs = group.endsWith(INFO) ? Infinity : repeatMinutes * 60_000;
    const decision = decide(memory.get(group), offered, now, repeatMs);
    if (decision.kind === 'forget') memory.set(group, null);
    if (decision.kind === 'remember') memory.set(group, decision.state);
    if (decision.kind !== 'notify') return null;
    const { alerts, before, afterSendAttempt } = decision;
    if (afterSendAttempt.firingForReceiver.length > before.firingForReceiver.length)
      memory.set(group, afterSendAttempt);
    // With each request: it may be renewed.
    const authorization = token && `Bearer ${token.reveal()}`;
    const outcome = await postJson(url, webhookBody(group.replace(INFO, ''), alerts), authorization, options);
    options.onOutcome?.('webhook', outcome.kind);
    memory.set(group, afterPost(decision, outcome, now));
    return outcome;
  }

  /** It is missed where it is evaluated that it is: what it answers is counted, and changes nothing. */
  async function beat(signOfLife: Alert | undefined): Promise<void> {
    if (heartbeatUrl === undefined || signOfLife?.status !== 'firing') return;
    const outcome = await postJson(heartbeatUrl, webhookBody('', [signOfLife]), undefined, options);
    options.onOutcome?.('webhook', outcome.kind);
  }

  return {
    name: 'webhook',
    async send(alerts, now) {
      const signOfLife = alerts.find(isSignOfLife);
      const pages = alerts.filter((alert) => !isSignOfLife(alert));
      const groups = Map.groupBy(pages, groupOf);
      const waiting = [...new Set([...groups.keys(), ...memory.groups()])];
      const problems: string[] = [];
      let cause: unknown;
      const work = async (): Promise<void> => {
        for (let group = waiting.shift(); group !== undefined; group = waiting.shift()) {
          const outcome = await notify(group, groups.get(group) ?? [], now);
          if (outcome === null || outcome.kind === 'accepted') continue;
          problems.push(`${problemOf(outcome)} (${group})`);
          if (outcome.kind === 'failed') cause ??= outcome.cause;
        }
      };
      await Promise.all([...Array.from({ length: CONCURRENCY }, work), beat(signOfLife)]);
      if (problems.length > 0) throw notTaken('webhook', url, problems.join(', '), cause);
      const unsaved = memory.problem();
      if (unsaved !== undefined)
        throw notTaken('webhook', url, 'it did, but the record of what it knows cannot be kept', unsaved);
    },
  };
}

const isSignOfLife = ({ labels }: Alert): boolean => HEARTBEATS.has(labels['alertname'] ?? '');

const groupOf = ({ labels }: Alert): string =>
  `${labels['gateway'] ?? ''}${labels['severity'] === 'info' ? INFO : ''}`;

/**
 * What the receiver knows, by gateway, stored with every change. Notifications are sent although the store
 * cannot be read or written.
 */
function createNotificationMemory(store: TargetOptions['notifications']) {
  let states: Map<string, NotificationState> | undefined;
  let problem: unknown;
  const load = (): Map<string, NotificationState> => {
    try {
      return store?.load() ?? new Map<string, NotificationState>();
    } catch (error) {
      problem = error;
      return new Map<string, NotificationState>();
    }
  };
  const known = (): Map<string, NotificationState> => (states ??= load());
  return {
    groups: (): string[] => [...known().keys()],
    get: (group: string): NotificationState | undefined => known().get(group),
    /** Null: forgets the group. */
    set(group: string, state: NotificationState | null): void {
      if (state === null) known().delete(group);
      else known().set(group, state);
      problem = undefined;
      try {
        store?.save(known());
      } catch (error) {
        problem = error;
      }
    },
    /** Why the last reading or writing failed. */
    problem: (): unknown => problem,
  };
}
