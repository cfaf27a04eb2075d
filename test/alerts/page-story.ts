import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';
import { fillAddresses } from '../../alerts/notify/alertmanager-config.ts';
import { systemClock } from '../../sandbox/clock.ts';
import { createSandbox } from '../../sandbox/server.ts';
import { ADDRESSES } from './support/alertmanager-addresses.ts';
import { freePort, startAlertmanager } from './support/alertmanager.ts';
import { startWebhookReceiver, type Notification, type WebhookReceiver } from './support/webhook-receiver.ts';
import { type Email, startSmtpReceiver } from './support/smtp-receiver.ts';
import { startCollectorProcess } from '../support/collector-process.ts';
import { until } from '../support/until.ts';

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
  /** `alert_states` of the rule, while it fired and when it was over. */
  readonly whileFiring: readonly StateRow[];
  readonly afterwards: readonly StateRow[];
  /** What the page's own query gave. */
  readonly orders: readonly { external_id: string }[];
  /** Ids of the orders that the sandbox let time out. */
  readonly timedOut: ReadonlySet<string>;
}

export interface StateRow {
  readonly state: string;
  readonly labels: string;
  readonly resolved_at: string | null;
}

/** Alerts of the rule with this status that were told, with the notification they came in. */
export const pagesIn = (received: readonly Notification[], status: 'firing' | 'resolved', rule = RULE) =>
  received.flatMap(({ body, path }) =>
    body.alerts
      .filter((alert) => alert.labels['alertname'] === rule && alert.status === status)
      .map((alert) => ({ alert, body, path })),
  );

/**
 * An incident from the first order to the last notification: the sandbox lets orders time out, the collector
 * evaluates the generated rules on its own store, and Alertmanager passes on by the generated policies. It
 * takes about half a minute.
 */
export async function livePage(): Promise<PageStory> {
  await using cleanup = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), 'gatewatch-page-'));
  cleanup.defer(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(
    join(folder, 'rules.yaml'),
    hurriedRules(readFileSync(`${OUT}/provisioning/alerting/gatewatch-rules.yaml`, 'utf8')),
  );
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
  const port = await freePort();
  const sandbox = await createSandbox({
    seed: 'page',
    speed: 120,
    // Windows end half a minute ago. What this gateway tells of happened just before that, so that nobody has
    // to wait.
    clock: { ...systemClock, now: () => Date.now() - 25_000 },
    gatewayName: GATEWAY,
    watchUrl: `http://127.0.0.1:${port}/orders`,
  });
  cleanup.defer(() => sandbox.stop());
  const collector = await startCollectorProcess({
    config: {
      gateways: [
        {
          name: GATEWAY,
          secureUrl: sandbox.secureUrl,
          token: sandbox.token,
          poll: { delaysS: [0.3, 1], maxDelayS: 2, rereadsS: [3], requestsPerSecond: 500, concurrency: 32 },
        },
      ],
      http: { port },
      alerts: {
        evaluate: true,
        rulesFolder: folder,
        alertmanager: { url: alertmanager.url },
        webhook: { url: `${direct.url}/direct`, token: 'webhook-token' },
        externalUrl: GRAFANA_URL,
        runbookUrl: RUNBOOK_URL,
      },
    },
  });
  cleanup.defer(() => collector[Symbol.asyncDispose]());
  if (process.env['GATEWATCH_TEST_LOG'] !== undefined) cleanup.defer(() => console.log(collector.output()));
  const states = () =>
    collector.query<StateRow>(
      `SELECT state, labels, resolved_at FROM alert_states WHERE rule = '${RULE}' AND firing_since IS NOT NULL`,
    );
  const notified = (by: WebhookReceiver, status: 'firing' | 'resolved', rules: readonly string[]) =>
    until(
      `${by === direct ? 'the webhook' : 'Alertmanager'} is told that ${rules.join(' and ')} are ${status}`,
      () => rules.filter((rule) => pagesIn(by.received, status, rule).length > 0),
      (found) => found.length === rules.length,
    );

  // Most of what comes within a few seconds times out; then little comes until somebody has been paged.
  sandbox.start();
  sandbox.incidents.start({ name: 'tech_timeout', share: 0.7 });
  sandbox.setRate(20);
  const hit = (): Set<string> =>
    new Set(
      sandbox
        .orders()
        .filter(({ items }) => items.some(({ action }) => action === '2.2.4.11'))
        .map(({ externalId }) => externalId),
    );
  await until(
    'orders time out',
    () => hit().size,
    (count) => count >= 16,
  );
  for (const { id } of sandbox.incidents.list()) sandbox.incidents.end(id);
  sandbox.setRate(1);
  for (const by of [direct, relayed]) await notified(by, 'firing', [RULE, COMPANION]);
  await until(
    'the person on call is mailed of both',
    () => mailbox.mails.filter(({ html }) => html.includes(RULE) && html.includes(COMPANION)).length,
    (count) => count > 0,
  );
  const groups = await alertmanager.groups();
  const whileFiring = await states();
  const [page] = pagesIn(direct.received, 'firing');
  const orders = await collector.query<{ external_id: string }>(page?.alert.annotations['orders_sql'] ?? '');

  // All is well, and there is much more of it: within the window those orders are too few to matter.
  sandbox.setRate(60);
  for (const by of [direct, relayed]) await notified(by, 'resolved', [RULE]);
  return {
    direct: direct.received,
    relayed: relayed.received,
    mails: mailbox.mails,
    groups,
    whileFiring,
    afterwards: await states(),
    orders,
    timedOut: hit(),
  };
}

/**
 * Two of the generated rules as they are, but for the pace: evaluated every two seconds, with waits in
 * seconds. What they count, and over which windows, is untouched.
 */
function hurriedRules(yaml: string): string {
  const file = parse(yaml) as { groups: { interval: string; rules: { title: string }[] }[] };
  const groups = file.groups.slice(0, 1).map((group) => ({
    ...group,
    interval: '2s',
    rules: group.rules
      .filter(({ title }) => [RULE, COMPANION].includes(title))
      .map((rule) => ({ ...rule, for: '2s', keepFiringFor: '4s' })),
  }));
  return stringify({ ...file, groups });
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
