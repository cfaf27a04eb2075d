import { afterAll, beforeAll, expect, it } from 'vitest';
import { createFindings } from '../../alerts/findings/sweep.ts';
import { createSandbox, type Sandbox } from '../../sandbox/server.ts';
import { createStore, type Store } from '../../store/store.ts';
import { type CollectorProcess, startCollectorProcess } from '../support/collector-process.ts';
import { freePort } from '../support/kafka-process.ts';
import { writerSecret } from '../support/store-process.ts';
import { until } from '../support/until.ts';
import { untilSettled } from './support/gateway-account.ts';
import { gatewayConfig, UNTIL_ANSWERED } from './support/gateway.ts';
import { reportedLater } from './support/later.ts';

/**
 * Nothing is found where nothing is wrong: orders of all scenarios, most with late items, callbacks twice and
 * in another order, and two collectors on one store that both read every order.
 */

const ORDERS = 120;

let sandbox: Sandbox;
let store: Store;
const collectors: CollectorProcess[] = [];

beforeAll(async () => {
  const [intake, other] = [await freePort(), await freePort()];
  sandbox = await createSandbox({
    seed: 'healthy',
    speed: 200,
    lateShare: 0.8,
    callbacks: { url: `http://127.0.0.1:${intake}/callbacks/sandbox`, retryDelaysMs: UNTIL_ANSWERED },
    watchUrl: `http://127.0.0.1:${other}/orders`,
  });
  const gateways = [gatewayConfig(sandbox)];
  const first = await startCollectorProcess({
    config: { collectorId: 'first', gateways, http: { port: intake } },
  });
  collectors.push(first);
  const clickhouse = { url: first.store, username: 'gatewatch', password: writerSecret(first.dataDir) };
  collectors.push(
    await startCollectorProcess({
      config: { collectorId: 'second', gateways, clickhouse, http: { port: other } },
    }),
  );
  store = createStore(clickhouse);
  sandbox.faults.add({ name: 'callback_duplicate', probability: 0.3 });
  sandbox.faults.add({ name: 'callback_delayed', probability: 0.3, delayMs: 1_000 });
  sandbox.setRate(10);
  await until(
    'orders',
    () => sandbox.stats().orders.created,
    (created) => created >= ORDERS,
  );
  sandbox.setRate(0);
  await untilSettled(sandbox, first);
}, 300_000);
afterAll(async () => {
  await store?.close();
  for (const collector of collectors.toReversed()) await collector[Symbol.asyncDispose]();
  await sandbox?.stop();
});

it('finds nothing about orders whose sources agree, however often they are compared', async () => {
  const [judged] = await store.query<{ orders: number; called: number; readers: number }>(
    `SELECT (SELECT count() FROM settlements_store FINAL) AS orders, (SELECT uniqExact(external_id) FROM callbacks WHERE status IN ('Success', 'Failed')) AS called, (SELECT uniqExact(collector_id) FROM polls) AS readers`,
  );
  expect(Number(judged?.orders)).toBeGreaterThan(ORDERS / 2);
  expect(Number(judged?.called)).toBeGreaterThan(ORDERS / 2);
  expect(Number(judged?.readers)).toBe(2);
  const later = await reportedLater(store, 'sandbox');
  const compare = async (): Promise<void> => {
    const findings = createFindings({
      query: (sql) => store.query(sql),
      command: (sql) => store.command(sql),
    });
    while (await findings.sweep(later)) continue;
  };
  await compare();
  await store.command('TRUNCATE TABLE jobs_store');
  await Promise.all([compare(), compare()]);
  const rows = await store.query(
    `SELECT external_id, kind, subject, expected, received, toString(evidence) AS evidence FROM findings WHERE kind != 'STUCK_PROCESSING'`,
  );
  expect(rows).toEqual([]);
  // Some orders of the sandbox are never decided, and that is found.
  const pending = sandbox.orders().filter(({ outcome }) => outcome === 'pending');
  const stuck = await store.query<{ external_id: string }>('SELECT external_id FROM findings');
  expect(stuck.filter(({ external_id: id }) => !pending.some(({ externalId }) => externalId === id))).toEqual(
    [],
  );
}, 120_000);
