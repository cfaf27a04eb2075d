import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { fillAddresses } from '../../../alerts/notify/alertmanager-config.ts';
import { RULES } from '../../../alerts/rules/all.ts';
import { RULE_GROUPS } from '../../../alerts/rules/rule.ts';
import { HAS_ALERTMANAGER, startAlertmanager } from '../support/alertmanager.ts';
import { ADDRESSES } from '../support/alertmanager-addresses.ts';
import { startWebhookReceiver } from '../support/webhook-receiver.ts';
import { until } from '../../support/until.ts';
import { POLICY, RECEIVERS, type Route } from '../../../alerts/grafana/notifications.ts';
import { messageTemplate } from '../../../alerts/grafana/notification-texts.ts';
import { OUTSIDE_OFFICE_HOURS } from '../../../alerts/notify/mute-timings.ts';

const OUT = fileURLToPath(new URL('../../../alerts/out', import.meta.url));
const SHIPPED = readFileSync(`${OUT}/alertmanager/alertmanager.yml`, 'utf8');
const HAS_AMTOOL = existsSync('/usr/bin/amtool');
const amtool = (...args: string[]): string =>
  execFileSync('/usr/bin/amtool', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });

/** Who is notified of what. */
const WHO: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
  [
    'gatewatch-oncall',
    { severity: 'critical', side: 'provider', alertname: 'GatewatchTechTimeouts', gateway: 'acme-eu' },
  ],
  ['gatewatch-oncall', { severity: 'critical', side: 'collector', alertname: 'GatewatchCollectorSilent' }],
  ['gatewatch-oncall', { severity: 'critical', side: 'collector', alertname: 'GatewatchEvaluationsLate' }],
  ['gatewatch-heartbeat', { severity: 'info', side: 'collector', alertname: 'GatewatchHeartbeat' }],
  ['gatewatch-tickets', { severity: 'warning', side: 'provider', alertname: 'GatewatchContractBroken' }],
  ['gatewatch-payments', { severity: 'warning', side: 'issuer', alertname: 'GatewatchIssuerDeclines' }],
  [
    'gatewatch-oncall',
    { severity: 'critical', side: 'stranger', risk: 'security', alertname: 'GatewatchForgedCallbacks' },
  ],
  [
    'gatewatch-payments',
    { severity: 'warning', side: 'payer', risk: 'money', alertname: 'GatewatchAmountChanged' },
  ],
  ['gatewatch-platform', { severity: 'warning', side: 'collector', alertname: 'GatewatchConsumerLag' }],
  ['gatewatch-digest', { severity: 'info', side: 'gateway', alertname: 'GatewatchUnknownCodes' }],
  ['gatewatch-platform', { severity: 'warning', alertname: 'DatasourceError', rulename: 'GatewatchRejects' }],
  [
    'gatewatch-oncall',
    { severity: 'critical', alertname: 'DatasourceError', rulename: 'GatewatchCollectorSilent' },
  ],
  ['gatewatch-tickets', { alertname: 'SomebodyElse' }],
];

/** The shipped configuration with addresses, as `alertmanager-config.ts` writes it. */
const folder = mkdtempSync(join(tmpdir(), 'gatewatch-alertmanager-config-'));
const CONFIG = join(folder, 'alertmanager.yml');
const filled = fillAddresses(SHIPPED, ADDRESSES);
if (!('text' in filled)) throw new Error(filled.problems.join(', '));
beforeAll(() => {
  cpSync(`${OUT}/alertmanager`, folder, { recursive: true });
  writeFileSync(CONFIG, filled.text);
});
afterAll(() => rmSync(folder, { recursive: true }));

