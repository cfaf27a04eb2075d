import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPaymentCounts } from '../../alerts/metrics/payment-counts.ts';
import { FAILING } from '../../schemas/measures.ts';
import { PAYMENT_METRICS, paymentName, type PaymentMetricKey } from '../../schemas/payment-metrics.ts';
import { createSandbox, type Sandbox } from '../../sandbox/server.ts';
import { createStore, type Store } from '../../store/store.ts';
import { type CollectorProcess, startCollectorProcess } from '../support/collector-process.ts';
import { freePort } from '../support/kafka-process.ts';
import { HAS_PROMETHEUS, type Prometheus, startPrometheus } from '../support/prometheus.ts';
import { writerSecret } from '../support/store-process.ts';
import { until } from '../support/until.ts';
import { untilSettled } from './support/gateway-account.ts';
import { gatewayConfig, UNTIL_ANSWERED } from './support/gateway.ts';

/**
 * One story: a gateway at work, two collectors on one store that both read every order and are both asked by
 * Prometheus, and one of them, whose store it is, killed in the middle. Then what PromQL says is what SQL
 * says. The collectors count once a minute; the test counts as well, at the same time and twice at once.
 */

const RECORDING = fileURLToPath(
  new URL('../../alerts/out/prometheus/gatewatch-recording.yaml', import.meta.url),
);
const ORDERS = 100;

