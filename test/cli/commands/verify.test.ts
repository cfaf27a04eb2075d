import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSandbox, type Sandbox } from '../../../sandbox/server.ts';
import { evaluationRow } from '../../alerts/support/evaluation-rows.ts';
import { TIMED_OUT, traffic } from '../../alerts/traffic.ts';
import { startCollectorProcess } from '../../support/collector-process.ts';
import { startSeededStore, type SeededStore } from '../../support/seed-store.ts';
import { cli } from './support/cli.ts';

const MINUTE = 60_000;
const RULE = 'GatewatchTechTimeouts';
const asOf = Math.floor(Date.now() / MINUTE) * MINUTE - 10 * MINUTE;
const window = [asOf - 15 * MINUTE, asOf - MINUTE] as const;
const FAILED = [{ action: '4.1.4.63', offsetMs: -900_000 }];

let folder: string;
let file: string;
let store: SeededStore;
let sandbox: Sandbox;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gatewatch-verify-test-'));
  sandbox = await createSandbox();
  store = await startSeededStore();
  file = join(folder, 'gatewatch.yaml');
  const gateway = { name: 'acme-eu', secureUrl: sandbox.secureUrl, token: sandbox.token };
  writeFileSync(file, JSON.stringify({ gateways: [gateway], clickhouse: store.connection }));
  const orders = traffic({
    gateway: 'acme-eu',
    orders: 6,
    from: window[0] + MINUTE,
    to: window[1] - MINUTE,
    codes: () => TIMED_OUT,
  });
  const breach = { rule: RULE, label: 'GATEWAY_CREATE', seen: 6, affected: 6, window, breach: true } as const;
  await store.seed({
    orders,
    rows: { alertEvaluations: [evaluationRow({ ...breach, asOf })] },
    replies: orders.map(({ externalId }, index) => ({
      gateway: 'acme-eu',
      externalId,
      observedAt: window[1],
      status: 'Processing',
      outcome: null,
      amount: `${index + 1}.10`,
      currency: index === 5 ? 'USD' : 'EUR',
    })),
  });
  // What became of them: three failed for good, one went through after all, one is open, one is gone.
  const became = ['Failed', 'Failed', 'Failed', 'Success', 'Processing'];
  for (const [index, status] of became.entries())
    sandbox.seedOrder({ externalId: orders[index]?.externalId ?? '', status, items: [] });
});
afterAll(async () => {
  await sandbox?.stop();
  await store?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const verify = (...args: string[]) => cli(['verify', '--config', file, ...args]);

describe('verify, with no collector running', () => {
  it('asks the gateway itself: the verdict first, then why, then the evidence; the exit code is the verdict', async () => {
    const { externalId, externalTransactionId } = sandbox.seedOrder({ status: 'Failed', items: FAILED });
    const { code, stdout, stderr } = await verify(externalId);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [head, why] = stdout.split('\n');
    expect(head).toBe(`SAFE     Deposit ${externalId} at acme-eu: it may be sent to another provider.`);
    expect(why).toContain('Every status request just now says Failed');
    expect(stdout).toMatch(/deposit-status +\S+ +[\d:.]+ +\S+ ms +200 +ok +Failed +1 item, 4\.1\.4\.63/);
    expect(stdout).toContain(`deposit-status-by-transaction  ${externalTransactionId}`);
  });

  it('ends with 1 for a payment under way and with 3 for one of which nothing is known', async () => {
    const { externalTransactionId } = sandbox.seedOrder({ items: [] });
    const open = await verify(externalTransactionId, '--by', 'transaction-id');
    expect(open.code).toBe(1);
    expect(open.stdout).toContain('do NOT send it to another provider.');
    const unknown = await verify('payment-1');
    expect(unknown.code).toBe(3);
    expect(unknown.stdout).toContain('gatewatch verify payment-1 --by transaction-id');
  });

  it('verifies several, the worst first, and ends with the worst', async () => {
    const failed = sandbox.seedOrder({ status: 'Failed', items: FAILED });
    const paid = sandbox.seedOrder({ status: 'Success', items: [] });
    const { code, stdout } = await verify(failed.externalId, paid.externalId, 'payment-1');
    expect(code).toBe(1);
    expect(
      stdout
        .split('\n')
        .slice(1, 4)
        .map((line) => line.split(' ')[0]),
    ).toEqual(['UNSAFE', 'UNKNOWN', 'SAFE']);
    const fine = await verify(failed.externalId, failed.externalId);
    expect(fine.code).toBe(0);
  });

  it('--from-alert verifies the orders of the alert, with what is at stake by verdict and currency', async () => {
    const { code, stdout, stderr } = await verify('--from-alert', RULE, '--json');
    expect(stderr).toBe('');
    expect(code).toBe(1);
    const { orders, summary } = JSON.parse(stdout) as { orders: unknown[]; summary: unknown };
    expect(orders).toHaveLength(6);
    expect(summary).toEqual([
      { verdict: 'safe', orders: 3, amounts: [{ currency: 'EUR', amount: '6.30' }], withoutAmount: 0 },
      { verdict: 'unsafe', orders: 2, amounts: [{ currency: 'EUR', amount: '9.20' }], withoutAmount: 0 },
      { verdict: 'unknown', orders: 1, amounts: [{ currency: 'USD', amount: '6.10' }], withoutAmount: 0 },
    ]);
    const drawn = await verify('--from-alert', RULE.toLowerCase(), '--since', '2h');
    expect(drawn.stdout).toContain('SAFE     3 orders: 6.30 EUR\n');
  });

  it('ends with 3 when the alert has no orders, and with 2 for what cannot be meant', async () => {
    expect(await verify('--from-alert', 'GatewatchApprovalDrop')).toMatchObject({ code: 3 });
    for (const args of [
      [],
      ['a', '--from-alert', RULE],
      ['--from-alert', 'NoSuchRule'],
      ['--from-alert', RULE, '--since', 'soon'],
      ['a', '--gateway', 'nowhere'],
      ['4111111111111111'],
    ])
      expect({ args, code: (await verify(...args)).code }).toEqual({ args, code: 2 });
  });

  it('calls nothing safe when the store cannot be opened', async () => {
    const alone = join(folder, 'alone.yaml');
    const gateway = { name: 'acme-eu', secureUrl: sandbox.secureUrl, token: sandbox.token };
    writeFileSync(
      alone,
      JSON.stringify({
        gateways: [gateway],
        clickhouse: { url: 'http://127.0.0.1:1', requestTimeoutMs: 500 },
      }),
    );
    const failed = sandbox.seedOrder({ status: 'Failed', items: FAILED });
    const { code, stdout } = await cli(['verify', '--config', alone, failed.externalId]);
    expect(code).toBe(3);
    expect(stdout).toContain('could not be looked up');
  });
});

it('asks the running collector, whose answer is the same', async () => {
  const gateways = [{ name: 'acme-eu', secureUrl: sandbox.secureUrl, token: sandbox.token }];
  await using collector = await startCollectorProcess({ config: { gateways } });
  const { externalId } = sandbox.seedOrder({ status: 'Failed', items: FAILED });
  const env = { GATEWATCH_HTTP_PORT: new URL(collector.http).port };
  const { code, stdout } = await cli(['verify', '--config', collector.configFile, externalId], { env });
  expect(code).toBe(0);
  expect(stdout).toContain('SAFE');
  const metrics = await (await fetch(`${collector.http}/metrics`)).text();
  expect(metrics).toContain('gatewatch_cascade_checks_total{gateway="acme-eu",verdict="safe",rule="failed"');
});
