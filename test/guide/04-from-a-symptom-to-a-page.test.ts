import { readFileSync, rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AlertLine } from '../../schemas/alert-line.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../alerts/support/webhook-receiver.ts';
import { folderWithRule } from './support/rules.ts';
import { GATEWAY, type Scene, startScene } from './support/scene.ts';

const RULE = 'GatewatchTechTimeouts';
/** The numbers in a page's description. */
const COUNTED = /: (\d+) of (\d+) orders/;
const RUNBOOK = new URL(`../../alerts/runbooks/${RULE}.md`, import.meta.url);

/**
 * FROM A SYMPTOM TO A PAGE
 *
 * Orders time out. When does somebody have to get up? Between the two there are these steps, each a folder
 * under `alerts/`:
 *
 *     rules/      the rule, as data: what is counted, from which share on, who has to act
 *     count/      distinct orders that show the symptom, out of those that were seen at the same place
 *     evaluate/   is it more than chance allows, and has it lasted: normal, pending, alerting, recovering
 *     explain/    the text: how many, of how many, since when, what to do first
 *     notify/     who is told, again and again until the receiver has accepted it
 *
 * The collector evaluates here what Grafana would: the generated rule itself, only with waits of seconds.
 */
describe('from a symptom to a page', () => {
  const rules = folderWithRule(RULE, { for: '4s', keepFiringFor: '2s' });
  let pager: WebhookReceiver;
  let scene: Scene;
  beforeAll(async () => {
    pager = await startWebhookReceiver();
    scene = await startScene({
      gateway: { poll: { delaysS: [1], rereadsS: [1], requestsPerSecond: 500, concurrency: 16 } },
      config: {
        alerts: {
          evaluate: true,
          rulesFolder: rules,
          webhook: { url: pager.url },
          externalUrl: 'https://grafana.example.com',
        },
      },
    });
  });
  afterAll(async () => {
    await scene[Symbol.asyncDispose]();
    await pager.stop();
    rmSync(rules, { recursive: true });
  });

  /** Orders that ended two minutes ago: windows end half a minute before now, so that rows have arrived. */
  const orders = async (count: number, status: string, action: string) => {
    const items = [
      { action: '1.1.1.00', offsetMs: -121_000 },
      { action, offsetMs: -120_000 },
    ];
    const made = Array.from({ length: count }, () => scene.gateway.seedOrder({ status, items }).externalId);
    await scene.watch(...made);
    return made;
  };
  const timedOut = (count: number) => orders(count, 'Failed', '2.2.4.11');
  const fine = (count: number) => orders(count, 'Processing', '2.1.1.00');
  const stored = async () =>
    (
      await scene.query<{ n: number }>(
        `SELECT uniqExact(external_id) AS n FROM history_events WHERE stage = 'GATEWAY_CREATE'`,
      )
    )[0]?.n;
  /** What the rule sees at the stage at which these orders fail. */
  const evaluated = async () => {
    const lines = JSON.parse(await scene.gatewatch('alerts', '--json')) as AlertLine[];
    return lines.find(({ rule, labels }) => rule === RULE && labels['stage'] === 'GATEWAY_CREATE');
  };
  const states = () =>
    scene.query<{ state: string }>(
      `SELECT state FROM alert_history WHERE rule = '${RULE}' ORDER BY changed_at, evaluated_at`,
    );
  const told = (status: string) =>
    pager.received.flatMap(({ body }) => body.alerts.filter((alert) => alert.status === status));

  let bad: string[];
  it('1. a few orders are no incident, even when all of them fail', async () => {
    bad = await timedOut(2);
    await expect.poll(stored).toBe(2);
    // Two of two is a share of 100 %, and two of two is nothing that anybody can judge.
    await expect.poll(evaluated).toMatchObject({ numbers: { affected: 2, seen: 2, breach: false } });
  });

  it('2. more than chance allows: the condition holds, and counts orders, not events', async () => {
    await fine(12);
    await expect.poll(stored).toBe(14);
    bad.push(...(await timedOut(10)));
    await expect.poll(stored).toBe(24);
    await expect.poll(evaluated).toMatchObject({
      rule: RULE,
      severity: 'critical',
      labels: { gateway: GATEWAY, stage: 'GATEWAY_CREATE' },
      numbers: { affected: 12, seen: 24, breach: true },
    });
  });

  it('3. it has to last: pending first, alerting after that', async () => {
    await expect.poll(async () => (await states()).map(({ state }) => state)).toContain('Alerting');
    const seen = (await states()).map(({ state }) => state);
    expect(seen.indexOf('Pending')).toBeGreaterThanOrEqual(0);
    expect(seen.indexOf('Pending')).toBeLessThan(seen.indexOf('Alerting'));
  });

  it('4. whoever is on call is told: how bad, whose side, what to do first', async () => {
    await expect.poll(() => told('firing').length).toBeGreaterThan(0);
    const [page] = told('firing');
    expect(page?.labels).toMatchObject({ alertname: RULE, severity: 'critical', side: 'provider' });
    expect(page?.annotations['summary']).toBe('The gateway does not answer in time.');
    // As known when it fired: not all of the orders need have been read by then.
    const [, affected, seen] = COUNTED.exec(page?.annotations['description'] ?? '') ?? [];
    expect(Number(affected) / Number(seen)).toBeGreaterThan(0.25);
    expect(page?.annotations['steps']).toContain('read the status of an order first');
    expect(page?.annotations['dashboard_url']).toMatch(/^https:\/\/grafana\.example\.com\/d\//);
  });

  it('5. the page leads to its orders: its own query gives exactly its number', async () => {
    const { description = '', orders_sql: sql = '' } = told('firing')[0]?.annotations ?? {};
    const found = await scene.query<{ external_id: string }>(sql);
    expect(found).toHaveLength(Number(COUNTED.exec(description)?.[1]));
    const failing = new Set(bad);
    expect(found.filter(({ external_id }) => !failing.has(external_id))).toEqual([]);
  });

  it('6. and to a runbook, whose queries run as they stand', async () => {
    const runbook = readFileSync(RUNBOOK, 'utf8');
    expect(runbook).toContain('## First three steps');
    const [, sql = ''] = /```sql\n(.*?)```/s.exec(runbook) ?? [];
    const minutes = await scene.query<{ affected: number; seen: number }>(sql);
    const sum = (column: 'affected' | 'seen') => minutes.reduce((total, row) => total + row[column], 0);
    expect({ affected: sum('affected'), seen: sum('seen') }).toEqual({ affected: 12, seen: 24 });
  });

  it('7. when it is over they are told that, too', async () => {
    await fine(400);
    await expect.poll(() => told('resolved').length).toBe(1);
    const [over] = told('resolved');
    expect(over?.labels).toEqual(told('firing')[0]?.labels);
    expect((await states()).at(-1)).toEqual({ state: 'Normal' });
  });
});
