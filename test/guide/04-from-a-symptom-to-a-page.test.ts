import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AlertLine } from '../../schemas/alert-line.ts';
import { ruleNamed } from '../alerts/support/evaluations.ts';
import { startVirtualMinutes, type VirtualMinutes, wholeMinute } from '../alerts/support/virtual-minutes.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../alerts/support/webhook-receiver.ts';
import { MINUTE, TIMED_OUT, traffic } from '../alerts/traffic.ts';
import { type SeededStore, startSeededStore } from '../support/seed-store.ts';
import { GATEWAY, gatewatch } from './support/scene.ts';

const RULE = 'GatewatchTechTimeouts';
/** The numbers in a page's description. */
const COUNTED = /: (\d+) of (\d+) orders/;
/** Orders that go on at the gateway. */
const FINE = ['1.0.0.00', '1.1.1.00', '2.1.1.00'];
const RUNBOOK = new URL(`../../alerts/runbooks/${RULE}.md`, import.meta.url);

/**
 * FROM A SYMPTOM TO A PAGE
 *
 * Orders time out. When does somebody have to get up? Between the two there are these steps, each a folder
 * under `alerts/`:
 *
 *     rules/      the rule, as data: what is counted, from which share on, who has to act
 *     count/      distinct orders that show the symptom, out of those that were seen at the same place
 *     evaluate/   is it more than chance allows, written down once a minute; and has it lasted: normal,
 *                 pending, alerting, recovering
 *     explain/    the text: how many, of how many, since when, what to do first
 *     notify/     who is notified, again and again until the receiver has accepted it
 *
 * One collector evaluates, and everybody else reads what it wrote down: Grafana, the console, the command
 * line. The store of this chapter holds what a collector has read (chapter 1). Its minutes pass as fast as
 * they can be evaluated: the rule and its waits are the real ones.
 */
