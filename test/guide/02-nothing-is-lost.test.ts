import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSandbox, type Sandbox } from '../../sandbox/server.ts';
import {
  type CollectorProcess,
  type CollectorProcessOptions,
  startCollectorProcess,
} from '../support/collector-process.ts';
import { signedCallback } from '../integration/support/gateway.ts';

/**
 * NOTHING IS LOST, AND NOTHING COUNTS TWICE
 *
 * Machines die in the middle of things. Two habits make that harmless:
 *
 *     acknowledge last      A sender gets "done" when the rows are stored, not before. After a kill in between it
 *                           sends again.
 *     same thing, same id   What is sent again has the identity that it had before, so the views show it once.
 *
 * `01-life-of-an-event` shows the parts; `test/integration/restarts.test.ts` does to hundreds of orders what
 * this page does to one.
 */
describe('nothing is lost, and nothing counts twice', () => {
  let gateway: Sandbox;
  let options: CollectorProcessOptions;
  let collector: CollectorProcess;
  let orderId: string;

  beforeAll(async () => {
    gateway = await createSandbox();
    options = {
      config: {
        gateways: [
          {
            name: 'acme-eu',
            secureUrl: gateway.secureUrl,
            token: gateway.token,
            callbackKeys: [gateway.callbackKey],
            poll: { delaysS: [1], maxDelayS: 1, rereadsS: [1] },
          },
        ],
      },
    };
    collector = await startCollectorProcess(options);
    orderId = gateway.seedOrder({ items: [{ action: '1.1.1.00', offsetMs: -1000 }] }).externalId;
  });

  afterAll(async () => {
    await collector[Symbol.asyncDispose]();
    await gateway.stop();
  });

  const sendCallback = async (status: string) => {
    const { body, signature } = signedCallback({ externalId: orderId, status }, gateway.callbackKey);
    const headers = { 'Content-Type': 'application/json', Signature: signature };
    return (await fetch(`${collector.intake}/callbacks/acme-eu`, { method: 'POST', body, headers })).status;
  };
  const actions = async () =>
    (
      await collector.query<{ action: string }>(
        `SELECT action FROM history_events WHERE external_id = '${orderId}' ORDER BY event_time`,
      )
    ).map(({ action }) => action);
  const callbacks = () =>
    collector.query(
      `SELECT status, deliveries FROM callbacks WHERE external_id = '${orderId}' ORDER BY first_received_at`,
    );

  it('1. what was acknowledged is there after a kill: not a tidy stop, but the plug pulled', async () => {
    expect(await sendCallback('Processing')).toBe(200);
    await collector.kill();
    collector = await startCollectorProcess({ ...options, folder: collector.folder });
    expect(await callbacks()).toEqual([{ status: 'Processing', deliveries: 1 }]);
  });

  it('2. the order is still watched: nobody has to ask for it again', async () => {
    gateway.appendItem(orderId, { action: '4.1.3.00' });
    gateway.setStatus(orderId, { status: 'Success' });
    await expect.poll(actions).toEqual(['1.1.1.00', '4.1.3.00']);
  });

  it('3. the same callback a second time is the same callback, delivered twice', async () => {
    expect(await sendCallback('Processing')).toBe(200);
    expect(await callbacks()).toEqual([{ status: 'Processing', deliveries: 2 }]);
  });

  it('4. the same history a second time is the same history', async () => {
    const polls = async () =>
      (await collector.query(`SELECT poll_id FROM polls WHERE order_id = '${orderId}' AND outcome = 'ok'`))
        .length;
    const before = await polls();
    // A callback has the order read once more, whatever became of it meanwhile.
    expect(await sendCallback('Success')).toBe(200);
    await expect.poll(polls).toBeGreaterThan(before);
    expect(await actions()).toEqual(['1.1.1.00', '4.1.3.00']);
  });

  it('5. what was never acknowledged was not lost either: the sender knows that it has to send it again', async () => {
    const address = collector.intake;
    await collector.kill();
    const id = randomUUID();
    const { body, signature } = signedCallback({ externalId: id }, gateway.callbackKey);
    const headers = { 'Content-Type': 'application/json', Signature: signature };
    const send = (url: string) => fetch(`${url}/callbacks/acme-eu`, { method: 'POST', body, headers });
    await expect(send(address)).rejects.toThrow();
    collector = await startCollectorProcess({ ...options, folder: collector.folder });
    expect((await send(collector.intake)).status).toBe(200);
    const stored = await collector.query(
      `SELECT verdict, deliveries FROM callbacks WHERE external_id = '${id}'`,
    );
    expect(stored).toEqual([{ verdict: 'valid', deliveries: 1 }]);
  });
});
