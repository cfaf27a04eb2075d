import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADDRESSES } from '../../alerts/support/alertmanager-addresses.ts';
import { HAS_ALERTMANAGER, startAlertmanager } from '../../alerts/support/alertmanager.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../alerts/support/webhook-receiver.ts';
import type { AlertLine } from '../../../schemas/alert-line.ts';
import { evaluationRow, passAt, stateRow } from '../../alerts/support/evaluation-rows.ts';
import { startSeededStore, type SeededStore } from '../../support/seed-store.ts';
import { cli } from './support/cli.ts';

let folder: string;
let webhook: WebhookReceiver;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gatewatch-alerts-test-'));
  webhook = await startWebhookReceiver();
});
afterAll(async () => {
  await webhook.stop();
  rmSync(folder, { recursive: true, force: true });
});

const config = (alerts: object): string => {
  const file = join(folder, 'gatewatch.yaml');
  writeFileSync(file, JSON.stringify({ alerts }));
  return file;
};
const send = (alerts: object, ...more: string[]) =>
  cli(['alerts', '--send-test', '--config', config(alerts), ...more]);
const hook = () => ({ webhook: { url: `${webhook.url}/hook`, token: 'secret-token' } });

describe('gatewatch alerts', () => {
  const MINUTE = 60_000;
  const asOf = Math.floor(Date.now() / MINUTE) * MINUTE - MINUTE;
  const rule = 'GatewatchTechTimeouts';
  const timeouts = { rule, label: 'CHECK', seen: 340, affected: 12, limit: 9 } as const;
  const state = { rule, labels: { gateway: 'acme-eu', stage: 'CHECK' } } as const;
  let store: SeededStore;
  let file: string;
  const alerts = (...more: string[]) => cli(['alerts', '--config', file, ...more]);
  beforeAll(async () => {
    store = await startSeededStore();
    file = join(folder, 'store.yaml');
    writeFileSync(file, JSON.stringify({ clickhouse: store.connection }));
  });
  afterAll(() => store?.stop());

  it('says so when nobody has evaluated the rules, and who does', async () => {
    expect(await alerts()).toEqual({
      code: 0,
      stdout:
        'The rules were not evaluated within the 7 days before now. A collector does it once a minute: start one with "gatewatch run".\n',
      stderr: '',
    });
    expect(await alerts('--json')).toMatchObject({ code: 0, stdout: '[]\n' });
  });

  it('refuses a zone that does not exist, and needs nothing else of the configuration of alerts', async () => {
    const { connection: clickhouse } = store;
    const webhook = { url: 'https://hook.shop.de', token: '${NOT_SET_HERE}' };
    const other = join(folder, 'zone.yaml');
    writeFileSync(other, JSON.stringify({ clickhouse, alerts: { timeZone: 'Europe/Berlin', webhook } }));
    expect(await cli(['alerts', '--config', other])).toMatchObject({ code: 0, stderr: '' });
    writeFileSync(other, JSON.stringify({ clickhouse, alerts: { timeZone: 'Berlin' } }));
    expect(await cli(['alerts', '--config', other])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('alerts.timeZone: expected a name of the IANA time zone database'),
    });
  });

  it('shows what the rules saw last with the states, and how old it is', async () => {
    await store.seed({
      rows: {
        alertEvaluations: [
          passAt(asOf - MINUTE),
          evaluationRow({ ...timeouts, asOf: asOf - MINUTE, breach: true }),
          passAt(asOf),
          evaluationRow({ rule: 'GatewatchCollectorSilent', asOf, number: 4, limit: 120 }),
          evaluationRow({ ...timeouts, asOf, seen: 350, breach: true }),
        ],
        alertStates: [
          stateRow({ ...state, state: 'Pending', changedAt: asOf - MINUTE, evaluatedAt: asOf - MINUTE }),
          stateRow({ ...state, state: 'Alerting', changedAt: asOf, evaluatedAt: asOf, firingSince: asOf }),
        ],
      },
    });
    const { code, stdout, stderr } = await alerts();
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [block = '', table = ''] = stdout.trimEnd().split(/\n\n(?=state )/);
    expect(block.split('\n')).toEqual([
      expect.stringMatching(/^INCIDENT acme-eu\/\S+Z, critical, for \d+[sm].*: The gateway does not/),
      expect.stringMatching(/^ {2}began \S+ \S+ UTC, noticed after 1m$/),
      '  whose side: the provider behind the gateway',
      '  at risk: orders, at least 12 orders affected',
      expect.stringMatching(/^ {2}fired +state +severity +rule +where$/),
      expect.stringMatching(/^ {2}first +firing +critical +GatewatchTechTimeouts +acme-eu CHECK$/),
    ]);
    const lines = table.split('\n');
    expect(lines[1]).toMatch(
      /^FIRING +\S+ \S+ +GatewatchTechTimeouts +critical +gateway=acme-eu stage=CHECK +12 of 350 \(3\.4 %\) +>= 9 /,
    );
    expect(lines[2]).toMatch(/^quiet +GatewatchCollectorSilent /);
    expect(lines[4]).toBe('1 firing, 1 quiet.');
    expect(lines[5]).toMatch(/^Evaluated at .* UTC, [12] minutes? ago\.$/);
  });

  it('gives the rows with states to machines', async () => {
    const { code, stdout } = await alerts('--json');
    expect(code).toBe(0);
    const [first, ...others] = JSON.parse(stdout) as AlertLine[];
    expect(others).toHaveLength(1);
    expect(first).toMatchObject({
      rule,
      labels: state.labels,
      state: 'Alerting',
      since: asOf,
      numbers: { affected: 12, seen: 350, limit: 9, asOf, breach: true },
    });
    expect(first?.detail).toMatch(/^12 of 350 orders \(3\.4 %\) timed out \(reason 11\) between .* UTC; 9 /);
  });

  it('lists the incidents of a time, for people and for machines', async () => {
    const { code, stdout } = await alerts('--since', '24h');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^.* UTC +1m +RUNNING +acme-eu +critical +12 +1 +The gateway /m);
    expect(stdout).toContain('1 incident, 1 running.');
    const json = await alerts('--since', '24h', '--json');
    expect(JSON.parse(json.stdout)).toMatchObject([
      { gateway: 'acme-eu', noticedAt: asOf, endedAt: null, affectedOrders: 12, alerts: [{ rule }] },
    ]);
    const before = await alerts('--since', '1h', '--at', '2d');
    expect(before).toMatchObject({ code: 0, stdout: 'No incident in this time.\n' });
    const wrong = await alerts('--since', 'yesterday');
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('such as 90m or 7d') });
  });

  it('shows the rows of a past instant', async () => {
    const at = new Date(asOf - 1).toISOString();
    const { code, stdout } = await alerts('--at', at);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^pending .* 12 of 340 /m);
    expect(stdout).toContain(`As evaluated at ${at.slice(0, 10)} `);
    const before = await alerts('--at', '2d');
    expect(before.stdout).toMatch(/^The rules were not evaluated within the 7 days before 2d\./);
    const wrong = await alerts('--at', 'yesterday');
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('--at: expected a time') });
  });
});

