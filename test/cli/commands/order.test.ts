import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { orderTimelineSchema } from '../../../schemas/order-timeline.ts';
import { cli, cliOnTerminal } from './support/cli.ts';
import {
  callbackRow,
  historyRow,
  migratedStore,
  seededRow,
  ORDER,
  pollRow,
  seedOrder,
  START,
  type MigratedStore,
} from './support/seeded-order.ts';

let db: MigratedStore;
let env: Record<string, string>;

beforeAll(async () => {
  db = await migratedStore();
  await seedOrder(db.store);
  env = { GATEWATCH_DATA_DIR: db.embedded.dataDir };
});
afterAll(() => db.stop());

describe('order, with no collector running', () => {
  test('draws what the order went through', async () => {
    const { code, stdout, stderr } = await cli(['order', ORDER.external_id], { env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatchInlineSnapshot(`
      "Deposit 7d9f2c1e-4b7a-4d53-9a51-0c9f6a1b2c3d at acme-eu
        status       Failed
        outcome      issuer_decline (ISSUER.INSUFFICIENT_FUNDS)
        amount       100.5 EUR (currency from the watch)
        channel      p2p
        merchant id  merchant-1001
        first seen   2026-11-21 10:15:29.000
        final        2026-11-21 10:15:50.000
        trace        e9aa68962ba7f508d810ef274ad7c745

        TIME (UTC, 2026-11-21)    AFTER     CODE      STAGE              RESULT   STATE    REASON                          MEANING
        10:15:30.000                        1.1.1.00  INTERNAL           SUCCESS  CREATED  none                            Order created inside the service
        10:15:30.250            +250 ms     2.1.1.00  GATEWAY_CREATE     SUCCESS  CREATED  none                            Payment created at the gateway
        10:15:40.000            +9.75 s  +  3.9.9     -                  -        -        -                               not decoded (unrecognized) (first seen 2026-11-21 10:16:55.000)
        10:15:50.000              +10 s  =  4.1.4.63  CHECK              SUCCESS  FAILED   ISSUER.INSUFFICIENT_FUNDS (63)  Status check found the payment declined: insufficient funds
        10:15:51.000               +1 s     6.1.1.00  MERCHANT_CALLBACK  SUCCESS  CREATED  none                            Merchant callback confirmed
        = decides the outcome, + came after a final state had been seen

        CALLBACK                 VERDICT   STATUS  AMOUNT      CONFIRMED  DELIVERIES  LAST                     PROBLEM
        2026-11-21 10:15:51.000  valid     Failed  100.50 EUR  yes                 2  2026-11-21 10:16:00.000
        2026-11-21 10:16:10.000  mismatch  Failed  100.50 EUR  yes                 1                           Signature: does not match the content under any configured key. It verifies when the amount is written with two decimals
        status, amount, type and order id are signed, the currency is not; confirmed: the newest status reply says the same

        status requests  3 (2 ok, 1 unknown); last 2026-11-21 10:15:52.000: ok in 42 ms
        watch            rereading, next read 2026-11-21 10:16:50.000
      "
    `);
  });

  test('finds it by the merchant id, with type and gateway', async () => {
    const args = [
      'order',
      'merchant-1001',
      '--by',
      'transaction-id',
      '--type',
      'deposit',
      '--gateway',
      'acme-eu',
    ];
    const { code, stdout } = await cli(args, { env });
    expect(code).toBe(0);
    expect(stdout).toContain(`Deposit ${ORDER.external_id} at acme-eu`);
  });

  test('--json prints the body of GET /orders/{id}', async () => {
    const { code, stdout } = await cli(['order', ORDER.external_id, '--json'], { env });
    expect(code).toBe(0);
    const timeline = orderTimelineSchema.parse(JSON.parse(stdout));
    expect(timeline.order.traceId).toBe('e9aa68962ba7f508d810ef274ad7c745');
    expect(timeline.events).toHaveLength(5);
    expect(timeline.callbacks).toHaveLength(2);
    expect(timeline.polls.count).toBe(3);
  });

  test('of which nothing is known exits with 1 and says what to try', async () => {
    const { code, stdout, stderr } = await cli(['order', 'nowhere', '--gateway', 'acme-eu'], { env });
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toContain('nothing is known of an order nowhere (acme-eu)');
    expect(stderr).toContain('search without --gateway');
    expect(stderr).toContain('gatewatch watch --type Deposit nowhere');
  });

  test('cannot be made to send escape sequences to a terminal', async () => {
    const evil = { gateway: 'evil', external_id: 'evil' };
    await db.store.insert('orders', [
      seededRow({
        ...evil,
        external_transaction_id: '\u001b[5mx',
        channel: '\u001b[31mp2p',
        status: '\u009b2J',
        currency: '\u001b[0m',
      }),
    ]);
    await db.store.insert('historyEvents', [
      historyRow(
        { at: START, action: '\u001b[7m1.1.1.00', position: 0, observedAt: START },
        { ...ORDER, ...evil },
      ),
    ]);
    await db.store.insert('callbackDeliveries', [
      callbackRow({
        ...evil,
        status: '\u001b]0;owned\u0007Success',
        currency: '\u001b[2J',
        problem: 'a\u0007b\u202e',
        content_hash: new Uint8Array(32).fill(1),
      }),
    ]);
    const { code, stdout } = await cliOnTerminal(['order', 'evil'], {
      env: { ...env, NO_COLOR: '1' },
      dropStderr: true,
    });
    expect(code).toBe(0);
    expect(stdout).toContain('Success');
    // oxlint-disable-next-line no-control-regex -- these must not get through
    expect(stdout).not.toMatch(/[\u0007\u001b\u009b\u202e]/);
  });

  test('says that the history is incomplete while the newest reply has items that could not be read', async () => {
    await db.store.insert('polls', [
      pollRow({
        poll_id: 'refusing',
        started_at: Date.parse('2026-11-21T10:18:00Z') * 1000,
        refused_items: 2,
      }),
    ]);
    const { stdout } = await cli(['order', ORDER.external_id], { env });
    expect(stdout).toMatch(
      /incomplete +parts of the newest reply that could not be read: 2, see the view rejects/,
    );
  });
});