describe.skipIf(!HAS_AMTOOL)("Alertmanager's own tool", () => {
  it('refuses the shipped file, which has no addresses', () => {
    expect(() => amtool('check-config', `${OUT}/alertmanager/alertmanager.yml`)).toThrow('check-config');
  });

  it('accepts the policy tree', () => {
    expect(amtool('check-config', CONFIG)).toMatch(/SUCCESS[\s\S]*6 receivers[\s\S]*2 templates/);
  });

  it.each(WHO)('sends to %s what has the labels %j', (receiver, labels) => {
    const pairs = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
    expect(amtool('config', 'routes', 'test', `--config.file=${CONFIG}`, ...pairs).trim()).toBe(receiver);
  });

  it.each(RULES.map(({ name, severity, side, risk = '' }) => [name, severity, side, risk] as const))(
    '%s has somewhere to go that is not the last resort by accident',
    (alertname, severity, side, risk) => {
      const receiver = amtool(
        'config',
        'routes',
        'test',
        `--config.file=${CONFIG}`,
        `alertname=${alertname}`,
        `severity=${severity}`,
        `side=${side}`,
        ...(risk === '' ? [] : [`risk=${risk}`]),
        'gateway=acme-eu',
        'service=gatewatch',
      ).trim();
      expect(receiver === 'gatewatch-oncall' || receiver === 'gatewatch-platform').toBe(
        severity === 'critical' || (severity === 'warning' && side === 'collector'),
      );
      expect(receiver === 'gatewatch-heartbeat').toBe(alertname === 'GatewatchHeartbeat');
      expect(receiver === 'gatewatch-digest').toBe(severity === 'info' && alertname !== 'GatewatchHeartbeat');
    },
  );

  const SUMMARY = 'The gateway does not answer in time.';
  const annotations = {
    summary: SUMMARY,
    description: 'acme-eu CHECK: 12 of 40 orders (30%) timed out.',
    side: 'the provider behind the gateway',
    steps: '1. Do not cascade.',
    orders_url: 'https://grafana.gatewatch.test/d/gatewatch-incident',
    runbook_url: 'https://gatewatch.test/runbooks/GatewatchTechTimeouts.md',
  };
  const alert = (status: 'firing' | 'resolved', summary = SUMMARY) => ({
    labels: { severity: 'critical' },
    annotations: { ...annotations, summary },
    startsAt: '2026-11-21T10:15:00Z',
    endsAt: '2026-11-21T10:30:00Z',
    status,
  });
  function render(name: string, alerts: readonly ReturnType<typeof alert>[]): string {
    const summaries = new Set(alerts.map((one) => one.annotations.summary));
    const data = join(folder, 'data.json');
    writeFileSync(
      data,
      JSON.stringify({
        status: alerts.some(({ status }) => status === 'firing') ? 'firing' : 'resolved',
        alerts,
        commonLabels: { gateway: 'acme-eu' },
        commonAnnotations: summaries.size === 1 ? { summary: [...summaries][0] } : {},
      }),
    );
    return amtool(
      'template',
      'render',
      `--template.glob=${OUT}/alertmanager/gatewatch.tmpl`,
      `--template.text={{ template "${name}" . }}`,
      `--template.data=${data}`,
    );
  }

  it('renders the texts: what, since when, how bad, whose side, what to do first, and where to look', () => {
    expect(render('gatewatch.message', [alert('firing'), alert('resolved')]))
      .toBe(`critical: The gateway does not answer in time.
acme-eu CHECK: 12 of 40 orders (30%) timed out.
Since: 2026-11-21 10:15:00 UTC
Side: the provider behind the gateway
First: 1. Do not cascade.
Orders: https://grafana.gatewatch.test/d/gatewatch-incident
Runbook: https://gatewatch.test/runbooks/GatewatchTechTimeouts.md

over since 10:30:00 UTC: The gateway does not answer in time.
`);
  });

  const OTHER = 'Fewer payments than usual are approved.';
  it.each([
    ['FIRING 1: acme-eu The gateway does not answer in time.', [alert('firing'), alert('resolved')]],
    ['FIRING 1: acme-eu The gateway does not answer in time.', [alert('resolved', OTHER), alert('firing')]],
    ['FIRING 2: acme-eu The gateway does not answer in time.', [alert('firing'), alert('firing')]],
    [
      'FIRING 2: acme-eu The gateway does not answer in time. And others.',
      [alert('firing'), alert('firing', OTHER), alert('resolved', 'Something else.')],
    ],
    ['over: acme-eu The gateway does not answer in time.', [alert('resolved')]],
    [
      'over: acme-eu The gateway does not answer in time. And others.',
      [alert('resolved'), alert('resolved', OTHER)],
    ],
  ])('titles what fires, and never what has ended: %s', (title, alerts) => {
    expect(render('gatewatch.title', alerts)).toBe(title);
  });
});

/** Alertmanager's durations, in seconds. */
const seconds = (text: string): number =>
  Number.parseInt(text, 10) * (text.endsWith('h') ? 3600 : text.endsWith('m') ? 60 : 1);