describe('gatewatch alerts --send-test', () => {
  it('sends one page that says that it is a test, and says that it was taken', async () => {
    const before = webhook.received.length;
    const { code, stdout, stderr } = await send(hook());
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: `webhook ${webhook.url}/hook: took the page\n`,
      stderr: '',
    });
    const [page, ...others] = webhook.received.slice(before);
    expect(others).toEqual([]);
    expect(page).toMatchObject({
      path: '/hook',
      authorization: 'Bearer secret-token',
      body: {
        status: 'firing',
        alerts: [{ labels: { alertname: 'GatewatchTestPage', severity: 'critical' } }],
      },
    });
    expect(page?.body.message).toContain('This is a test page of gatewatch.\nNothing is wrong.');
  });

  it.skipIf(!HAS_ALERTMANAGER)('goes to Alertmanager with the severity that is asked for', async () => {
    const alertmanager = await startAlertmanager(
      JSON.stringify({ route: { receiver: 'nobody' }, receivers: [{ name: 'nobody' }] }),
    );
    const { code, stdout } = await send(
      { alertmanager: { url: alertmanager.url } },
      '--severity',
      'warning',
      '--json',
    );
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual([
      { target: 'alertmanager', url: alertmanager.url, accepted: true, error: null },
    ]);
    const [held, ...others] = await alertmanager.alerts();
    expect(others).toEqual([]);
    expect(held?.labels).toMatchObject({ alertname: 'GatewatchTestPage', severity: 'warning' });
    // It ends by itself, for nobody will come back to end it.
    const lasts = Date.parse(held?.endsAt ?? '') - Date.parse(held?.startsAt ?? '');
    expect(lasts).toBe(5 * 60_000);
    await alertmanager.stop();
  });

  it('fails, and names the one, when a target does not take it; the others are notified all the same', async () => {
    const before = webhook.received.length;
    const { code, stdout } = await send({ ...hook(), alertmanager: { url: 'http://127.0.0.1:1' } });
    expect(code).toBe(1);
    expect(stdout).toMatch(/^alertmanager http:\/\/127\.0\.0\.1:1: FAILED, .*no answer$/m);
    expect(stdout).toMatch(/^webhook .*: took the page$/m);
    expect(webhook.received.length).toBe(before + 1);
  });

  it('says what an address answered that refuses it', async () => {
    webhook.answer(403);
    const { code, stdout } = await send(hook());
    webhook.answer(200);
    expect({ code, stdout }).toEqual({
      code: 1,
      stdout: `webhook ${webhook.url}/hook: FAILED, the webhook at ${webhook.url} did not take the alerts: it answered 403 (test)\n`,
    });
  });

  it('is bad usage without anybody to notify, or with a severity that does not exist', async () => {
    const nobody = await send({});
    expect(nobody.code).toBe(2);
    expect(nobody.stderr).toContain('neither alerts.alertmanager nor alerts.webhook');
    expect((await send(hook(), '--severity', 'loud')).code).toBe(2);
  });
});

