import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { createSandbox, type Sandbox } from '../../sandbox/server.ts';
import {
  type AlertmanagerProcess,
  HAS_ALERTMANAGER,
  startAlertmanager,
} from '../collector/alerts/support/alertmanager.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../collector/alerts/support/webhook-receiver.ts';
import { type CollectorProcess, startCollectorProcess } from '../support/collector-process.ts';
import { until } from '../support/until.ts';

const RULES = fileURLToPath(
  new URL('../../alerts/out/provisioning/alerting/gatewatch-rules.yaml', import.meta.url),
);
const GATEWAY = 'acme-eu';
const RULE = 'GatewatchTechTimeouts';

/**
 * Two of the generated rules as they are, but for the pace: evaluated every two seconds, with waits in seconds. What they
 * count, and over which windows, is untouched.
 */
function hurried(yaml: string): string {
  const file = parse(yaml) as { groups: { interval: string; rules: { title: string }[] }[] };
  const groups = file.groups.slice(0, 1).map((group) => ({
    ...group,
    interval: '2s',
    rules: group.rules
      .filter(({ title }) => [RULE, 'GatewatchTechnicalBurnFast'].includes(title))
      .map((rule) => ({ ...rule, for: '2s', keepFiringFor: '4s' })),
  }));
  return stringify({ ...file, groups });
}