describe('from a symptom to a page', () => {
  /** The instant of the first evaluation. */
  const start = wholeMinute(Date.now() - 20 * MINUTE);
  const minute = (n: number): number => start + n * MINUTE;
  const folder = mkdtempSync(join(tmpdir(), 'gatewatch-guide-'));
  let pager: WebhookReceiver;
  let store: SeededStore;
  let minutes: VirtualMinutes;
  beforeAll(async () => {
    pager = await startWebhookReceiver();
    store = await startSeededStore();
    writeFileSync(join(folder, 'gatewatch.yaml'), JSON.stringify({ clickhouse: store.connection }));
    // The collector has seen all of the gateway, all the time.
    const reports = Array.from({ length: 12 }, (_, n) => minute(n) - 5_000);
    await store.seed({
      gatewayStatus: reports.map((at) => ({ gateway: GATEWAY, reportedAt: at, watermarkAt: at })),
    });
    bad = await timedOut(0, 2);
    minutes = await startVirtualMinutes({
      store,
      // Every evaluation has rows of the second one, by which readers know that there was one.
      rules: [ruleNamed(RULE), ruleNamed('GatewatchHeartbeat')],
      alerts: { evaluate: true, webhook: { url: pager.url }, externalUrl: 'https://grafana.example.com' },
      fromMs: start,
    });
  });
  afterAll(async () => {
    await minutes[Symbol.asyncDispose]();
    await store.stop();
    await pager.stop();
    rmSync(folder, { recursive: true });
  });

  /** Orders that reach the window of the nth minute: it ends half a minute before, so that rows have come. */
  const orders = async (n: number, count: number, codes: readonly string[]) => {
    const to = minute(n) - 35_000;
    const place = { gateway: GATEWAY, from: to - 30_000, to };
    const made = traffic({ ...place, orders: count, codes: () => codes }).map((order, index) => ({
      ...order,
      externalId: `${codes.at(-1)}-${n}-${index}`,
    }));
    await store.seed({ orders: made });
    return made.map(({ externalId }) => externalId);
  };
  const timedOut = (n: number, count: number) => orders(n, count, TIMED_OUT);
  const fine = (n: number, count: number) => orders(n, count, FINE);
  const query = async <T>(sql: string): Promise<T[]> => (await store.query(sql)).data as T[];
  /** What the rule saw last at the stage at which these orders fail. */
  const evaluated = async () => {
    const config = join(folder, 'gatewatch.yaml');
    const lines = JSON.parse(await gatewatch('alerts', '--json', '--config', config)) as AlertLine[];
    return lines.find(({ rule, labels }) => rule === RULE && labels['stage'] === 'GATEWAY_CREATE');
  };
  const states = async () =>
    (
      await query<{ state: string }>(
        `SELECT state FROM gatewatch.alert_history WHERE rule = '${RULE}' ORDER BY changed_at, evaluated_at`,
      )
    ).map(({ state }) => state);
  const pages = (status: string) =>
    pager.received.flatMap(({ body }) => body.alerts.filter((alert) => alert.status === status));

  let bad: string[];
  it('1. a few orders are no incident, even when all of them fail', async () => {
    // Two of two is a share of 100 %, and two of two is nothing that anybody can judge.
    expect(await evaluated()).toMatchObject({
      state: 'Normal',
      numbers: { affected: 2, seen: 2, breach: false, asOf: start },
    });
  });

  it('2. more than chance allows: the condition holds, and counts orders, not events', async () => {
    await fine(1, 12);
    bad.push(...(await timedOut(1, 10)));
    await minutes.until(minute(1));
    expect(await evaluated()).toMatchObject({
      rule: RULE,
      severity: 'critical',
      labels: { gateway: GATEWAY, stage: 'GATEWAY_CREATE' },
      numbers: { affected: 12, seen: 24, breach: true },
    });
  });

  it('3. it has to last: pending first, alerting after that', async () => {
    expect(await states()).toEqual(['Pending']);
    expect(pages('firing')).toEqual([]);
    await minutes.until(minute(2));
    expect(await states()).toEqual(['Pending', 'Alerting']);
  });

  it('4. the person on call is notified: how bad, whose side, what to do first', async () => {
    await expect.poll(() => pages('firing').length).toBeGreaterThan(0);
    const [page] = pages('firing');
    expect(page?.labels).toMatchObject({ alertname: RULE, severity: 'critical', side: 'provider' });
    expect(page?.annotations['summary']).toBe('The gateway does not answer in time.');
    expect(COUNTED.exec(page?.annotations['description'] ?? '')?.slice(1)).toEqual(['12', '24']);
    expect(page?.annotations['steps']).toContain('read the status of an order first');
    expect(page?.annotations['dashboard_url']).toMatch(/^https:\/\/grafana\.example\.com\/d\//);
  });

  it('5. the page leads to its orders: its own query gives exactly its number', async () => {
    const { description = '', orders_sql: sql = '' } = pages('firing')[0]?.annotations ?? {};
    const found = await query<{ external_id: string }>(sql);
    expect(found).toHaveLength(Number(COUNTED.exec(description)?.[1]));
    const failing = new Set(bad);
    expect(found.filter(({ external_id }) => !failing.has(external_id))).toEqual([]);
  });

  it('6. and to a runbook, whose queries run as they stand', async () => {
    const runbook = readFileSync(RUNBOOK, 'utf8');
    expect(runbook).toContain('## First three steps');
    const [, sql = ''] = /```sql\n(.*?)```/s.exec(runbook) ?? [];
    const minutes = await query<{ affected: number; seen: number }>(sql);
    const sum = (column: 'affected' | 'seen') => minutes.reduce((total, row) => total + row[column], 0);
    expect({ affected: sum('affected'), seen: sum('seen') }).toEqual({ affected: 12, seen: 24 });
  });

  it('7. when it is over a notification says so, too, but not while it may come back', async () => {
    await fine(3, 400);
    await minutes.until(minute(7));
    expect(await evaluated()).toMatchObject({ state: 'Recovering', numbers: { breach: false } });
    expect(pages('resolved')).toEqual([]);
    await minutes.until(minute(8));
    await expect.poll(() => pages('resolved').length).toBe(1);
    const [over] = pages('resolved');
    expect(over?.labels).toEqual(pages('firing')[0]?.labels);
    expect(await states()).toEqual(['Pending', 'Alerting', 'Recovering', 'Normal']);
  });
});
