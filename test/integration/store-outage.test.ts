import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSandbox, type Sandbox } from '../../sandbox/server.ts';
import { type CollectorProcess, startCollectorProcess } from '../support/collector-process.ts';
import { freePort } from '../support/kafka-process.ts';
import { startStoreProcess, type StoreProcess, writerSecret } from '../support/store-process.ts';
import { until } from '../support/until.ts';
import { historyOfGateway, historyOfView, untilSettled } from './support/gateway-account.ts';
import { gatewayConfig, signedCallback, UNTIL_ANSWERED } from './support/gateway.ts';

const POLL = { delaysS: [0.5, 1], maxDelayS: 2, jitter: 0, rereadsS: [0.5, 2], mergeCallbacksMs: 100 };

interface Reply {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly problem: Record<string, unknown>;
}

async function ask(url: string, init: RequestInit = {}): Promise<Reply> {
  const reply = await fetch(url, { signal: AbortSignal.timeout(8000), ...init });
  const text = await reply.text();
  const problem = text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {};
  return { status: reply.status, retryAfter: reply.headers.get('retry-after'), problem };
}

const post = (url: string, body: unknown, headers: Record<string, string> = {}) =>
  ask(url, {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers: { 'Content-Type': 'application/json', ...headers },
  });

describe('a collector whose ClickHouse is down when it starts, and again later', () => {
  let sandbox: Sandbox;
  let dataDir: string;
  let storePort: number;
  let store: StoreProcess;
  let collector: CollectorProcess;
  beforeAll(async () => {
    dataDir = await mkdtemp(path.join(tmpdir(), 'gatewatch-remote-'));
    storePort = await freePort();
    // Served once, so that it has a password to configure.
    store = await startStoreProcess(dataDir, storePort);
    await store.stop();
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    sandbox = await createSandbox({
      seed: 'outage',
      speed: 100,
      lateShare: 0,
      callbacks: { url: `${url}/callbacks/sandbox`, retryDelaysMs: UNTIL_ANSWERED },
      watchUrl: `${url}/orders`,
    });
    collector = await startCollectorProcess({
      config: {
        gateways: [gatewayConfig(sandbox, { poll: POLL })],
        clickhouse: {
          url: `http://127.0.0.1:${storePort}`,
          username: 'gatewatch',
          password: writerSecret(dataDir),
        },
        http: { port },
      },
      until: 'running',
    });
  });
  afterAll(async () => {
    await collector?.[Symbol.asyncDispose]();
    await store?.kill();
    await sandbox?.stop();
    await rm(dataDir, { recursive: true, force: true });
  });
  const callback = (externalId: string) => {
    const { body, signature } = signedCallback({ externalId }, sandbox.callbackKey);
    return post(`${collector.intake}/callbacks/sandbox`, body, { Signature: signature });
  };

  it('stays up, and says what it waits for and where', async () => {
    expect(await ask(`${collector.http}/healthz`)).toMatchObject({ status: 200 });
    expect(await ask(`${collector.http}/readyz`)).toMatchObject({
      status: 503,
      problem: { status: 'failing', problems: { store: expect.stringContaining('waiting for the store') } },
    });
    await until(
      'a warning',
      () => collector.logged('the store does not answer').length,
      (count) => count > 0,
    );
    expect(collector.logged('the store does not answer')[0]).toMatchObject({
      store: `http://127.0.0.1:${storePort}`,
      reason: expect.stringMatching(/refused/i),
    });
  });

  it('asks the gateway to send its callbacks again later, and callers to ask again', async () => {
    expect(await callback('early')).toMatchObject({
      status: 503,
      retryAfter: expect.stringMatching(/^\d+$/),
    });
    const order = { orderType: 'Deposit', externalId: 'early' };
    expect(await post(`${collector.http}/orders`, order)).toMatchObject({ status: 503, retryAfter: '5' });
    expect(await ask(`${collector.http}/orders/early`)).toMatchObject({ status: 503 });
  });

  it("begins by itself once the store answers, with the gateway's callbacks of the time before", async () => {
    sandbox.setRate(6);
    await until(
      'a callback to be turned back',
      () => sandbox.stats().callbacks.retried,
      (count) => count > 0,
    );
    store = await startStoreProcess(dataDir, storePort);
    const ready = async () => (await ask(`${collector.http}/readyz`)).status;
    await until('ready', ready, (status) => status === 200);
    await expect.poll(() => sandbox.stats().callbacks.acknowledged).toBeGreaterThan(10);
  });

  it('turns callbacks back with 503 while the store is down in mid-run, and does not die of it', async () => {
    await store.kill();
    const ready = async () => (await ask(`${collector.http}/readyz`)).problem;
    await until('readyz to say so', ready, (problem) => JSON.stringify(problem).includes('store'));
    await until(
      '503',
      async () => (await callback('in-between').catch(() => null))?.status,
      (s) => s === 503,
    );
    expect(await callback('in-between')).toMatchObject({
      status: 503,
      retryAfter: expect.stringMatching(/^\d+$/),
    });
    expect(await ask(`${collector.http}/healthz`)).toMatchObject({ status: 200 });
  });

  it('recovers by itself when it is back: nothing is lost, nothing is doubled', async () => {
    store = await startStoreProcess(dataDir, storePort);
    await until(
      'ready',
      async () => (await ask(`${collector.http}/readyz`)).status,
      (status) => status === 200,
    );
    sandbox.setRate(0);
    await untilSettled(sandbox, store);
    expect(await historyOfView(store)).toEqual(historyOfGateway(sandbox, 'sandbox'));
    const [callbacks] = await store.query<{ deliveries: number }>(
      `SELECT sum(deliveries) AS deliveries FROM callbacks WHERE external_id NOT IN ('early', 'in-between')`,
    );
    expect(callbacks?.deliveries).toBeGreaterThanOrEqual(sandbox.stats().callbacks.acknowledged);
  });

  it('stops within 10 seconds and with exit code 0 when asked to, the store being down again', async () => {
    const watching = sandbox.seedOrder({ items: [{ action: '1.1.1.00', offsetMs: -10 }] });
    await post(`${collector.http}/orders`, { orderType: 'Deposit', externalId: watching.externalId });
    await store.kill();
    await until(
      'a poll whose rows cannot be stored',
      async () => (await ask(`${collector.http}/readyz`)).status,
      (status) => status === 503,
    );
    const startedMs = performance.now();
    expect(await collector.stop()).toBe(0);
    const elapsedMs = performance.now() - startedMs;
    console.log(`stopped in ${Math.round(elapsedMs)} ms with the store down`);
    expect(elapsedMs).toBeLessThan(10_000);
  });
});