describe('the first page', () => {
  const critical = (POLICY.routes ?? []).find(({ matchers }) =>
    matchers.some(([label, , value]) => label === 'severity' && value === 'critical'),
  );

  it('waits for what one evaluation finds, and what the next one finds follows with its interval', () => {
    // Grafana's evaluation timeout: no rule of a tick is later.
    expect(seconds(critical?.groupWait ?? '0s')).toBeGreaterThanOrEqual(30);
    expect(seconds(critical?.groupInterval ?? '5m')).toBeLessThanOrEqual(RULE_GROUPS.fast.intervalSeconds);
  });

  it.skipIf(!HAS_ALERTMANAGER)('holds the cause that was found 28 seconds after a symptom', async () => {
    // A tenth of the time, on a real Alertmanager.
    const receiver = await startWebhookReceiver();
    const config = parse(
      filled.text.replaceAll(
        /(group_wait|group_interval): (\d+[smh])/g,
        (_, key, text) => `${key}: ${seconds(text as string) * 100}ms`,
      ),
    ) as { receivers: { name: string }[] };
    const alertmanager = await startAlertmanager(
      stringify({
        ...config,
        templates: [],
        receivers: config.receivers.map(({ name }) => ({ name, webhook_configs: [{ url: receiver.url }] })),
      }),
    );
    const post = (alertname: string) =>
      fetch(`${alertmanager.url}/api/v2/alerts`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify([
          { labels: { alertname, gateway: 'acme-eu', severity: 'critical', side: 'provider' } },
        ]),
      });
    await post('GatewatchTechnicalBurnFast');
    await new Promise((passed) => setTimeout(passed, 2_300));
    await post('GatewatchTechTimeouts');
    const [first] = await until(
      'somebody is paged',
      () => receiver.received,
      (notifications) => notifications.length > 0,
    );
    expect(first?.body.alerts.map(({ labels }) => labels['alertname']).toSorted()).toEqual([
      'GatewatchTechTimeouts',
      'GatewatchTechnicalBurnFast',
    ]);
    await alertmanager.stop();
    await receiver.stop();
  });
});

describe('the heartbeat', () => {
  const route = (POLICY.routes ?? [])[0];

  it('comes at once and every five minutes, at any hour, and has no end', () => {
    expect(route).toMatchObject({
      receiver: 'gatewatch-heartbeat',
      matchers: [['alertname', '=', 'GatewatchHeartbeat']],
      groupWait: '0s',
    });
    expect(seconds(route?.repeatInterval ?? '1h')).toBe(300);
    expect(route?.mutedIn).toBeUndefined();
    expect(RECEIVERS.find(({ name }) => name === route?.receiver)?.resolved).toBe(false);
  });

  it('goes to nobody without an address, and never where other alerts go', () => {
    const { text } = fillAddresses(SHIPPED, ADDRESSES) as { text: string };
    const { receivers } = parse(text) as { receivers: object[] };
    expect(receivers.at(-1)).toEqual({ name: 'gatewatch-heartbeat' });
    const url = 'https://watch.shop.de/1';
    const filledIn = fillAddresses(SHIPPED, { ...ADDRESSES, GATEWATCH_HEARTBEAT_URL: url });
    const config = parse((filledIn as { text: string }).text) as { receivers: object[] };
    expect(config.receivers.at(-1)).toEqual({
      name: 'gatewatch-heartbeat',
      webhook_configs: [{ url, send_resolved: false }],
    });
  });
});

describe('rules about security or money', () => {
  it('are never muted', () => {
    const muted = (labels: Readonly<Record<string, string>>): boolean =>
      routeOf(POLICY, labels).mutedIn !== undefined;
    const atRisk = RULES.filter(({ risk }) => risk !== undefined);
    expect(atRisk.map(({ name }) => name)).toContain('GatewatchForgedCallbacks');
    expect(
      atRisk.filter(({ name, severity, side, risk = '' }) =>
        muted({ alertname: name, severity, side, risk }),
      ),
    ).toEqual([]);
  });

  it('page where a stranger sends callbacks: nobody of the gateway, the shop or a provider would', () => {
    expect(RULES.find(({ name }) => name === 'GatewatchForgedCallbacks')).toMatchObject({
      severity: 'critical',
      side: 'stranger',
      risk: 'security',
    });
  });
});