describe.skipIf(!HAS_ALERTMANAGER)(
  'a page, from the gateway to whoever is paged',
  { timeout: 240_000 },
  () => {
    let sandbox: Sandbox;
    let collector: CollectorProcess;
    let alertmanager: AlertmanagerProcess;
    /** Told by the collector itself, and by Alertmanager. */
    let direct: WebhookReceiver;
    let relayed: WebhookReceiver;
    const rulesFolder = mkdtempSync(join(tmpdir(), 'gatewatch-hurried-'));

    beforeAll(async () => {
      writeFileSync(join(rulesFolder, 'rules.yaml'), hurried(readFileSync(RULES, 'utf8')));
      [direct, relayed] = await Promise.all([startWebhookReceiver(), startWebhookReceiver()]);
      alertmanager = await startAlertmanager(
        JSON.stringify({
          route: {
            receiver: 'all',
            group_by: ['gateway'],
            group_wait: '1s',
            group_interval: '1s',
            repeat_interval: '1h',
          },
          receivers: [
            { name: 'all', webhook_configs: [{ url: `${relayed.url}/relayed`, send_resolved: true }] },
          ],
        }),
      );
      const port = 20_000 + Math.floor(Math.random() * 20_000);
      sandbox = await createSandbox({
        seed: 'page',
        speed: 120,
        watchUrl: `http://127.0.0.1:${port}/orders`,
      });
      collector = await startCollectorProcess({
        config: {
          gateways: [
            {
              name: GATEWAY,
              secureUrl: sandbox.secureUrl,
              token: sandbox.token,
              poll: {
                delaysS: [0.3, 1],
                maxDelayS: 2,
                rereadsS: [3],
                requestsPerSecond: 500,
                concurrency: 32,
              },
            },
          ],
          http: { port },
          alerts: {
            evaluate: true,
            rulesFolder,
            alertmanager: { url: alertmanager.url },
            webhook: { url: `${direct.url}/direct`, token: 'webhook-token' },
            externalUrl: 'https://grafana.gatewatch.example',
          },
        },
      });
      // Half of what comes within a few seconds times out; then all is well, and there is more of it.
      sandbox.incidents.start({ name: 'tech_timeout', share: 0.6, forSeconds: 8 });
      sandbox.setRate(15);
      sandbox.start();
    }, 120_000);
    afterAll(async () => {
      if (process.env['GATEWATCH_TEST_LOG'] !== undefined) console.log(collector?.output());
      await collector?.[Symbol.asyncDispose]();
      await Promise.all([sandbox?.stop(), alertmanager?.stop(), direct?.stop(), relayed?.stop()]);
      rmSync(rulesFolder, { recursive: true, force: true });
    });

    const pages = (receiver: WebhookReceiver, status: string) =>
      receiver.told.flatMap(({ body }) =>
        body.alerts
          .filter((alert) => alert.labels['alertname'] === RULE && alert.status === status)
          .map((alert) => ({ alert, body })),
      );

    it('fires for the right labels, and says how bad it is', async () => {
      await until(
        'the webhook is told',
        () => pages(direct, 'firing').length,
        (count) => count > 0,
        150_000,
      );
      const [page] = pages(direct, 'firing');
      expect(page?.alert.labels).toMatchObject({
        alertname: RULE,
        gateway: GATEWAY,
        stage: 'GATEWAY_CREATE',
        severity: 'critical',
        side: 'provider',
        service: 'gatewatch',
      });
      expect(page?.alert.annotations['description']).toMatch(
        /^acme-eu GATEWAY_CREATE: (\d+) of (\d+) orders \([\d.]+%\) timed out .* Up to \d+ of \2 would still be usual\./,
      );
      expect(page?.alert.annotations['runbook_url']).toMatch(/GatewatchTechTimeouts\.md$/);
      expect(page?.alert.annotations['dashboard_url']).toMatch(/^https:\/\/grafana\.gatewatch\.example\/d\//);
      expect(page?.body.groupLabels).toEqual({ gateway: GATEWAY });
      expect(direct.told[0]).toMatchObject({ path: '/direct', authorization: 'Bearer webhook-token' });
    });

    it('names the orders: running the query of the page gives its number', async () => {
      const [page] = pages(direct, 'firing');
      const [, affected] = /: (\d+) of/.exec(page?.alert.annotations['description'] ?? '') ?? [];
      const orders = await collector.query<{ external_id: string; affected_at: string }>(
        page?.alert.annotations['orders_sql'] ?? '',
      );
      expect(orders.length).toBe(Number(affected));
      const truth = new Set(
        sandbox
          .orders()
          .flatMap(({ externalId, items }) =>
            items.some(({ action }) => action === '2.2.4.11') ? [externalId] : [],
          ),
      );
      expect(orders.filter(({ external_id }) => !truth.has(external_id))).toEqual([]);
    });

    it('comes to Alertmanager as one incident of the gateway, and from there on', async () => {
      await until(
        'Alertmanager has told',
        () => pages(relayed, 'firing').length,
        (count) => count > 0,
      );
      const groups = await alertmanager.groups();
      expect(groups.filter(({ labels }) => labels['gateway'] === GATEWAY)).toHaveLength(1);
      const [relay] = pages(relayed, 'firing');
      expect(relay?.body.groupLabels).toEqual({ gateway: GATEWAY });
      expect(relay?.alert.annotations['summary']).toBe('The gateway does not answer in time.');
    });

    it('is written down in alert_states', async () => {
      const rows = await collector.query<{ state: string; labels: string }>(
        `SELECT state, labels FROM alert_states WHERE rule = '${RULE}' AND firing_since IS NOT NULL`,
      );
      expect(rows.map(({ labels }) => JSON.parse(labels))).toEqual([
        { gateway: GATEWAY, stage: 'GATEWAY_CREATE' },
      ]);
    });

    it('is told as over when it is', async () => {
      sandbox.setRate(30);
      await until(
        'the webhook is told of the end',
        () => pages(direct, 'resolved').length,
        (count) => count > 0,
        120_000,
      );
      await until(
        'Alertmanager tells of the end',
        () => pages(relayed, 'resolved').length,
        (count) => count > 0,
      );
      const states = await collector.query<{ state: string; resolved_at: string | null }>(
        `SELECT state, resolved_at FROM alert_states WHERE rule = '${RULE}' AND firing_since IS NOT NULL`,
      );
      expect(states).toMatchObject([{ state: 'Normal' }]);
      expect(states[0]?.resolved_at).not.toBeNull();
    });
  },
);