describe.skipIf(!HAS_PROMETHEUS)('payment metrics in Prometheus', () => {
  let sandbox: Sandbox;
  let store: Store;
  let prometheus: Prometheus;
  const collectors: CollectorProcess[] = [];

  const sql = async (select: string): Promise<Record<string, number>> => {
    const rows = await store.query<{ key: string; n: number }>(select);
    return Object.fromEntries(rows.map(({ key, n }) => [key, Number(n)]));
  };
  const count = async (): Promise<void> => {
    const { pass } = createPaymentCounts({
      query: (text) => store.query(text),
      command: (text) => store.command(text),
    });
    const now = Date.now() * 1000;
    const all = async (): Promise<void> => {
      while (await pass(now)) continue;
    };
    await Promise.all([all(), all()]);
  };

  beforeAll(async () => {
    const [intake, other, storePort] = [await freePort(), await freePort(), await freePort()];
    sandbox = await createSandbox({
      seed: 'payment metrics',
      speed: 200,
      callbacks: { url: `http://127.0.0.1:${other}/callbacks/sandbox`, retryDelaysMs: UNTIL_ANSWERED },
      watchUrl: `http://127.0.0.1:${intake}/orders`,
    });
    for (const name of ['unknown_code', 'legacy_code'] as const)
      sandbox.faults.add({ name, probability: 0.05 });
    sandbox.faults.add({ name: 'callback_duplicate', probability: 0.3 });
    sandbox.faults.add({ name: 'callback_wrong_signature', probability: 0.1 });
    const gateways = [gatewayConfig(sandbox)];
    const first = {
      config: { collectorId: 'first', gateways, http: { port: intake }, embedded: { port: storePort } },
    };
    const started = await startCollectorProcess(first);
    const clickhouse = { url: started.store, username: 'gatewatch', password: writerSecret(started.dataDir) };
    const second = await startCollectorProcess({
      config: { collectorId: 'second', gateways, clickhouse, http: { port: other } },
    });
    store = createStore(clickhouse);
    prometheus = await startPrometheus([started.http, second.http], [RECORDING]);
    sandbox.setRate(10);
    await until('orders', sandbox.stats, ({ orders }) => orders.created >= ORDERS / 2);
    await count();
    await started.kill();
    const again = await startCollectorProcess({ ...first, folder: started.folder });
    collectors.push(again, second);
    await until('more orders', sandbox.stats, ({ orders }) => orders.created >= ORDERS);
    sandbox.setRate(0);
    await untilSettled(sandbox, again);
    await count();
  }, 300_000);
  afterAll(async () => {
    await prometheus?.[Symbol.asyncDispose]();
    await store?.close();
    for (const collector of collectors.toReversed()) await collector[Symbol.asyncDispose]();
    await sandbox?.stop();
  });

  /** Waits until what Prometheus has is what was counted last. */
  const agree = async (
    expr: string,
    labels: readonly string[],
    select: string,
  ): Promise<Record<string, number>> => {
    const expected = await sql(select);
    await expect.poll(() => prometheus.query(expr, labels)).toEqual(expected);
    return expected;
  };
  const order = `concat(gateway, '|', toString(order_type), '|', external_id)`;

  it('is asked in a format that it takes', async () => {
    await until('scrapes', prometheus.targets, (all) => all.every(({ health }) => health === 'up'));
    expect((await prometheus.targets()).map(({ lastError }) => lastError)).toEqual(['', '']);
  });

  it('has the orders of SQL by outcome, whatever was decided first', async () => {
    const total = 'gatewatch:payment_orders_total:max';
    const changes = 'gatewatch:payment_outcome_changes_total:max';
    const renamed = (label: string) =>
      `label_replace(sum by (${label}) (${changes}), "outcome", "$1", "${label}", "(.*)")`;
    const expected = await agree(
      `sum by (outcome) (${total} or -1 * ${renamed('from')} or ${renamed('to')})`,
      ['outcome'],
      `SELECT toString(outcome) AS key, count() AS n FROM orders WHERE outcome IS NOT NULL GROUP BY key`,
    );
    expect(Object.keys(expected).length).toBeGreaterThan(3);
    await agree(
      'sum(gatewatch:payment_orders_started_total:max)',
      [],
      `SELECT '' AS key, uniqExact(${order}) AS n FROM history_events`,
    );
  });

  it('has the failures of SQL by stage and reason, and the orders that came to a stage', async () => {
    const expected = await agree(
      'sum by (stage, reason_detail) (gatewatch:payment_failures_total:max{reason_detail!="other"})',
      ['stage', 'reason_detail'],
      `SELECT concat(toString(stage), '|', toString(reason_detail)) AS key, uniqExact(${order}) AS n FROM history_events
       WHERE ${FAILING} AND stage IS NOT NULL AND NOT startsWith(ifNull(reason_detail, ''), 'UNKNOWN') GROUP BY key`,
    );
    expect(Object.keys(expected).length).toBeGreaterThan(5);
    await agree(
      'sum by (stage) (gatewatch:payment_stage_orders_total:max)',
      ['stage'],
      `SELECT toString(stage) AS key, uniqExact(${order}) AS n FROM history_events WHERE stage IS NOT NULL GROUP BY key`,
    );
  });

  it('has the callbacks of SQL by verdict', async () => {
    const expected = await agree(
      'sum by (verdict) (gatewatch:payment_callbacks_total:max)',
      ['verdict'],
      `SELECT toString(verdict) AS key, count() AS n FROM callbacks GROUP BY key`,
    );
    expect(expected['mismatch']).toBeGreaterThan(0);
  });

  it('has the amounts of SQL by currency', async () => {
    const rounded = await prometheus.query(
      'round(sum by (currency) (gatewatch:payment_amount_total:max), 0.01)',
      ['currency'],
    );
    const expected = await sql(
      `SELECT ifNull(toString(currency), '') AS key, toFloat64(sum(amount)) AS n FROM orders WHERE outcome IS NOT NULL AND amount IS NOT NULL GROUP BY key`,
    );
    expect(Object.keys(expected).length).toBeGreaterThan(0);
    for (const [currency, amount] of Object.entries(expected))
      expect(rounded[currency]).toBeCloseTo(amount, 2);
  });

  it('measures each decided order once, and shows orders of it', async () => {
    await agree(
      'sum(gatewatch:payment_time_to_final_seconds_count:max)',
      [],
      `SELECT '' AS key, count() AS n FROM orders WHERE outcome IS NOT NULL`,
    );
    const traces = new Set(
      (await store.query<{ order: string }>(`SELECT DISTINCT ${order} AS order FROM history_events`)).map(
        ({ order: text }) => createHash('sha256').update(text).digest('hex').slice(0, 32),
      ),
    );
    const shown = await prometheus.exemplars('gatewatch_payment_time_to_final_seconds_bucket');
    expect(shown.length).toBeGreaterThan(3);
    expect(shown.filter((trace) => !traces.has(trace))).toEqual([]);
  });

  it('saw no counter go back, over the kill and at either collector', async () => {
    for (const key of Object.keys(PAYMENT_METRICS) as PaymentMetricKey[]) {
      const { kind } = PAYMENT_METRICS[key];
      for (const part of kind === 'histogram'
        ? ['_bucket', '_sum', '_count']
        : kind === 'counter'
          ? ['']
          : []) {
        const series = `${paymentName(key)}${part}`;
        expect([series, await prometheus.query(`sum(resets(${series}[15m])) > 0`)]).toEqual([series, {}]);
      }
    }
    const differing =
      'max without (instance) (gatewatch_payment_orders_total) != min without (instance) (gatewatch_payment_orders_total)';
    await expect.poll(() => prometheus.query(differing)).toEqual({});
  });

  it('counts nothing twice when it is counted again', async () => {
    const before = await prometheus.query('gatewatch:payment_stage_orders_total:max', [
      'stage',
      'order_type',
    ]);
    await count();
    await sleep(100);
    await count();
    expect(
      await prometheus.query('gatewatch:payment_stage_orders_total:max', ['stage', 'order_type']),
    ).toEqual(before);
  });
});
