import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { BackfillResult } from '../../../operate/backfill/backfill.ts';
import { createSandbox, type Sandbox } from '../../../sandbox/server.ts';
import { gatewayConfig } from '../../integration/support/gateway.ts';
import { type CollectorProcess, startCollectorProcess } from '../../support/collector-process.ts';
import { useKafka } from '../../support/kafka-broker.ts';
import { freePort } from '../../support/kafka-process.ts';
import { createTopic, uniqueName, withAdmin } from '../../support/kafka-topics.ts';
import { until } from '../../support/until.ts';
import { cli, cliOnTerminal } from './support/cli.ts';

const kafka = await useKafka();
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gatewatch-backfill-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function file(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}

type Summary = BackfillResult & { by: string | null };
async function backfill(args: readonly string[], env: Record<string, string> = {}, input?: string) {
  const { code, stdout, stderr } = await cli(['backfill', '--json', ...args], {
    env,
    ...(input === undefined ? {} : { input }),
  });
  return { code, stderr, summary: (stdout === '' ? null : JSON.parse(stdout)) as Summary | null };
}

describe('a dry run', () => {
  test('reports bad lines, changes nothing and exits with 1 when there is one', async () => {
    const path = await file(
      'dry.csv',
      'orderType,externalId\nDeposit,a\nRefund,b\nDeposit,4111111111111111;x\n',
    );
    const { code, stderr, summary } = await backfill([path, '--dry-run']);
    expect(summary).toMatchObject({ lines: 3, taken: 1, refused: 2, by: null });
    expect(stderr).toBe(
      'line 3: orderType: expected "Deposit" or "Withdrawal", received "Refund"\n' +
        'line 4: externalId: expected an id of letters, digits and . _ : / + = | # -, and no web address, received a text like ~9.a:18\n',
    );
    expect(code).toBe(1);
    expect(existsSync(`${path}.backfill.json`)).toBe(false);
  });

  test.each([
    ['UTF-16, little end first', (text: string) => Buffer.from(`\u{feff}${text}`, 'utf16le')],
    ['UTF-16, big end first', (text: string) => Buffer.from(`\u{feff}${text}`, 'utf16le').swap16()],
    ['UTF-8 with a mark', (text: string) => Buffer.from(`\u{feff}${text}`)],
  ])('reads %s', async (_name, encoded) => {
    const path = await file('encoded.csv', '');
    await writeFile(path, encoded('sep=;\r\norderType;externalTransactionId\r\nDeposit;Größe 1\r\n'));
    const { code, summary } = await backfill([path, '--dry-run']);
    expect([code, summary]).toMatchObject([0, { lines: 1, taken: 1, refused: 0 }]);
  });

  test('says on a terminal what people want to know', async () => {
    const path = await file('fine.csv', 'orderType,externalId\nDeposit,a\nDeposit,b\n');
    const { code, stdout } = await cliOnTerminal(['backfill', path, '--dry-run']);
    expect(stdout).toContain('2 good orders. Nothing was handed over.');
    expect(code).toBe(0);
  });

  test.each([
    ['that is not there', 'missing.csv', /missing.csv: cannot be read \(ENOENT\)/],
    ['that is a folder', '.', /is not a file/],
  ])('of a file %s exits with 2', async (_what, name, message) => {
    const { code, stderr } = await backfill([join(folder, name), '--dry-run']);
    expect(stderr).toMatch(message);
    expect(code).toBe(2);
  });
});

