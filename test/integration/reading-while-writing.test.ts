import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ClickHouseLogLevel, createClient, type ClickHouseClient } from '@clickhouse/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSandbox, type Sandbox } from '../../sandbox/server.ts';
import { TABLES, VIEWS } from '../../schemas/names.ts';
import { freePort } from '../support/kafka-process.ts';
import {
  type CollectorProcess,
  readerPassword,
  startCollectorProcess,
} from '../support/collector-process.ts';
import { gatewayConfig } from './support/gateway.ts';

const run = promisify(execFile);

describe('the embedded store, while the collector writes into it', () => {
  let sandbox: Sandbox;
  let collector: CollectorProcess;
  let reader: ClickHouseClient;
  beforeAll(async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    sandbox = await createSandbox({
      speed: 60,
      callbacks: { url: `${url}/callbacks/sandbox` },
      watchUrl: `${url}/orders`,
    });
    collector = await startCollectorProcess({
      config: { gateways: [gatewayConfig(sandbox)], http: { port } },
    });
    sandbox.setRate(10);
    reader = connect('gatewatch_reader', readerPassword(collector.dataDir));
  });
  afterAll(async () => {
    await reader.close();
    await sandbox.stop();
    await collector[Symbol.asyncDispose]();
  });

  // Refusals are expected here and need not be printed.
  const connect = (username: string, password: string) =>
    createClient({
      url: collector.store,
      username,
      password,
      database: 'gatewatch',
      log: { level: ClickHouseLogLevel.OFF },
    });
  const count = async (view: string) => {
    const result = await reader.query({ query: `SELECT count() AS n FROM ${view}`, format: 'JSONEachRow' });
    const [row] = await result.json<{ n: number }>();
    return row?.n ?? 0;
  };
  const growing = async (view: string) => {
    const before = await count(view);
    await expect.poll(() => count(view)).toBeGreaterThan(before);
  };

  it('is read by an unmodified @clickhouse/client, which sees rows arrive', async () => {
    for (const view of ['history_events', 'orders', 'callbacks', 'polls']) await growing(view);
    const result = await reader.query({
      query: `SELECT state, count() AS n FROM history_events WHERE action = {action: String} GROUP BY state`,
      query_params: { action: '1.1.1.00' },
      format: 'JSONEachRow',
    });
    expect(await result.json()).toEqual([{ state: 'CREATED', n: expect.any(Number) }]);
  });

  it('streams a result to that client while rows go on arriving', async () => {
    const stream = await reader.query({
      query: 'SELECT external_id, action, event_time FROM history_events ORDER BY event_time',
      format: 'JSONEachRow',
    });
    let rows = 0;
    for await (const chunk of stream.stream()) rows += chunk.length;
    expect(rows).toBeGreaterThan(0);
    await growing('history_events');
  });

  it('is read by curl', async () => {
    const { stdout } = await run('curl', [
      '--silent',
      '--fail-with-body',
      '--user',
      `gatewatch_reader:${readerPassword(collector.dataDir)}`,
      `${collector.store}/?database=gatewatch`,
      '--data-binary',
      "SELECT count() > 0, uniqExact(gateway), any(gateway) FROM orders WHERE status != ''",
    ]);
    expect(stdout).toBe('1\t1\tsandbox\n');
  });

  it('shows the reader every view', async () => {
    const views = Object.values(VIEWS);
    const readable = await Promise.all(views.map((view) => count(view).then(() => view)));
    expect(readable).toEqual(views);
  });

  it('shows the reader none of the tables behind the views, nor what the collector keeps for itself', async () => {
    const errors = await Promise.all(
      [...Object.values(TABLES), 'orders_store'].map((table) =>
        reader.query({ query: `SELECT * FROM gatewatch.${table} LIMIT 1` }).then(
          () => `${table} was read`,
          (error: { type?: string }) => error.type,
        ),
      ),
    );
    expect([...new Set(errors)]).toEqual(['ACCESS_DENIED']);
  });

  it('lets the reader change nothing', async () => {
    const before = await count('annotations');
    const attempts = [
      `INSERT INTO gatewatch.annotations_store (annotation_id) VALUES ('a')`,
      'DROP VIEW gatewatch.orders',
      'DROP DATABASE gatewatch',
      'TRUNCATE TABLE gatewatch.orders_store',
      'ALTER TABLE gatewatch.orders_store DELETE WHERE 1',
      'CREATE TABLE gatewatch.mine (a UInt8) ORDER BY a',
      'OPTIMIZE TABLE gatewatch.orders_store FINAL',
      'SYSTEM STOP MERGES',
      "SELECT 1 INTO OUTFILE '/tmp/gatewatch-should-not-exist'",
    ];
    const done = await Promise.all(
      attempts.map((query) =>
        reader.command({ query }).then(
          () => query,
          () => null,
        ),
      ),
    );
    expect(done.filter((query) => query !== null)).toEqual([]);
    expect(await count('annotations')).toBe(before);
    await growing('orders');
  });

  it('lets nobody write who does not have the secret', async () => {
    for (const password of ['', 'guess']) {
      const intruder = connect('gatewatch', password);
      await expect(intruder.query({ query: 'SELECT 1' })).rejects.toMatchObject({
        type: 'AUTHENTICATION_FAILED',
      });
      await intruder.close();
    }
  });

  it('holds what was collected all that while, and the collector has nothing to complain of', async () => {
    sandbox.setRate(0);
    const stored = async () => (await count('orders')) >= sandbox.stats().orders.created;
    await expect.poll(stored).toBe(true);
    expect(await count('rejects')).toBe(0);
    expect(collector.output()).not.toMatch(/"level":"(warn|error|fatal)"/);
  });
});
