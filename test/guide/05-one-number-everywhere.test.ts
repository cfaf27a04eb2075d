import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fileURLToPath } from 'node:url';
import { evaluateRule } from '../support/grafana/evaluate-rule.ts';
import { loadRules } from '../support/grafana/rule-file.ts';
import type { AlertLine } from '../../schemas/alert-line.ts';
import type { PanelAnswer } from '../../schemas/console.ts';
import { expandPanelSql } from '../support/macros.ts';
import { until } from '../support/until.ts';
import { overviewPanel } from './support/panels.ts';
import { GATEWAY, gatewatch, type Scene, startScene } from './support/scene.ts';

const RULE = 'GatewatchTechTimeouts';
const OUT = fileURLToPath(new URL('../../alerts/out/provisioning/alerting', import.meta.url));
const ruleFile = () => loadRules(OUT).find(({ title }) => title === RULE) ?? expect.fail(`no rule ${RULE}`);

/**
 * ONE NUMBER EVERYWHERE
 *
 * A panel says 50 %, the page says 48 %, and the analyst's query says 31 %: then nobody believes any of them.
 * Three habits keep that from happening:
 *
 *     one dictionary     A code means the same in a row, a span, a panel, a rule and a document, because all
 *                        of them are made from `schemas/dictionary.ts`.
 *     one definition     A measure is SQL text in `schemas/measures.ts` or `alerts/count/`. Panels, rules and
 *                        queries are put together from that text. Nothing counts by itself.
 *     one evaluation     What an alert rule sees is worked out once a minute, by one collector, and written to
 *                        `alert_evaluations`. Pages, Grafana, panels and commands read that row.
 *
 * Here are 24 orders, of which twelve timed out. This page asks everybody for the same two numbers.
 */