/** The route that an alert with these labels takes. */
function routeOf(route: Route, labels: Readonly<Record<string, string>>): Route {
  const holds = ({ matchers }: Route): boolean =>
    matchers.every(([label, operator, value]) => {
      const own = labels[label] ?? '';
      const equal = operator.endsWith('~') ? new RegExp(`^(?:${value})$`).test(own) : own === value;
      return operator.startsWith('!') ? !equal : equal;
    });
  const child = (route.routes ?? []).find(holds);
  return child === undefined ? route : routeOf(child, labels);
}

describe('the files for Grafana', () => {
  const folder = `${OUT}/provisioning/notifications`;
  const file = (name: string): Record<string, unknown> =>
    parse(readFileSync(`${folder}/gatewatch-${name}.yaml`, 'utf8')) as Record<string, unknown>;

  it('are these four', () => {
    expect(readdirSync(folder).toSorted()).toEqual(
      ['contact-points', 'mute-timings', 'policies', 'templates'].map((name) => `gatewatch-${name}.yaml`),
    );
  });

  it('hold no secret: what is secret has a name in the environment', () => {
    const points = file('contact-points')['contactPoints'] as {
      receivers: { uid: string; settings: Record<string, unknown> }[];
    }[];
    const secrets = points
      .flatMap(({ receivers }) => receivers)
      .flatMap(({ settings }) =>
        ['integrationKey', 'url', 'addresses'].flatMap((key) => settings[key] ?? []),
      );
    expect(secrets.length).toBeGreaterThan(5);
    for (const secret of secrets) expect(secret).toMatch(/^\$GATEWATCH_[A-Z_]+$/);
    expect(JSON.stringify(points)).not.toMatch(/"recipient"|#\w/);
    const uids = points.flatMap(({ receivers }) => receivers.map(({ uid }) => uid));
    expect(new Set(uids).size).toBe(uids.length);
    for (const uid of uids) expect(uid.length).toBeLessThanOrEqual(40);
  });

  it('have the same tree as the one that amtool has checked', () => {
    const [policy] = file('policies')['policies'] as [Record<string, unknown>];
    const tree = (route: Record<string, unknown>): unknown => ({
      receiver: route['receiver'],
      matchers: ((route['object_matchers'] ?? []) as string[][]).map(
        (matcher) => `${matcher[0]}${matcher[1]}${JSON.stringify(matcher[2])}`,
      ),
      group_by: route['group_by'],
      muted: route['mute_time_intervals'],
      routes: ((route['routes'] ?? []) as Record<string, unknown>[]).map(tree),
    });
    const alertmanagers = (route: Record<string, unknown>): unknown => ({
      receiver: route['receiver'],
      matchers: route['matchers'] ?? [],
      group_by: route['group_by'],
      muted: route['mute_time_intervals'],
      routes: ((route['routes'] ?? []) as Record<string, unknown>[]).map(alertmanagers),
    });
    const config = parse(readFileSync(CONFIG, 'utf8')) as { route: Record<string, unknown> };
    expect(tree(policy)).toEqual(alertmanagers(config.route));
    expect(policy['orgId']).toBe(1);
  });

  it('name only receivers and mute timings that exist', () => {
    const routes = (route: Route): Route[] => [route, ...(route.routes ?? []).flatMap(routes)];
    const all = routes(POLICY);
    const receivers = RECEIVERS.map(({ name }) => name);
    for (const route of all) expect(receivers).toContain(route.receiver);
    expect(receivers.filter((name) => !all.some(({ receiver }) => receiver === name))).toEqual([]);
    const muted = all.flatMap(({ mutedIn = [] }) => mutedIn);
    expect(new Set(muted)).toEqual(new Set([OUTSIDE_OFFICE_HOURS]));
  });

  it('have texts without a dollar sign, which provisioning would take for the environment', () => {
    for (const timeZone of ['UTC', 'Europe/Berlin']) expect(messageTemplate(timeZone)).not.toContain('$');
  });

  it('never mute what is critical', () => {
    const critical = (POLICY.routes ?? []).filter(({ matchers }) =>
      matchers.some(([label, , value]) => label === 'severity' && value === 'critical'),
    );
    expect(JSON.stringify(critical)).not.toContain('mutedIn');
  });
});
