import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Alert } from '../../../alerts/explain/alert.ts';
import { amtoolCommand, matchersOf } from '../../../alerts/notify/alertmanager-silences.ts';
import { createAlertmanager } from '../../../alerts/notify/alertmanager.ts';
import { alertsConfigSchema } from '../../../schemas/config-alerts.ts';
import type { Silence } from '../../../schemas/silence.ts';
import { type AlertmanagerProcess, HAS_ALERTMANAGER, startAlertmanager } from '../support/alertmanager.ts';

const HOUR = 3_600_000;
const silence = (more: Partial<Silence> = {}): Silence => ({
  id: 'abc-1',
  kind: 'silenced',
  rule: 'GatewatchTechTimeouts',
  gateway: 'acme-eu',
  slice: '',
  label: 'CHECK',
  createdAt: Date.now() - 1_000,
  until: Date.now() + HOUR,
  reason: "the provider's at it",
  by: 'Ann',
  ...more,
});
const alert = (name: string, gateway: string): Alert => ({
  fingerprint: `${name} ${gateway}`,
  status: 'firing',
  labels: { alertname: name, gateway, stage: 'CHECK', service: 'gatewatch', severity: 'critical' },
  annotations: {},
  startsAt: new Date(Date.now() - 60_000),
  endsAt: new Date(Date.now() + HOUR),
  generatorUrl: '',
  values: {},
});

it('names the labels that alerts have, and never a sign of life', () => {
  const pairs = (one: Silence) =>
    matchersOf(one).map(({ name, value, isEqual }) => `${name}${isEqual ? '=' : '!='}${value}`);
  expect(pairs(silence())).toEqual([
    'service=gatewatch',
    'alertname=GatewatchTechTimeouts',
    'gateway=acme-eu',
    'stage=CHECK',
  ]);
  expect(pairs(silence({ rule: '', gateway: '', label: '' }))).toEqual([
    'service=gatewatch',
    'alertname!=GatewatchHeartbeat',
  ]);
});

describe.skipIf(!HAS_ALERTMANAGER)('with a real Alertmanager', () => {
  let alertmanager: AlertmanagerProcess;
  beforeAll(async () => {
    alertmanager = await startAlertmanager(
      JSON.stringify({ route: { receiver: 'nobody' }, receivers: [{ name: 'nobody' }] }),
    );
  });
  afterAll(() => alertmanager?.stop());
  const targetOf = (url: string) =>
    createAlertmanager(
      alertsConfigSchema.parse({ alertmanager: { url } }).alertmanager ?? expect.fail('none'),
    );
  const states = async () =>
    Object.fromEntries(
      (await alertmanager.alerts()).map(({ labels, status }) => [
        `${labels['alertname']} ${labels['gateway']}`,
        status.state,
      ]),
    );
  const count = async () =>
    ((await (await fetch(`${alertmanager.url}/api/v2/silences`)).json()) as unknown[]).length;

  it('silences what is silenced here and nothing else, once, until it is taken back', async () => {
    const target = targetOf(alertmanager.url);
    const alerts = [alert('GatewatchTechTimeouts', 'acme-eu'), alert('GatewatchTechTimeouts', 'acme-us')];
    const silences = [silence(), silence({ id: 'ack-1', kind: 'acknowledged', until: null, gateway: '' })];
    for (const _ of [1, 2]) await target.send(alerts, Date.now(), silences);
    await expect
      .poll(states)
      .toEqual({ 'GatewatchTechTimeouts acme-eu': 'suppressed', 'GatewatchTechTimeouts acme-us': 'active' });
    expect(await count()).toBe(1);
    // One that does not know what holds changes nothing.
    await target.send(alerts, Date.now(), null);
    await target.send(alerts, Date.now(), []);
    await expect
      .poll(states)
      .toEqual({ 'GatewatchTechTimeouts acme-eu': 'active', 'GatewatchTechTimeouts acme-us': 'active' });
  });

  it.skipIf(!existsSync('/usr/bin/amtool'))('has a command for amtool that does the same', async () => {
    const before = await count();
    execFileSync('/bin/sh', ['-c', amtoolCommand(silence({ gateway: 'acme-us' }), alertmanager.url)]);
    expect(await count()).toBe(before + 1);
  });
});

it('takes alerts to an Alertmanager that takes no silences, and says so', async () => {
  const { createServer } = await import('node:http');
  const paths: string[] = [];
  const server = createServer((request, response) => {
    paths.push(`${request.method} ${request.url}`);
    request.resume().on('end', () => response.writeHead(request.url === '/api/v2/alerts' ? 200 : 500).end());
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const target = createAlertmanager(
    alertsConfigSchema.parse({ alertmanager: { url: `http://127.0.0.1:${port}` } }).alertmanager ??
      expect.fail('none'),
  );
  await expect(target.send([alert('A', 'acme-eu')], Date.now(), [silence()])).rejects.toThrow(
    'silences were not passed on',
  );
  expect(paths).toEqual(['GET /api/v2/silences', 'POST /api/v2/alerts']);
  server.close();
});
