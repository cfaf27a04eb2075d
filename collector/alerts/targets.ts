import type { AlertsConfig } from '../../schemas/alerting/config.ts';
import { GatewatchError } from '../errors.ts';
import type { Alert } from './alert.ts';

/** Somebody who is told of alerts. */
export interface AlertTarget {
  readonly name: 'alertmanager' | 'webhook';
  /**
   * Takes all alerts that fire or have lately ended, after every evaluation; what is news is the target's own affair.
   * @throws GatewatchError `export_failed` when it does not accept them; the next call offers them again
   */
  send(alerts: readonly Alert[], now: number): Promise<void>;
}

export interface TargetOptions {
  /** One request, answer included, in milliseconds. @default 10000 */
  readonly timeoutMs?: number;
}

/** The targets that are configured. */
export function createTargets(config: AlertsConfig, options: TargetOptions = {}): AlertTarget[] {
  return [
    ...(config.alertmanager === undefined ? [] : [createAlertmanager(config.alertmanager, options)]),
    ...(config.webhook === undefined ? [] : [createWebhook(config.webhook, options)]),
  ];
}

/**
 * Alertmanager's API v2. Alerts are repeated after every evaluation, as it expects: it groups, waits and repeats by its own
 * configuration, and takes for ended what it hears no more of.
 */
export function createAlertmanager(
  { url, username, password, token }: NonNullable<AlertsConfig['alertmanager']>,
  options: TargetOptions = {},
): AlertTarget {
  // With each request: they may be renewed.
  const authorization = () =>
    token !== undefined
      ? `Bearer ${token.reveal()}`
      : username === undefined
        ? undefined
        : `Basic ${Buffer.from(`${username}:${password?.reveal() ?? ''}`).toString('base64')}`;
  return {
    name: 'alertmanager',
    async send(alerts) {
      if (alerts.length === 0) return;
      const body = alerts.map(({ labels, annotations, startsAt, endsAt, generatorUrl }) => ({
        labels: withoutEmpty(labels),
        annotations: withoutEmpty(annotations),
        startsAt,
        endsAt,
        ...(URL.canParse(generatorUrl) ? { generatorURL: generatorUrl } : {}),
      }));
      await post('alertmanager', `${url}/api/v2/alerts`, body, authorization(), options);
    },
  };
}

/** Alertmanager has no empty labels: one that is empty is one that is not there. */
const withoutEmpty = (labels: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(labels).filter(([, value]) => value !== ''));

/**
 * A plain address, told of one incident per gateway: when its alerts change, and again while they fire. The body has the shape
 * of Grafana's webhooks.
 */
export function createWebhook(
  { url, token, repeatMinutes }: NonNullable<AlertsConfig['webhook']>,
  options: TargetOptions = {},
): AlertTarget {
  /** By gateway, what was told last: status by fingerprint, and what fired, as it was offered last. */
  const told = new Map<string, { at: number; heard: Map<string, string>; open: Map<string, Alert> }>();
  // What was told before a restart is not known: ends are told once more rather than never.
  let restarted = true;
  return {
    name: 'webhook',
    async send(alerts, now) {
      const groups = Map.groupBy(alerts, ({ labels }) => labels['gateway'] ?? '');
      for (const gateway of new Set([...groups.keys(), ...told.keys()])) {
        const offered = groups.get(gateway) ?? [];
        const before = told.get(gateway);
        const members = before === undefined ? offered : [...offered, ...owed(before.open, offered, now)];
        if (members.length === 0) {
          told.delete(gateway);
          continue;
        }
        const firing = members.filter(({ status }) => status === 'firing');
        // What ended before anybody heard of it is no news.
        if (before === undefined && firing.length === 0 && !restarted) continue;
        const repeat = firing.length > 0 && now - (before?.at ?? 0) >= repeatMinutes * 60_000;
        const news = members.some(({ fingerprint, status }) => before?.heard.get(fingerprint) !== status);
        if (!news && !repeat) continue;
        await post(
          'webhook',
          url,
          webhookBody(gateway, members),
          token && `Bearer ${token.reveal()}`,
          options,
        );
        told.set(gateway, {
          at: now,
          heard: new Map(members.map(({ fingerprint, status }) => [fingerprint, status])),
          open: new Map(firing.map((alert) => [alert.fingerprint, alert])),
        });
      }
      restarted = false;
    },
  };
}

