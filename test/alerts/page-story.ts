import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';
import { SETTLE_MS } from '../../alerts/evaluate/due.ts';
import { fillAddresses } from '../../alerts/notify/alertmanager-config.ts';
import { ADDRESSES } from './support/alertmanager-addresses.ts';
import { startAlertmanager } from './support/alertmanager.ts';
import { ruleNamed } from './support/evaluations.ts';
import { startVirtualMinutes, wholeMinute } from './support/virtual-minutes.ts';
import { startWebhookReceiver, type Notification, type WebhookReceiver } from './support/webhook-receiver.ts';
import { type Email, startSmtpReceiver } from './support/smtp-receiver.ts';
import { type SeededStore, startSeededStore } from '../support/seed-store.ts';
import { until } from '../support/until.ts';
import { MINUTE, PAID, TIMED_OUT, traffic } from './traffic.ts';

const OUT = fileURLToPath(new URL('../../alerts/out', import.meta.url));
export const GATEWAY = 'acme-eu';
export const RULE = 'GatewatchTechTimeouts';
/** Another rule that the same incident concerns, for the grouping. */
const COMPANION = 'GatewatchTechnicalBurnFast';
export const GRAFANA_URL = 'https://grafana.gatewatch.example';
export const RUNBOOK_URL = 'https://git.gatewatch.example/runbooks';

/** How the two pages came about, and what became of them. */
export interface PageStory {
  /** Notification by the collector itself, and by Alertmanager. */
  readonly direct: readonly Notification[];
  readonly relayed: readonly Notification[];
  /** What Alertmanager mailed to the person on call. */
  readonly mails: readonly Email[];
  /** Alertmanager's groups while both rules fired. */
  readonly groups: readonly { labels: Record<string, string>; receiver: string; alerts: string[] }[];
  /** What the collector had notified of while the rule was pending. */
  readonly whilePending: readonly Notification[];
  /** `alert_states` of the rule, while it fired and when it was over. */
  readonly whileFiring: readonly StateRow[];
  readonly afterwards: readonly StateRow[];
  /** What the page's own query gave. */
  readonly orders: readonly { external_id: string }[];
  /** Ids of the orders that timed out. */
  readonly timedOut: ReadonlySet<string>;
}

export interface StateRow {
  readonly state: string;
  readonly labels: string;
  readonly resolved_at: string | null;
}

/** Alerts of the rule with this status that were sent, with the notification they came in. */
export const pagesIn = (received: readonly Notification[], status: 'firing' | 'resolved', rule = RULE) =>
  received.flatMap(({ body, path }) =>
    body.alerts
      .filter((alert) => alert.labels['alertname'] === rule && alert.status === status)
      .map((alert) => ({ alert, body, path })),
  );

/** Two of the rules as they are, but for the wait for a relapse: it is shorter than the rules' own. */
const HASTY = ([RULE, COMPANION] as const).map((name) => ruleNamed(name, { keepFiringSeconds: 60 }));

/**
 * An incident from its first order to the last notification: the store holds what a collector would have
 * read, alerting runs over its minutes up to now, and Alertmanager passes on by the generated policies. It
 * takes some seconds.
 */
