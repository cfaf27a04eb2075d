import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSandbox, type Sandbox } from '../../sandbox/server.ts';
import { type CollectorProcess, startCollectorProcess } from '../support/collector-process.ts';
import { gatewayConfig, signedCallback } from './support/gateway.ts';

describe('the HTTP intake, without Kafka', () => {
  let sandbox: Sandbox;
  let collector: CollectorProcess;
  beforeAll(async () => {
    sandbox = await createSandbox();
    collector = await startCollectorProcess({
      config: {
        gateways: [
          gatewayConfig(sandbox),
          gatewayConfig(sandbox, { name: 'second', callbackKeys: ['another key of 128 bits'] }),
        ],
        http: { port: 0, intake: { host: '127.0.0.1', port: 0 }, maxBodyBytes: 4096 },
      },
    });
  });
  afterAll(async () => {
    await collector[Symbol.asyncDispose]();
    await sandbox.stop();
  });

  const post = (gateway: string, body: string, headers: Record<string, string> = {}) =>
    fetch(`${collector.intake}/callbacks/${gateway}`, {
      method: 'POST',
      body,
      headers: { 'Content-Type': 'application/json', ...headers },
    });
  const rowsOf = (externalId: string) =>
    collector.query(
      `SELECT gateway, verdict, source, deliveries FROM callbacks WHERE external_id = '${externalId}' ORDER BY gateway`,
    );

  it('takes what the gateway sends: stored when it answers, and the order read at once', async () => {
    const { externalId } = sandbox.seedOrder({
      status: 'Success',
      items: [{ action: '4.1.3.00', offsetMs: -5 }],
    });
    sandbox.sendCallback(externalId, { url: `${collector.intake}/callbacks/sandbox` });
    await expect.poll(() => sandbox.stats().callbacks.acknowledged).toBe(1);
    // Acknowledged means stored: no waiting here.
    expect(await rowsOf(externalId)).toEqual([
      { gateway: 'sandbox', verdict: 'valid', source: 'http', deliveries: 1 },
    ]);
    const history = () =>
      collector.query(`SELECT action FROM history_events WHERE external_id = '${externalId}'`);
    await expect.poll(history).toEqual([{ action: '4.1.3.00' }]);
  });

  it('verifies with the keys of the gateway in the address', async () => {
    const externalId = randomUUID();
    const { body, signature } = signedCallback({ externalId }, 'another key of 128 bits');
    expect((await post('sandbox', body, { Signature: signature })).status).toBe(200);
    expect((await post('second', body, { Signature: signature })).status).toBe(200);
    expect(await rowsOf(externalId)).toMatchObject([
      { gateway: 'sandbox', verdict: 'mismatch' },
      { gateway: 'second', verdict: 'valid' },
    ]);
  });

  it('takes whatever arrives for a row, were it not even JSON', async () => {
    const before = await countOf('malformed');
    for (const body of ['', 'null', '[]', '{"externalId":', '\u0000\u0001', '<callback/>']) {
      expect((await post('sandbox', body)).status).toBe(200);
    }
    expect(await countOf('malformed')).toBe(before + 6);
  });
  const countOf = async (verdict: string) =>
    (
      await collector.query<{ n: number }>(`SELECT count() AS n FROM callbacks WHERE verdict = '${verdict}'`)
    )[0]?.n ?? 0;

  it('answers 404 for a gateway that is not configured and 413 for a body that is too large', async () => {
    const unknown = await post('nobody', '{}');
    expect(unknown.status).toBe(404);
    expect(unknown.headers.get('content-type')).toContain('application/problem+json');
    const large = await post('sandbox', 'x'.repeat(5000));
    expect(large.status).toBe(413);
    expect(large.headers.get('content-type')).toContain('application/problem+json');
  });

  it('has a listener of its own, which serves nothing but callbacks', async () => {
    expect(collector.intake).not.toBe(collector.http);
    for (const path of ['/healthz', '/metrics', '/orders/1', '/']) {
      expect((await fetch(`${collector.intake}${path}`)).status).toBe(404);
    }
    expect((await fetch(`${collector.http}/callbacks/sandbox`, { method: 'POST', body: '{}' })).status).toBe(
      404,
    );
  });
});
