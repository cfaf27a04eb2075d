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
/** Gateways whose notifications are sent at once. */
const CONCURRENCY = 4;

/**
 * A plain address, notified of one incident per gateway: when its alerts change, and again while they fire.
 * The body has the shape of Grafana's webhooks. Each gateway has its own requests, so that a refusal of one
 * delays no other. Changes that were not accepted are offered again, after growing waits, or at once when
 * there are others.
 */
export function createWebhook(
  config: NonNullable<AlertsConfig['webhook']>,
  options: TargetOptions = {},
): AlertTarget {
  const { url, token, repeatMinutes, heartbeatUrl } = config;
  const memory = createNotificationMemory(options.notifications);

  /** Sends what has changed for one gateway; null when nothing has, or when it is not time yet. */
  async function notify(
    gateway: string,
    offered: readonly Alert[],
    now: number,
  ): Promise<PostOutcome | null> {
    const decision = decide(memory.get(gateway), offered, now, repeatMinutes * 60_000);
    if (decision.kind === 'forget') memory.set(gateway, null);
    if (decision.kind !== 'notify') return null;
    const { alerts, before, afterSendAttempt } = decision;
    if (afterSendAttempt.firingForReceiver.length > before.firingForReceiver.length)
      memory.set(gateway, afterSendAttempt);
    // With each request: it may be renewed.
    const authorization = token && `Bearer ${token.reveal()}`;
    const outcome = await postJson(url, webhookBody(gateway, alerts), authorization, options);
    options.onOutcome?.('webhook', outcome.kind);
    memory.set(gateway, afterPost(decision, outcome, now));
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
      const isSignOfLife = ({ labels }: Alert): boolean => HEARTBEATS.has(labels['alertname'] ?? '');
      const signOfLife = alerts.find(isSignOfLife);
      const pages = alerts.filter((alert) => !isSignOfLife(alert));
      const groups = Map.groupBy(pages, ({ labels }) => labels['gateway'] ?? '');
      const waiting = [...new Set([...groups.keys(), ...memory.gateways()])];
      const problems: string[] = [];
      let cause: unknown;
      const work = async (): Promise<void> => {
        for (let gateway = waiting.shift(); gateway !== undefined; gateway = waiting.shift()) {
          const outcome = await notify(gateway, groups.get(gateway) ?? [], now);
          if (outcome === null || outcome.kind === 'accepted') continue;
          problems.push(`${problemOf(outcome)} (${gateway})`);
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
    gateways: (): string[] => [...known().keys()],
    get: (gateway: string): NotificationState | undefined => known().get(gateway),
    /** Null: forgets the gateway. */
    set(gateway: string, state: NotificationState | null): void {
      if (state === null) known().delete(gateway);
      else known().set(gateway, state);
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
