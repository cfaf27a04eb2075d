import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { orderRow } from '../../support/order-row.ts';
import { cli, cliOnTerminal } from './support/cli.ts';
import { migratedStore, type MigratedStore } from './support/seeded-order.ts';

/** Ten orders a minute for three hours; half of them time out from 01:00 to 01:20. */
const START = Date.parse('2026-03-02T00:00:00Z');
const MINUTE = 60_000;
const INCIDENT = { from: START + 60 * MINUTE, to: START + 80 * MINUTE };
const PAID = ['1.1.1.00', '2.1.1.00', '4.1.3.00'];
const TIMED_OUT = ['1.1.1.00', '2.2.4.11'];
/** Timed out as well, but nobody knew before 02:30. */
const LATE_KNOWN = START + 150 * MINUTE;

let db: MigratedStore;
let env: Record<string, string>;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gatewatch-backtest-'));
  db = await migratedStore('timeless');
  env = { GATEWATCH_DATA_DIR: db.embedded.dataDir };
  const rows = Array.from({ length: 1800 }, (_, n) => {
    const start = START + n * 6000;
    const broken = start >= INCIDENT.from && start < INCIDENT.to && n % 2 === 0;
    const late = start >= START + 120 * MINUTE && n % 2 === 0;
    const items = (broken || late ? TIMED_OUT : PAID).map((action, position) => {
      const at = start + position * 500;
      const observedAt = late ? Math.max(LATE_KNOWN, at + 1000) : at + 1000;
      return { time: at * 1000, action, observedAt: observedAt * 1000 };
    });
    return orderRow({ gateway: 'acme-eu', order_type: 'Deposit', external_id: `order-${n}` }, items);
  });
  await db.store.insert('orders', rows);
  await db.store.insert(
    'gatewayStatus',
    Array.from({ length: 720 }, (_, n) => ({
      gateway: 'acme-eu',
      collector_id: 'collector-1',
      reported_at: (START + n * 15_000) * 1000,
      watermark_at: (START + n * 15_000) * 1000,
      watched_orders: 1,
      due_orders: 0,
      circuits_open: 0,
      last_reply_at: null,
      clock_skew_seconds: null,
      requests_per_second: 1,
      requests_per_second_limit: 50,
      requests_in_flight: 0,
      concurrency_limit: 16,
    })),
  );
});
afterAll(async () => {
  await db.stop();
  rmSync(folder, { recursive: true, force: true });
});

const backtest = (...args: string[]) =>
  cli(['backtest', '--from', '2026-03-02', '--to', '2026-03-02T03:00', ...args], { env });

