import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CollectorProcess, MAIN, startCollectorProcess } from '../support/collector-process.ts';
import { until } from '../support/until.ts';

const KEY = 'a-private-key-of-enough-bytes';
const UPPER = 'A0000000-0000-4000-8000-0000000000FF';
const LOWER = UPPER.toLowerCase();
const SHOP_NUMBERS = ['#1001', 'SO 12345678', 'order@shop', "O'Brien-1", "a\\'; -- 1", 'Größe <b>1</b> 🙂'];
const LONG = '20261121044336000123';

/** A gateway that compares ids as texts, writes UUIDs in upper case and long ids as numbers. */
async function startGateway(): Promise<Server> {
  const server = createServer((request, response) => {
    const id = decodeURIComponent(
      /([^/]+)\/status(?:-by-external-transaction-id)?$/.exec(request.url ?? '')?.[1] ?? '',
    );
    const place = SHOP_NUMBERS.indexOf(id);
    const own = id === UPPER ? UPPER : place >= 0 ? `own-${place}` : /^own-\d$/.test(id) ? id : null;
    const numbers = id === LONG ? `"externalId":90071992547409931,"externalTransactionId":${LONG}` : null;
    if (own === null && numbers === null && id !== '90071992547409931')
      return void response.writeHead(404).end();
    const ids = numbers ?? (own === null ? '"externalId":90071992547409931' : `"externalId":"${own}"`);
    const shop = /^own-(\d)$/.exec(own ?? '')?.[1];
    const merchants =
      shop === undefined ? '' : `,"externalTransactionId":${JSON.stringify(SHOP_NUMBERS[Number(shop)])}`;
    const history = '[{"time":"2026-11-25T03:00:00Z","action":"1.1.1.00"}]';
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(
        `{${ids}${merchants},"orderStatus":"Processing","amount":10.5,"currency":"EUR","orderHistory":${history}}`,
      );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

describe('ids as gateways and shops write them', () => {
  let gateway: Server;
  let collector: CollectorProcess;
  beforeAll(async () => {
    gateway = await startGateway();
    collector = await startCollectorProcess({
      config: {
        gateways: [
          {
            name: 'acme',
            secureUrl: `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`,
            token: 'a-token',
            callbackKeys: [KEY],
            poll: { delaysS: [0.3], jitter: 0 },
          },
        ],
      },
    });
  });
  afterAll(async () => {
    await collector[Symbol.asyncDispose]();
    gateway.close();
  });

  const post = (path: string, body: string, headers: Record<string, string> = {}) =>
    fetch(collector.http + path, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', ...headers },
    });
  const orders = () =>
    collector.query<{ id: string; merchants: string }>(
      'SELECT external_id AS id, external_transaction_id AS merchants FROM orders WHERE status IS NOT NULL ORDER BY id',
    );
  const known = (id: string) => until(`${id} to be read`, orders, (all) => all.some((one) => one.id === id));

  it('one order whatever the case of its UUID, of a gateway that knows one case only', async () => {
    for (const externalId of [LOWER, UPPER])
      expect((await post('/orders', JSON.stringify({ orderType: 'Deposit', externalId }))).status).toBe(202);
    const fields = [UPPER, 'Processing', '10.50', 'Deposit'];
    const Signature = createHash('sha256')
      .update([...fields, KEY].join(';'))
      .digest('hex');
    const [externalId, status, amount, orderType] = fields;
    const callback = JSON.stringify({ externalId, status, amount, orderType, currency: 'EUR' });
    expect((await post('/callbacks/acme', callback, { Signature })).status).toBe(200);
    await known(LOWER);
    const [row] = await collector.query<{ verdict: string; id: string }>(
      'SELECT toString(verdict) AS verdict, external_id AS id FROM callbacks',
    );
    expect(row).toEqual({ verdict: 'valid', id: LOWER });
    expect((await orders()).filter(({ id }) => id.toLowerCase() === LOWER)).toHaveLength(1);
    const timeline = await fetch(`${collector.http}/orders/${UPPER}`);
    expect(await timeline.json()).toMatchObject({ order: { externalId: LOWER, status: 'Processing' } });
  });

  it('long numbers, as JSON numbers and as texts', async () => {
    const sent = readFileSync('test/cases/06-watch-20-digit-id.json', 'utf8');
    for (const body of [sent, sent.replace(`"${LONG}"`, LONG)])
      expect((await post('/orders', body)).status).toBe(202);
    await known('90071992547409931');
    expect(await orders()).toContainEqual({ id: '90071992547409931', merchants: LONG });
  });

  it('what shops number their orders with, everywhere', async () => {
    expect(
      (await post('/orders', readFileSync('test/cases/07-watch-shop-numbers.json', 'utf8'))).status,
    ).toBe(202);
    const all = SHOP_NUMBERS.map((externalTransactionId) => ({
      orderType: 'Deposit',
      externalTransactionId,
    }));
    expect((await post('/orders', JSON.stringify(all))).status).toBe(202);
    for (const [place, merchants] of SHOP_NUMBERS.entries()) {
      await known(`own-${place}`);
      const path = `${collector.http}/orders/${encodeURIComponent(merchants)}`;
      expect(await (await fetch(path)).json()).toMatchObject({
        order: { externalId: `own-${place}`, externalTransactionId: merchants },
      });
      const safety = await fetch(`${path}/cascade-safety?by=transaction-id`);
      expect(await safety.json()).toMatchObject({
        order: { externalTransactionId: merchants },
        rule: 'not_final',
      });
    }
    const args = ['order', '--json', '--config', collector.configFile, SHOP_NUMBERS[4] ?? ''];
    const { stdout } = await promisify(execFile)(process.execPath, [MAIN, ...args]);
    expect(JSON.parse(stdout)).toMatchObject({ order: { externalTransactionId: SHOP_NUMBERS[4] } });
    expect(await collector.query("SELECT order_type FROM rejects WHERE reason != 'x'")).toEqual([]);
  });

  it('of 128 characters that each take four bytes, in a path', async () => {
    const id = `#${'🙂'.repeat(127)}`;
    const reply = await fetch(`${collector.http}/orders/${encodeURIComponent(id)}`);
    expect([reply.status, await reply.json()]).toMatchObject([
      404,
      { detail: expect.stringContaining('No order') as string },
    ]);
  });

  it('no web address', async () => {
    for (const externalTransactionId of ['https://evil.example/login/g6', 'evil.example/login']) {
      const reply = await post('/orders', JSON.stringify({ orderType: 'Deposit', externalTransactionId }));
      expect([reply.status, await reply.json()]).toMatchObject([
        400,
        { detail: expect.stringContaining('no web address') as string },
      ]);
    }
  });
});