describe('with a running collector', () => {
  let sandbox: Sandbox;
  let collector: CollectorProcess;
  let env: Record<string, string>;
  beforeAll(async () => {
    sandbox = await createSandbox();
    collector = await startCollectorProcess({
      config: {
        gateways: [gatewayConfig(sandbox, { poll: { requestsPerSecond: 200, delaysS: [600] } })],
        http: { port: await freePort() },
      },
    });
    env = { GATEWATCH_HTTP_PORT: new URL(collector.http).port };
  });
  afterAll(async () => {
    await collector[Symbol.asyncDispose]();
    await sandbox.stop();
  });
  const seed = (count: number) =>
    Array.from(
      { length: count },
      () => sandbox.seedOrder({ items: [{ action: '1.1.1.00', offsetMs: -1000 }] }).externalId,
    );
  const polled = async (ids: readonly string[]) => {
    const rows = await collector.query<{ n: number }>(
      `SELECT uniqExact(external_id) AS n FROM history_events WHERE external_id IN (${ids.map((id) => `'${id}'`).join()})`,
    );
    return rows[0]?.n;
  };

  test('its orders are polled, at a pace at which few are ever due; a second run does nothing more', async () => {
    const ids = seed(1500);
    const lines = ids.map((id, i) => `Deposit,${id},p2p,${i}.50,EUR\n`);
    const path = await file(
      'orders.csv',
      `order_type,external_id,channel,amount,currency\n${lines.join('')}`,
    );
    let mostDue = 0;
    const watching = new AbortController();
    const watched = (async () => {
      while (!watching.signal.aborted) {
        const { due } = (await (await fetch(`${collector.http}/readyz`)).json()) as { due: number };
        mostDue = Math.max(mostDue, due);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    })();
    const args = [path, '--config', collector.configFile, '--max-due', '100'];
    const { code, summary, stderr } = await backfill(args, env);
    expect(stderr).not.toContain('line');
    expect(summary).toMatchObject({ lines: 1500, taken: 1500, refused: 0, complete: true });
    expect(summary?.by).toBe(`the collector at ${collector.http}`);
    expect(code).toBe(0);
    await until(
      'all orders to be read',
      () => polled(ids),
      (n) => n === 1500,
    );
    watching.abort();
    await watched;
    expect(mostDue).toBeGreaterThan(0);
    expect(mostDue).toBeLessThanOrEqual(600);
    const [facts] = await collector.query(
      `SELECT channel, toString(amount) AS amount, currency FROM orders WHERE external_id = '${ids[7]}'`,
    );
    expect(facts).toMatchObject({ channel: 'p2p', currency: 'EUR' });

    const [more] = seed(1);
    await appendFile(path, `Deposit,${more},,,\n`);
    const again = await backfill([path, '--config', collector.configFile], env);
    expect(again.summary).toMatchObject({ lines: 1501, taken: 1501, skipped: 1500 });
    await until(
      'the new one to be read',
      () => polled([more ?? '']),
      (n) => n === 1,
    );
    const state = JSON.parse(await readFile(`${path}.backfill.json`, 'utf8')) as object;
    expect(state).toMatchObject({ line: 1502, taken: 1501, done: true });
  });

  test('stdin is read, and what the collector refuses is reported with its line', async () => {
    const [id] = seed(1);
    const input = [
      { orderType: 'Deposit', externalId: id },
      { orderType: 'Deposit', externalId: 'x', gateway: 'unheard-of' },
    ];
    const text = input.map((line) => JSON.stringify(line)).join('\n');
    // Without --config the gateways' names are not known here.
    const { code, stderr, summary } = await backfill(['-'], env, text);
    expect(stderr).toContain('line 2: gateway: expected one of sandbox, received a text like ~a.a:10');
    expect(summary).toMatchObject({ taken: 1, refused: 1 });
    expect(code).toBe(1);
    await until(
      'the good one to be read',
      () => polled([id ?? '']),
      (n) => n === 1,
    );
  });

  test('each order is a watch request in the books, which balance', async () => {
    const audit = await cli(['audit', '--json', '--config', collector.configFile]);
    const { identities } = JSON.parse(audit.stdout) as { identities: Record<string, unknown>[] };
    expect(identities[2]).toMatchObject({ identity: 'watch requests', difference: 0 });
    expect(identities[2]?.['stored']).toBeGreaterThanOrEqual(1502);
    expect(audit.code).toBe(0);
  });
});

test('a collector that is behind with polling is waited for, which is said once', async () => {
  let asked = 0;
  const server = createServer((request, response) => {
    // The command asks four times a second, and what takes more than two seconds is said.
    if (request.url === '/readyz') asked += 1;
    const isBehind = asked < 20;
    response.statusCode = request.method === 'POST' ? 202 : 200;
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ due: isBehind ? 900 : 0 }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const path = await file('behind.csv', 'orderType,externalId\nDeposit,a\n');
  const { code, stderr, summary } = await backfill([path], { GATEWATCH_HTTP_PORT: String(port) });
  expect(stderr.match(/Waiting: 900 orders are due/g)).toHaveLength(1);
  expect(summary).toMatchObject({ taken: 1, by: `the collector at http://127.0.0.1:${port}` });
  expect(code).toBe(0);
  server.closeAllConnections();
  server.close();
});

describe('without a running collector', () => {
  test('orders go into the store, and the next run reads them', async () => {
    const sandbox = await createSandbox();
    const { externalId } = sandbox.seedOrder({ items: [{ action: '1.1.1.00', offsetMs: -1000 }] });
    const config = {
      gateways: [gatewayConfig(sandbox)],
      dataDir: join(folder, 'data'),
      http: { port: await freePort() },
      embedded: { port: 0, fsync: false },
    };
    const configFile = await file('offline.json', JSON.stringify(config));
    const path = await file('offline.csv', `orderType,externalId\nDeposit,${externalId}\n`);
    const { code, summary, stderr } = await backfill([path, '--config', configFile]);
    expect(stderr).toBe('');
    expect(summary).toMatchObject({ taken: 1, by: 'the store, for the next run' });
    expect(code).toBe(0);
    await using collector = await startCollectorProcess({ config });
    const items = () => collector.query(`SELECT 1 FROM history_events WHERE external_id = '${externalId}'`);
    await until('its history', items, (rows) => rows.length === 1);
    await sandbox.stop();
  });

  test.skipIf(!kafka.available)('orders go onto the watch topic where there is Kafka', async () => {
    const brokers = kafka.available ? [...kafka.brokers] : [];
    const topic = await createTopic(brokers, uniqueName('orders'));
    const config = {
      gateways: [{ name: 'acme', secureUrl: 'http://127.0.0.1:1', token: 't' }],
      kafka: { brokers, watchTopic: topic },
    };
    const configFile = await file('kafka.json', JSON.stringify(config));
    const lines = Array.from({ length: 700 }, (_, i) => `Deposit,o${i}\n`);
    const path = await file('kafka.csv', `orderType,externalId\n${lines.join('')}`);
    const { code, summary } = await backfill([path, '--config', configFile]);
    expect(summary).toMatchObject({ taken: 700, by: `Kafka topic ${topic}` });
    expect(code).toBe(0);
    const [offsets] = await withAdmin(brokers, (admin) => admin.fetchTopicOffsets(topic));
    expect(offsets?.high).toBe('700');
  });
});
