import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADDRESSES } from '../../alerts/support/alertmanager-addresses.ts';
import { HAS_ALERTMANAGER, startAlertmanager } from '../../alerts/support/alertmanager.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../alerts/support/webhook-receiver.ts';
import { withEmbedded } from '../../support/embedded.ts';
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

/** Stands before a store and counts the requests that are under way at once. */
async function startCounter(storeUrl: string) {
  let underWay = 0;
  let most = 0;
  const server = createServer((asked, answer) => {
    most = Math.max(most, ++underWay);
    answer.on('close', () => underWay--);
    const onward = request(
      new URL(asked.url ?? '/', storeUrl),
      { method: asked.method, headers: { ...asked.headers, host: new URL(storeUrl).host } },
      (reply) => {
        answer.writeHead(reply.statusCode ?? 502, reply.headers);
        reply.pipe(answer);
      },
    );
    asked.pipe(onward);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    most: () => most,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

/** Rules that see one number each. */
const ruleFile = (count: number): object => ({
  apiVersion: 1,
  groups: [
    {
      name: 'numbers',
      interval: '1m',
      rules: Array.from({ length: count }, (_, n) => ({
        uid: `rule-${n}`,
        title: `GatewatchRule${n}`,
        condition: 'firing',
        for: '1m',
        noDataState: 'OK',
        execErrState: 'Error',
        data: [
          { refId: 'number', model: { rawSql: `SELECT 'acme-eu' AS gateway, ${n}. AS value`, format: 1 } },
          {
            refId: 'firing',
            model: {
              type: 'threshold',
              expression: 'number',
              conditions: [{ evaluator: { type: 'gt', params: [2] } }],
            },
          },
        ],
      })),
    },
  ],
});

describe('gatewatch alerts', () => {
  it('asks about one rule after the other, so that a busy store goes on with its rows', async () => {
    const store = await withEmbedded();
    try {
      await using counter = await startCounter(store.url);
      const rules = mkdtempSync(join(folder, 'rules-'));
      writeFileSync(join(rules, 'rules.yaml'), JSON.stringify(ruleFile(4)));
      const file = join(folder, 'store.yaml');
      writeFileSync(
        file,
        JSON.stringify({ clickhouse: { url: counter.url, ...store.writer, database: 'default' } }),
      );
      const { code, stdout } = await cli(['alerts', '--json', '--config', file, '--rules', rules]);
      expect({ code, most: counter.most() }).toEqual({ code: 0, most: 1 });
      const seen = (JSON.parse(stdout) as { rule: string; firing: boolean }[]).map(
        ({ rule, firing }) => `${rule} ${firing}`,
      );
      expect(seen).toEqual([
        'GatewatchRule0 false',
        'GatewatchRule1 false',
        'GatewatchRule2 false',
        'GatewatchRule3 true',
      ]);
    } finally {
      await store.stop();
    }
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
    const [told, ...others] = webhook.received.slice(before);
    expect(others).toEqual([]);
    expect(told).toMatchObject({
      path: '/hook',
      authorization: 'Bearer secret-token',
      body: {
        status: 'firing',
        alerts: [{ labels: { alertname: 'GatewatchTestPage', severity: 'critical' } }],
      },
    });
    expect(told?.body.message).toContain('This is a test page of gatewatch.\nNothing is wrong.');
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

  it('fails, and names the one, when a target does not take it; the others are told all the same', async () => {
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

  it('is bad usage without anybody to tell, or with a severity that does not exist', async () => {
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