interface Report {
  readonly read: number;
  readonly recounted: number;
  readonly rules: readonly {
    rule: string;
    pages: number;
    pagesPerWeek: number;
    evaluations: number;
    labelSets: readonly {
      labels: Record<string, string>;
      alerts: readonly { firedAt: string; resolvedAt: string | null; values: Record<string, number> }[];
    }[];
  }[];
}
const report = async (...args: string[]): Promise<Report> => {
  const { code, stdout, stderr } = await backtest(...args, '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as Report;
};

describe('backtest', () => {
  test('shows when a rule would have fired, for which labels and for how long', async () => {
    const { rules } = await report('TechTimeouts', '--step', '5m');
    expect(rules).toMatchObject([
      { rule: 'GatewatchTechTimeouts', pages: 2, evaluations: 37, read: 0, recounted: 37 },
    ]);
    const loud = rules[0]?.labelSets.filter(({ alerts }) => alerts.length > 0) ?? [];
    expect(loud.map(({ labels }) => labels)).toEqual([{ gateway: 'acme-eu', stage: 'GATEWAY_CREATE' }]);
    const [first, second] = loud[0]?.alerts ?? [];
    const fired = Date.parse(first?.firedAt ?? '');
    expect(fired).toBeGreaterThan(INCIDENT.from);
    // Evaluated every five minutes, and pending for one of them.
    expect(fired).toBeLessThanOrEqual(INCIDENT.from + 10 * MINUTE);
    expect(Date.parse(first?.resolvedAt ?? '')).toBeGreaterThan(INCIDENT.to);
    expect(first?.values).toMatchObject({ affected: expect.any(Number), limit: expect.any(Number) });
    // What became known only later was not held against anybody before.
    expect(Date.parse(second?.firedAt ?? '')).toBeGreaterThanOrEqual(LATE_KNOWN);
    expect(second?.resolvedAt).toBeNull();
  });

  test('evaluates with another limit for this run only', async () => {
    const { rules } = await report('tech-timeouts', '--step', '10m', '--set', 'TechTimeouts.threshold=0.9');
    expect(rules).toMatchObject([{ pages: 0 }]);
    expect((await report('tech-timeouts', '--step', '10m')).rules).toMatchObject([{ pages: 2 }]);
  });

  test('draws each label set on a terminal', async () => {
    const { code, stdout } = await backtest('TechTimeouts', '--step', '5m');
    expect(code).toBe(0);
    expect(stdout).toContain('2026-03-02 00:00 to 2026-03-02 03:00 UTC');
    expect(stdout).toMatch(/GatewatchTechTimeouts \(critical\) {2}2 pages, \S+ a week/);
    expect(stdout).toMatch(/alert {6}·+░█+·+░█+/);
    expect(stdout).toMatch(/2026-03-02 01:10 {2}for 20m/);
    expect(stdout).toMatch(/\d other label sets? stayed quiet/);
    expect(stdout).toMatch(/1 rule: 2 pages, .*\n37 evaluations: 0 read, 37 recounted\.\n$/);
  });

  test('takes settings from the configuration where no collector stored any, and lists what was not judged', async () => {
    const { stdout } = await backtest('MerchantCallbackMissing', 'TechTimeouts', '--step', '30m');
    expect(stdout).toContain(
      'Not judged, as no setting switches them on: GatewatchMerchantCallbackMissing.\n',
    );
    const config = join(folder, 'gatewatch.yaml');
    const gateway = "{ name: acme-eu, secureUrl: 'https://acme.test', token: t }";
    writeFileSync(config, `gateways: [${gateway}]\n`);
    const { stdout: text } = await backtest(
      'MerchantCallbackMissing',
      '--json',
      '--step',
      '30m',
      '--config',
      config,
    );
    const { rules } = JSON.parse(text) as { rules: { notJudged: string | null; pages: number }[] };
    // No merchant callback for any order, paid or failed.
    expect(rules).toMatchObject([{ notJudged: null, pages: 2 }]);
  });

  test('shows a bar with the time that is left, on a terminal only', async () => {
    const period = ['--from', '2026-03-02', '--to', '2026-03-02T06:00', '--step', '2m'];
    const { stdout } = await cliOnTerminal(['backtest', 'PictureBehind', ...period], { env });
    expect(stdout).toMatch(/\[#+\.*\] \d+ %, \d+ s left {2}2026-03-02 \d\d:\d\d/);
  });

  test('writes a page that needs nothing from elsewhere', async () => {
    const file = join(folder, 'backtest.html');
    const { code, stderr } = await backtest('TechTimeouts', '--step', '10m', '--html', file);
    expect({ code, stderr }).toEqual({ code: 0, stderr: `wrote ${file}\n` });
    const html = readFileSync(file, 'utf8');
    expect(html).toContain('<svg');
    expect(html).toContain('gateway=acme-eu stage=GATEWAY_CREATE: 2 alerts');
    expect(html).not.toMatch(/https?:|<script|<link/);
  });

  test('refuses what it does not understand, and lists what there is', async () => {
    expect(await backtest('NoSuchRule')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('GatewatchTechTimeouts'),
    });
    expect(await backtest('Heartbeat')).toMatchObject({ code: 2 });
    expect(await backtest('--set', 'TechTimeouts.nothing=1')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('has no nothing to set; it has'),
    });
    expect(await backtest('TechTimeouts', '--set', 'ApprovalDrop.for=5m')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('ApprovalDrop is not among the rules that are evaluated'),
    });
    const nowhere = join(folder, 'nowhere', 'backtest.html');
    expect(await backtest('TechTimeouts', '--html', nowhere)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`--html: ${nowhere} cannot be written (ENOENT)`),
    });
    expect(await backtest('--from', 'yesterday')).toMatchObject({ code: 2 });
    expect(await backtest('--step', '0s')).toMatchObject({ code: 2 });
    expect(await backtest('--step', '500ms')).toMatchObject({ code: 2 });
  });
});
