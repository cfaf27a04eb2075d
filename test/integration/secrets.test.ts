import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CollectorProcess, startCollectorProcess } from '../support/collector-process.ts';
import { useKafka } from '../support/kafka-broker.ts';
import { produce, uniqueName } from '../support/kafka-topics.ts';
import { writerSecret } from '../support/store-process.ts';
import { until } from '../support/until.ts';
import {
  CARD,
  DASHED,
  found,
  hostileCallbacks,
  KEY,
  PREVIOUS_KEY,
  REPLIES,
  SPACED,
  TOKEN,
} from './support/card-data.ts';
import { FAST_POLL, signedCallback } from './support/gateway.ts';

const kafka = await useKafka();

describe('secrets and card data', () => {
  const topics = { callbacks: uniqueName('callbacks'), orders: uniqueName('orders') };
  let folder: string;
  let gateway: Server;
  let telemetry: Server;
  let collector: CollectorProcess;
  const telemetryBodies: string[] = [];
  const asked = new Set<string>();
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'gatewatch-secrets-'));
    gateway = await listen((request, response) => {
      const id = /\/([^/]+)\/status/.exec(request.url ?? '')?.[1] ?? '';
      asked.add(id);
      const answer = REPLIES[id];
      if (request.headers.authorization !== `Bearer ${TOKEN}`) response.writeHead(401).end();
      else if (typeof answer === 'function') answer(response);
      else response.writeHead(answer === undefined ? 404 : 200).end(answer);
    });
    telemetry = await listen(async (request, response) => {
      const body = await buffer(request);
      const plain = request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
      telemetryBodies.push(plain.toString('latin1'));
      response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
    });
    const secret = async (name: string, text: string) => {
      await writeFile(path.join(folder, name), text);
      return `\${file:${path.join(folder, name)}}`;
    };
    const telemetryUrl = urlOf(telemetry);
    const poll = { ...FAST_POLL, delaysS: [0.5], rereadsS: [1] };
    collector = await startCollectorProcess({
      folder,
      config: {
        gateways: [
          {
            name: 'acme',
            secureUrl: urlOf(gateway),
            token: await secret('token', TOKEN),
            callbackKeys: [await secret('key', KEY), await secret('previous-key', PREVIOUS_KEY)],
            poll,
          },
        ],
        ...(kafka.available
          ? {
              kafka: {
                brokers: [...kafka.brokers],
                groupId: uniqueName('group'),
                callbackTopics: [topics.callbacks],
                watchTopic: topics.orders,
                createTopics: true,
              },
            }
          : {}),
        log: { level: 'trace' },
      },
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: telemetryUrl, OTEL_METRIC_EXPORT_INTERVAL: '1000' },
    });
    await readOrders();
    await sendCallbacks();
    if (kafka.available) await produceMessages(kafka.brokers);
    await untilAllIsStored();
    // Metrics and spans of the last moment leave at the stop; the store is then looked at through a second
    // run.
    await collector.stop();
  });
  afterAll(async () => {
    await collector?.[Symbol.asyncDispose]();
    gateway?.close();
    telemetry?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const post = (url: string, body: string, headers: Record<string, string> = {}) =>
    fetch(url, { method: 'POST', body, headers: { 'Content-Type': 'application/json', ...headers } });

  async function readOrders(): Promise<void> {
    const known = Object.keys(REPLIES).map((externalId) => ({ orderType: 'Deposit', externalId }));
    expect((await post(`${collector.http}/orders`, JSON.stringify(known))).status).toBe(202);
    for (const field of ['orderType', 'channel', 'amount', 'currency', 'gateway']) {
      const body = { orderType: 'Deposit', externalId: `watch-${field}`, [field]: CARD };
      await post(`${collector.http}/orders`, JSON.stringify(body));
    }
    await post(`${collector.http}/orders`, `{"externalId":"${CARD}`);
    await fetch(`${collector.http}/orders/${CARD}?gateway=${encodeURIComponent(SPACED)}&type=${DASHED}`);
  }

  async function sendCallbacks(): Promise<void> {
    const intake = `${collector.intake}/callbacks/acme`;
    for (const { body, headers } of hostileCallbacks())
      expect((await post(intake, body, headers)).status).toBe(200);
    expect((await post(`${collector.intake}/callbacks/${CARD}`, CARD)).status).toBe(404);
    expect((await post(intake, CARD.repeat(20_000))).status).toBe(413);
  }

  async function produceMessages(brokers: readonly string[]): Promise<void> {
    const callbacks = hostileCallbacks().map(({ body, headers }) => ({ key: CARD, value: body, headers }));
    const { body, signature } = signedCallback({ externalId: 'good' }, KEY);
    await produce(brokers, topics.callbacks, [
      ...callbacks,
      { key: CARD, value: body, headers: { Signature: signature, 'delivery-id': CARD } },
      { key: CARD, value: body, headers: { Signature: signature, gateway: SPACED } },
    ]);
    await produce(brokers, topics.orders, [
      { key: CARD, value: `{"externalId":"${CARD}` },
      { key: CARD, value: JSON.stringify({ orderType: CARD, externalId: 'good' }) },
      { key: CARD, value: JSON.stringify({ orderType: 'Deposit', externalId: 'good', gateway: DASHED }) },
      {
        key: CARD,
        value: JSON.stringify({ orderType: 'Deposit', externalId: 'marked', channel: SPACED }),
      },
      { key: CARD, value: JSON.stringify({ orderType: 'Deposit', externalId: 'last' }) },
    ]);
  }

  async function untilAllIsStored(): Promise<void> {
    const wanted = [...Object.keys(REPLIES), ...(kafka.available ? ['last'] : [])];
    await until(
      'every order to be read',
      () => wanted.filter((id) => !asked.has(id)),
      (missing) => missing.length === 0,
    );
    const counts = async () =>
      (
        await collector.query<{ callbacks: number; rejects: number }>(
          `SELECT (SELECT sum(deliveries) FROM callbacks) AS callbacks,
                  (SELECT uniqExact(reason) FROM rejects) AS rejects`,
        )
      )[0] ?? { callbacks: 0, rejects: 0 };
    const deliveries = hostileCallbacks().length * (kafka.available ? 2 : 1) + (kafka.available ? 1 : 0);
    await until(
      'every callback to be stored',
      counts,
      ({ callbacks, rejects }) => callbacks >= deliveries && rejects >= 5,
    );
    await until(
      'telemetry',
      () => telemetryBodies.length,
      (count) => count > 1,
    );
  }

  it('reach no log line, at the most talkative level', () => {
    expect(collector.output().length).toBeGreaterThan(1000);
    expect(found(collector.output())).toEqual([]);
  });

  it('reach no span and no metric that is sent', () => {
    const text = telemetryBodies.join('\n');
    expect(text).toContain('payment.external_id');
    expect(text).toContain('gatewatch');
    expect(found(text)).toEqual([]);
  });

  it('reach no row of any table, no metric at /metrics, and no answer', async () => {
    collector = await startCollectorProcess({
      folder,
      config: JSON.parse(await readFile(collector.configFile, 'utf8')),
    });
    const secret = writerSecret(path.join(folder, 'data'));
    const asWriter = async (sql: string) => {
      const headers = { 'X-ClickHouse-User': 'gatewatch', 'X-ClickHouse-Key': secret };
      const answer = await fetch(collector.store, { method: 'POST', body: sql, headers });
      return Buffer.from(await answer.arrayBuffer()).toString('latin1');
    };
    const tables = (await asWriter(`SELECT name FROM system.tables WHERE database = 'gatewatch'`))
      .trim()
      .split('\n');
    expect(tables.length).toBeGreaterThan(15);
    const dump: Record<string, string> = {};
    for (const table of tables)
      dump[table] = await asWriter(`SELECT * FROM gatewatch.${table} FORMAT TSVRaw`);
    // Every kind of row is there, so that looking through them means something.
    const kinds = ['history_events', 'orders', 'callbacks', 'polls', 'rejects', 'order_watch'];
    expect(kinds.filter((table) => (dump[table]?.length ?? 0) < 100)).toEqual([]);
    const leaks = Object.entries(dump).flatMap(([table, text]) =>
      found(text).map((one) => `${table}: ${one}`),
    );
    expect(leaks).toEqual([]);
    for (const address of ['/metrics', '/readyz', '/orders/good', '/orders/in-status']) {
      expect(found(await (await fetch(`${collector.http}${address}`)).text())).toEqual([]);
    }
    expect(found(collector.output(), [secret])).toEqual([]);
  });

  it('reach no file of the data folder', async () => {
    // At rest: while it runs, files come and go.
    expect(await collector.stop()).toBe(0);
    const data = path.join(folder, 'data');
    const files = (await readdir(data, { recursive: true, withFileTypes: true })).filter((entry) =>
      entry.isFile(),
    );
    expect(files.length).toBeGreaterThan(50);
    for (const { parentPath, name } of files) {
      const text = (await readFile(path.join(parentPath, name))).toString('latin1');
      expect({ [name]: found(text) }).toEqual({ [name]: [] });
    }
  });
});

async function listen(
  handle: (request: IncomingMessage, response: ServerResponse) => unknown,
): Promise<Server> {
  const server = createServer((request, response) => void handle(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

function urlOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
