import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { RULES } from '../../../alerts/rules/all.ts';
import { MUTE_TIMINGS, POLICY, RECEIVERS, type Route } from '../../../alerts/grafana/notifications.ts';
import { TEMPLATE } from '../../../alerts/grafana/notification-texts.ts';

const OUT = fileURLToPath(new URL('../../../alerts/out', import.meta.url));
const CONFIG = `${OUT}/alertmanager/alertmanager.yml`;
const HAS_AMTOOL = existsSync('/usr/bin/amtool');
const amtool = (...args: string[]): string =>
  execFileSync('/usr/bin/amtool', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });

/** Who is told of what. */
const WHO: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
  [
    'gatewatch-oncall',
    { severity: 'critical', side: 'provider', alertname: 'GatewatchTechTimeouts', gateway: 'acme-eu' },
  ],
  ['gatewatch-oncall', { severity: 'critical', side: 'collector', alertname: 'GatewatchCollectorSilent' }],
  ['gatewatch-tickets', { severity: 'warning', side: 'provider', alertname: 'GatewatchContractBroken' }],
  ['gatewatch-payments', { severity: 'warning', side: 'issuer', alertname: 'GatewatchIssuerDeclines' }],
  ['gatewatch-payments', { severity: 'warning', side: 'merchant', alertname: 'GatewatchForgedCallbacks' }],
  ['gatewatch-platform', { severity: 'warning', side: 'collector', alertname: 'GatewatchConsumerLag' }],
  ['gatewatch-digest', { severity: 'info', side: 'gateway', alertname: 'GatewatchUnknownCodes' }],
  ['gatewatch-platform', { severity: 'warning', alertname: 'DatasourceError', rulename: 'GatewatchRejects' }],
  [
    'gatewatch-oncall',
    { severity: 'critical', alertname: 'DatasourceError', rulename: 'GatewatchCollectorSilent' },
  ],
  ['gatewatch-tickets', { alertname: 'SomebodyElse' }],
];

describe.skipIf(!HAS_AMTOOL)("Alertmanager's own tool", () => {
  it('accepts the policy tree', () => {
    expect(amtool('check-config', CONFIG)).toMatch(/SUCCESS[\s\S]*5 receivers[\s\S]*2 templates/);
  });

  it.each(WHO)('sends to %s what has the labels %j', (receiver, labels) => {
    const pairs = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
    expect(amtool('config', 'routes', 'test', `--config.file=${CONFIG}`, ...pairs).trim()).toBe(receiver);
  });

  it.each(RULES.map(({ name, severity, side }) => [name, severity, side] as const))(
    '%s has somewhere to go that is not the last resort by accident',
    (alertname, severity, side) => {
      const receiver = amtool(
        'config',
        'routes',
        'test',
        `--config.file=${CONFIG}`,
        `alertname=${alertname}`,
        `severity=${severity}`,
        `side=${side}`,
        'gateway=acme-eu',
        'service=gatewatch',
      ).trim();
      expect(receiver === 'gatewatch-oncall' || receiver === 'gatewatch-platform').toBe(
        severity === 'critical' || (severity === 'warning' && side === 'collector'),
      );
      expect(receiver === 'gatewatch-digest').toBe(severity === 'info');
    },
  );

  it('renders the texts: what, since when, how bad, whose side, what to do first, and where to look', () => {
    const folder = mkdtempSync(join(tmpdir(), 'gatewatch-template-'));
    const data = join(folder, 'data.json');
    const annotations = {
      summary: 'The gateway does not answer in time.',
      description: 'acme-eu CHECK: 12 of 40 orders (30%) timed out.',
      side: 'the provider behind the gateway',
      steps: '1. Do not cascade.',
      orders_url: '/d/gatewatch-incident',
      runbook_url: 'https://gatewatch.example/runbooks/GatewatchTechTimeouts.md',
    };
    const alert = {
      labels: { severity: 'critical' },
      annotations,
      startsAt: '2026-11-21T10:15:00Z',
      endsAt: '2026-11-21T10:30:00Z',
    };
    const alerts = [
      { ...alert, status: 'firing' },
      { ...alert, status: 'resolved' },
    ];
    writeFileSync(
      data,
      JSON.stringify({
        status: 'firing',
        alerts,
        commonLabels: { gateway: 'acme-eu' },
        commonAnnotations: { summary: annotations.summary },
      }),
    );
    const render = (name: string): string =>
      amtool(
        'template',
        'render',
        `--template.glob=${OUT}/alertmanager/gatewatch.tmpl`,
        `--template.text={{ template "${name}" . }}`,
        `--template.data=${data}`,
      );
    expect(render('gatewatch.title')).toBe('FIRING 1: acme-eu The gateway does not answer in time.');
    expect(render('gatewatch.message')).toBe(`critical: The gateway does not answer in time.
acme-eu CHECK: 12 of 40 orders (30%) timed out.
Since: 2026-11-21 10:15:00 UTC
Side: the provider behind the gateway
First: 1. Do not cascade.
Orders: /d/gatewatch-incident
Runbook: https://gatewatch.example/runbooks/GatewatchTechTimeouts.md

over since 10:30:00 UTC: The gateway does not answer in time.
`);
    rmSync(folder, { recursive: true });
  });
});

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
    const timings: readonly string[] = MUTE_TIMINGS.map(({ name }) => name);
    for (const name of all.flatMap(({ mutedIn = [] }) => mutedIn)) expect(timings).toContain(name);
  });

  it('have texts without a dollar sign, which provisioning would take for the environment', () => {
    expect(TEMPLATE).not.toContain('$');
  });

  it('never mute what is critical', () => {
    const critical = (POLICY.routes ?? []).filter(({ matchers }) =>
      matchers.some(([label, , value]) => label === 'severity' && value === 'critical'),
    );
    expect(JSON.stringify(critical)).not.toContain('mutedIn');
  });
});