export async function livePage(): Promise<PageStory> {
  await using cleanup = new AsyncDisposableStack();
  const receiver = async (): Promise<WebhookReceiver> => {
    const started = await startWebhookReceiver();
    cleanup.defer(() => started.stop());
    return started;
  };
  const [direct, relayed] = [await receiver(), await receiver()];
  const mailbox = await startSmtpReceiver();
  cleanup.defer(() => mailbox.stop());
  const alertmanager = await startAlertmanager(hurriedPolicies(relayed.url, mailbox.address));
  cleanup.defer(() => alertmanager.stop());
  const store = await startSeededStore();
  cleanup.defer(() => store.stop());
  // Alertmanager believes ends of the past only, and takes what fired four minutes ago for over.
  const overAt = wholeMinute(Date.now() - SETTLE_MS);
  const firesAt = overAt - 2 * MINUTE;
  const timedOut = await seedIncident(store, firesAt);
  await using minutes = await startVirtualMinutes({
    store,
    rules: HASTY,
    alerts: {
      evaluate: true,
      alertmanager: { url: alertmanager.url },
      webhook: { url: `${direct.url}/direct`, token: 'webhook-token' },
      externalUrl: GRAFANA_URL,
      runbookUrl: RUNBOOK_URL,
    },
    fromMs: overAt - 10 * MINUTE,
  });
  const rows = async <T>(sql: string): Promise<T[]> => (await store.query(sql)).data as T[];
  const states = () =>
    rows<StateRow>(
      `SELECT state, labels, resolved_at FROM gatewatch.alert_states WHERE rule = '${RULE}' AND firing_since IS NOT NULL`,
    );
  const notified = (by: WebhookReceiver, status: 'firing' | 'resolved', rules: readonly string[]) =>
    until(
      `${by === direct ? 'the webhook' : 'Alertmanager'} gets that ${rules.join(' and ')} are ${status}`,
      () => rules.filter((rule) => pagesIn(by.received, status, rule).length > 0),
      (found) => found.length === rules.length,
    );

  await minutes.until(firesAt - MINUTE);
  const whilePending = [...direct.received];
  await minutes.until(firesAt);
  for (const by of [direct, relayed]) await notified(by, 'firing', [RULE, COMPANION]);
  await until(
    'the person on call is mailed of both',
    () => mailbox.mails.filter(({ html }) => html.includes(RULE) && html.includes(COMPANION)).length,
    (count) => count > 0,
  );
  const groups = await alertmanager.groups();
  const whileFiring = await states();
  const [page] = pagesIn(direct.received, 'firing');
  const orders = await rows<{ external_id: string }>(page?.alert.annotations['orders_sql'] ?? '');

  await minutes.until(overAt);
  for (const by of [direct, relayed]) await notified(by, 'resolved', [RULE]);
  return {
    direct: direct.received,
    relayed: relayed.received,
    mails: mailbox.mails,
    groups,
    whilePending,
    whileFiring,
    afterwards: await states(),
    orders,
    timedOut,
  };
}

/**
 * Most of few orders time out, as of two evaluations before `firesAt`. When somebody has been paged all is
 * well, and there is much more of it. Ids of the orders that timed out.
 */
async function seedIncident(store: SeededStore, firesAt: number): Promise<Set<string>> {
  // Windows end half a minute before an evaluation.
  const end = firesAt - 30_000;
  const of = { gateway: GATEWAY };
  const before = traffic({
    ...of,
    orders: 20,
    from: end - 9 * MINUTE,
    to: end - 2 * MINUTE,
    codes: () => PAID,
  });
  const hit = traffic({
    ...of,
    orders: 80,
    from: end - 2 * MINUTE,
    to: end - 5_000,
    codes: (n) => (n % 4 === 0 ? PAID : TIMED_OUT),
  });
  const after = traffic({ ...of, orders: 240, from: end, to: end + 3 * MINUTE, codes: () => PAID });
  const reports = Array.from({ length: 15 }, (_, n) => firesAt + (3 - n) * MINUTE - 5_000);
  await store.seed({
    orders: [...before, ...hit, ...after],
    gatewayStatus: reports.map((at) => ({ ...of, reportedAt: at, watermarkAt: at })),
  });
  return new Set(
    hit.filter(({ items }) => items.length === TIMED_OUT.length).map(({ externalId }) => externalId),
  );
}

interface RouteConfig {
  readonly group_wait?: string;
  readonly group_interval?: string;
  readonly routes?: readonly RouteConfig[];
}

/**
 * The generated policy tree as it is, but for the pace; every receiver is an address of ours that ends in its
 * name, and mails.
 */
function hurriedPolicies(url: string, smarthost: string): string {
  const filled = fillAddresses(readFileSync(`${OUT}/alertmanager/alertmanager.yml`, 'utf8'), ADDRESSES);
  if (!('text' in filled)) throw new Error(filled.problems.join(', '));
  const config = parse(filled.text) as {
    route: RouteConfig;
    global: object;
    receivers: { name: string; email_configs?: object[] }[];
  };
  const hurried = (route: RouteConfig): RouteConfig => ({
    ...route,
    group_wait: '1s',
    group_interval: '1s',
    ...(route.routes === undefined ? {} : { routes: route.routes.map(hurried) }),
  });
  return stringify({
    ...config,
    global: { ...config.global, smtp_smarthost: smarthost },
    templates: [`${OUT}/alertmanager/*.tmpl`],
    route: hurried(config.route),
    receivers: config.receivers.map(({ name, email_configs: mails = [] }) => ({
      name,
      email_configs: mails,
      webhook_configs: [{ url: `${url}/${name}`, send_resolved: true }],
    })),
  });
}