describe('gatewatch alerts --alertmanager-config', () => {
  it('writes the configuration with the addresses of the environment', async () => {
    const out = join(folder, 'alertmanager');
    const { code, stderr } = await cli(['alerts', '--alertmanager-config', out], { env: ADDRESSES });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const text = readFileSync(join(out, 'alertmanager.yml'), 'utf8');
    expect(text).toContain(`smtp_smarthost: "${ADDRESSES.GATEWATCH_SMTP_SMARTHOST}"`);
    expect(readdirSync(out)).toContain('gatewatch.tmpl');
  });

  it.skipIf(!existsSync('/usr/bin/amtool'))("mutes by the shop's clocks and on its holidays", async () => {
    const out = join(folder, 'alertmanager-zone');
    const file = config({ timeZone: 'Europe/Berlin', holidays: ['2026-12-25'] });
    const { stderr } = await cli(['alerts', '--alertmanager-config', out, '--config', file], {
      env: ADDRESSES,
    });
    expect(stderr).toBe('');
    const written = join(out, 'alertmanager.yml');
    expect(execFileSync('/usr/bin/amtool', ['check-config', written], { encoding: 'utf8' })).toContain(
      'SUCCESS',
    );
    const text = readFileSync(written, 'utf8');
    expect(text).toMatch(/^# Generated/);
    expect(text.match(/location: Europe\/Berlin/g)).toHaveLength(3);
    expect(text).toMatch(/days_of_month:\s+- "25"\s+months:\s+- "12"\s+years:\s+- "2026"/);
    expect(text).not.toContain('location: UTC');
  });

  it('refuses placeholders with all that is wrong, and writes nothing', async () => {
    const out = join(folder, 'alertmanager-refused');
    const env = { GATEWATCH_ALERT_EMAILS: 'payments@gatewatch.example' };
    const { code, stderr } = await cli(['alerts', '--alertmanager-config', out], { env });
    expect(code).toBe(2);
    expect(stderr).toContain('GATEWATCH_ALERT_EMAILS: gatewatch.example is reserved');
    expect(stderr).toContain('GATEWATCH_SMTP_FROM: is not set');
    expect(existsSync(out)).toBe(false);
  });
});