/**
 * Alerts that were told as firing and are no longer offered: the address was away until after their ends had been offered
 * for long enough. Their ends are still owed.
 */
function owed(open: Map<string, Alert>, offered: readonly Alert[], now: number): Alert[] {
  const present = new Set(offered.map(({ fingerprint }) => fingerprint));
  for (const alert of offered) if (open.has(alert.fingerprint)) open.set(alert.fingerprint, alert);
  return [...open.values()]
    .filter(({ fingerprint }) => !present.has(fingerprint))
    .map((alert) =>
      alert.status === 'resolved' ? alert : { ...alert, status: 'resolved', endsAt: new Date(now) },
    );
}

function webhookBody(gateway: string, alerts: readonly Alert[]): object {
  const firing = alerts.filter(({ status }) => status === 'firing');
  const status = firing.length > 0 ? 'firing' : 'resolved';
  const names = [
    ...new Set((firing.length > 0 ? firing : alerts).map(({ labels }) => labels['alertname'] ?? '')),
  ];
  return {
    receiver: 'gatewatch',
    status,
    version: '1',
    groupKey: `{}/{gateway="${gateway}"}`,
    groupLabels: { gateway },
    commonLabels: common(alerts.map(({ labels }) => labels)),
    commonAnnotations: common(alerts.map(({ annotations }) => annotations)),
    truncatedAlerts: 0,
    title: `[${status.toUpperCase()}${status === 'firing' ? `:${firing.length}` : ''}] ${gateway} ${names.join(', ')}`,
    state: status === 'firing' ? 'alerting' : 'ok',
    message: alerts.map(messageOf).join('\n\n'),
    alerts: alerts.map((alert) => ({
      status: alert.status,
      labels: alert.labels,
      annotations: alert.annotations,
      startsAt: alert.startsAt,
      // Grafana and Alertmanager write this for what has not ended.
      endsAt: alert.status === 'firing' ? '0001-01-01T00:00:00Z' : alert.endsAt,
      generatorURL: alert.generatorUrl,
      fingerprint: alert.fingerprint,
      values: alert.values,
    })),
  };
}

/** The page as text. */
export function messageOf({ status, labels, annotations, startsAt, endsAt }: Alert): string {
  if (status === 'resolved')
    return `over since ${endsAt.toISOString()}: ${annotations['summary'] ?? labels['alertname']}`;
  const line = (title: string, name: string): string[] =>
    annotations[name] === undefined ? [] : [`${title}${annotations[name]}`];
  return [
    `${labels['severity']}: ${annotations['summary'] ?? labels['alertname']}`,
    ...line('', 'description'),
    `Since: ${startsAt.toISOString()}`,
    ...line('Side: ', 'side'),
    ...line('First: ', 'steps'),
    ...line('Orders: ', 'orders_url'),
    ...line('Panel: ', 'dashboard_url'),
    ...line('Runbook: ', 'runbook_url'),
    ...line('Error: ', 'Error'),
  ].join('\n');
}

/** What all have in common. */
function common(all: readonly Readonly<Record<string, string>>[]): Record<string, string> {
  const [first = {}, ...others] = all;
  return Object.fromEntries(
    Object.entries(first).filter(([name, value]) => others.every((other) => other[name] === value)),
  );
}

async function post(
  target: AlertTarget['name'],
  url: string,
  body: unknown,
  authorization: string | undefined,
  { timeoutMs = 10_000 }: TargetOptions,
): Promise<void> {
  const failed = (problem: string, cause?: unknown): GatewatchError =>
    new GatewatchError(`the ${target} at ${new URL(url).origin} did not take the alerts: ${problem}`, {
      code: 'export_failed',
      retryable: true,
      cause,
    });
  let reply: Response;
  try {
    reply = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(authorization === undefined ? {} : { authorization }),
      },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(timeoutMs),
    });
    await reply.arrayBuffer();
  } catch (cause) {
    throw failed('no answer', cause);
  }
  if (!reply.ok) throw failed(`it answered ${reply.status}`);
}