describe('one number everywhere', () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await startScene({ gateway: { poll: { delaysS: [0.5], rereadsS: [1, 2] } } });
    const order = (status: string, action: string) =>
      scene.gateway.seedOrder({
        status,
        items: [
          { action: '1.1.1.00', offsetMs: -122_000 },
          { action: status === 'Failed' ? '1.1.1.00' : '2.1.1.00', offsetMs: -121_000 },
          { action, offsetMs: -120_000 },
        ],
      }).externalId;
    const ids = Array.from({ length: 12 }, () => [order('Failed', '2.2.4.11'), order('Success', '4.1.3.00')]);
    await scene.watch(...ids.flat());
    const settled = () =>
      scene.query<{ n: number }>(`SELECT countIf(settled_at IS NOT NULL) AS n FROM orders`);
    await until('24 orders to be settled', settled, ([row]) => row?.n === 24);
  });
  afterAll(() => scene[Symbol.asyncDispose]());

  /** The last quarter of an hour, in one bucket. */
  const range = () => {
    const now = Date.now();
    return { from: new Date(now - 900_000), to: new Date(now), intervalMs: 1e12 };
  };
  const everything = { gateway: 'all', order_type: 'all', channel: 'all' } as const;
  const panel = (title: string) => scene.query(expandPanelSql(overviewPanel(title).sql, range(), everything));
  /** What a page would say of the stage at which the orders fail: the newest evaluation, one a minute. */
  const newest = async () => {
    const lines = JSON.parse(await scene.gatewatch('alerts', '--json')) as AlertLine[];
    return lines.find(({ rule, labels }) => rule === RULE && labels['stage'] === 'GATEWAY_CREATE');
  };
  const page = () => until('an evaluation to have all orders', newest, (line) => line?.numbers?.seen === 24);

  it('1. one word: a code is called the same by the command line, the rows and the documents', async () => {
    const decoded: unknown = JSON.parse(await gatewatch('decode', '2.2.4.11', '--json'));
    expect(decoded).toMatchObject({ reasonGroup: 'TECH', reasonDetail: 'TIMEOUT' });
    const stored = await scene.query(
      `SELECT DISTINCT reason_group, reason_detail FROM history_events WHERE action = '2.2.4.11'`,
    );
    expect(stored).toEqual([{ reason_group: 'TECH', reason_detail: 'TIMEOUT' }]);
    const reference = readFileSync(new URL('../../docs/reference/codes.md', import.meta.url), 'utf8');
    expect(reference).toContain('| 11 | `TECH` | `TIMEOUT` |');
  });

  it('2. a number counts orders: reading them again and again adds nothing to it', async () => {
    const [counted] = await scene.query<{ rows: number; polls: number }>(
      `SELECT (SELECT count() FROM history_events) AS rows, (SELECT count() FROM polls) AS polls`,
    );
    // Three items an order, each there once, although every order was read twice at least.
    expect(counted?.rows).toBe(72);
    expect(counted?.polls).toBeGreaterThanOrEqual(48);
  });

  it('3. the analyst counts 12 of 24', async () => {
    const sql = `SELECT uniqExact(gateway, order_type, external_id) AS seen,
        uniqExactIf(gateway, order_type, external_id, reason_code = 11) AS affected
      FROM history_events WHERE stage IN ('GATEWAY_CREATE', 'CHECK')`;
    expect(await scene.query(sql)).toEqual([{ seen: 24, affected: 12 }]);
  });

  it('4. so does the page for analysts: half of what finished is a technical success', async () => {
    const page = readFileSync(new URL('../../docs/sql.md', import.meta.url), 'utf8');
    const [, sql = ''] = /```sql\n(SELECT[^`]*technical_success,[^`]*)```/.exec(page) ?? [];
    const hours = await scene.query<{ finished: number; technical_success: number }>(sql);
    const finished = hours.reduce((sum, hour) => sum + hour.finished, 0);
    const good = hours.reduce((sum, hour) => sum + hour.finished * hour.technical_success, 0);
    expect({ finished, share: good / finished }).toEqual({ finished: 24, share: 0.5 });
  });

  it('5. so does Grafana: the SQL of its panels, as Grafana sends it', async () => {
    expect(await panel('Technical success')).toEqual([{ technical_success: 0.5, finished_orders: 24 }]);
    expect(await panel('Orders with failures, by reason group')).toMatchObject([
      { reason_group: 'TECH', orders: 12 },
    ]);
  });

  it('6. so does the console: it asks by the name of the panel, and no SQL crosses the wire', async () => {
    const { id } = overviewPanel('Technical success');
    const { from, to } = range();
    const request = {
      dashboard: 'gatewatch-overview',
      panel: id,
      from: from.getTime(),
      to: to.getTime(),
      variables: {},
    };
    const reply = await fetch(`${scene.collector.http}/console/api/query`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(request),
    });
    const { frames } = (await reply.json()) as PanelAnswer;
    const value = (name: string) => frames[0]?.columns.find((column) => column.name === name)?.values[0];
    expect([value('technical_success'), value('finished_orders')]).toEqual([0.5, 24]);
  });

  it('7. so does the page, and whoever else reads what the rule saw: it is evaluated once and written down', async () => {
    const { labels, numbers } = (await page()) ?? {};
    expect(labels).toEqual({ gateway: GATEWAY, stage: 'GATEWAY_CREATE' });
    expect(numbers).toMatchObject({ affected: 12, seen: 24, share: 0.5, breach: true });
    const asOf = numbers?.asOf ?? 0;
    const seen = { affected: 12, seen: 24, limit: numbers?.limit };
    // The row that everybody reads.
    const [row] = await scene.query<{ window_from: string; window_to: string }>(
      `SELECT affected, seen, limit, window_from, window_to FROM alert_evaluations
       WHERE rule = '${RULE}' AND gateway = '${GATEWAY}' AND slice = '' AND label = 'GATEWAY_CREATE' AND as_of = ${asOf / 1000}`,
    );
    expect(row).toMatchObject(seen);
    // Grafana, by the generated file of the rule.
    const { instances } = await evaluateRule(ruleFile(), { now: new Date(asOf), query: scene.table });
    const grafana = instances.find((one) => one.labels['stage'] === 'GATEWAY_CREATE');
    expect(grafana).toMatchObject({ labels, firing: true, values: seen });
    // A panel of a dashboard, and of the console.
    const shown = await panel('What the rules saw last');
    expect(shown.find((one) => one['rule'] === RULE && one['label'] === 'GATEWAY_CREATE')).toMatchObject({
      incident: 1,
      affected_orders: 12,
      seen_orders: 24,
      rule_limit: seen.limit,
    });
    // The orders behind it.
    const orders = await scene.query(
      `SELECT DISTINCT external_id FROM incident_orders(rule = '${RULE}', gateway = '${GATEWAY}',
         from = '${row?.window_from}', to = '${row?.window_to}', as_of = '${asOf / 1000}')
       WHERE label = 'GATEWAY_CREATE'`,
    );
    expect(orders).toHaveLength(12);
  });

  it('8. and nobody counts what cannot be seen: a window ends where the gateway was seen last', async () => {
    const [status] = await scene.query<{ behind: number }>(
      `SELECT dateDiff('second', max(watermark_at), now64(6)) AS behind FROM gateway_status`,
    );
    const line = await page();
    const windowEnd = (line?.numbers?.windowTo ?? 0) / 1000;
    expect(status?.behind).toBeDefined();
    // Half a minute before now at the latest, so that what is on its way has arrived.
    expect(windowEnd).toBeLessThanOrEqual(Date.now() / 1000 - 30);
  });
});
