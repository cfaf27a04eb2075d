import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readOrderRecord } from '../../store/order-record.ts';
import { readOrderTimeline } from '../../store/order-timeline.ts';
import type { OrderQuery } from '../../schemas/order-timeline.ts';
import {
  callbackRow,
  historyRow,
  migratedStore,
  seededRow,
  ORDER,
  SECOND,
  seedOrder,
  START,
  watchRow,
  type MigratedStore,
} from '../cli/commands/support/seeded-order.ts';

let db: MigratedStore;
beforeAll(async () => {
  db = await migratedStore();
  await seedOrder(db.store);
});
afterAll(() => db.stop());

const query = <T>(sql: string, params: Record<string, unknown>) => db.store.query<T>(sql, params);
const record = (wanted: OrderQuery) => readOrderRecord(query, wanted);
const complete = (id: string): OrderQuery => ({ id, gateway: 'acme-eu', type: 'Deposit', by: 'external-id' });

describe('the record of an order', () => {
  it('says what the timeline says, whichever way the order is asked for', async () => {
    const timeline = await readOrderTimeline(query, { id: ORDER.external_id });
    const found = await record(complete(ORDER.external_id));
    expect(found).toEqual({
      gateway: 'acme-eu',
      orderType: 'Deposit',
      externalId: ORDER.external_id,
      externalTransactionId: 'merchant-1001',
      isAmbiguous: false,
      status: timeline?.order.status,
      lastReplyAt: timeline?.order.lastReplyAt,
      outcome: timeline?.order.outcome,
      historyItems: timeline?.events.length,
      successItemAt: null,
      callback: { status: 'Failed', receivedAt: timeline?.callbacks[0]?.lastReceivedAt },
      successCallbackAt: null,
      phase: timeline?.watch?.phase,
      amount: timeline?.order.amount,
      currency: timeline?.order.currency,
    });
    expect(await record({ id: ORDER.external_id })).toEqual(found);
    expect(await record({ id: 'merchant-1001', by: 'transaction-id' })).toEqual(found);
    expect(await record({ id: 'merchant-1001' })).toEqual(found);
  });

  it('has every success: of an item, and of a callback that verifies', async () => {
    const order = { ...ORDER, external_id: 'paid', external_transaction_id: '' };
    await db.store.insert('orders', [
      seededRow({ ...order, status: null }, [{ time: START, action: '4.1.3.00' }]),
    ]);
    const said = (byte: number, status: string, verdict: string, seconds: number) =>
      callbackRow({
        external_id: 'paid',
        content_hash: new Uint8Array(32).fill(byte),
        status,
        verdict,
        received_at: START + seconds * SECOND,
      });
    await db.store.insert('callbackDeliveries', [said(20, 'Success', 'mismatch', 50)]);
    expect(await record(complete('paid'))).toMatchObject({ callback: null, successCallbackAt: null });
    await db.store.insert('callbackDeliveries', [
      said(21, 'Success', 'valid_previous_key', 10),
      said(22, 'Failed', 'valid', 20),
    ]);
    expect(await record(complete('paid'))).toMatchObject({
      successItemAt: '2026-11-21T10:15:30.000000Z',
      successCallbackAt: '2026-11-21T10:15:40.000000Z',
      callback: { status: 'Failed', receivedAt: '2026-11-21T10:15:50.000000Z' },
    });
  });

  it('knows a success that another collector has read a moment ago, before the row of the order does', async () => {
    const order = { ...ORDER, external_id: 'read-elsewhere', external_transaction_id: '' };
    const now = Date.now() * 1000;
    const paid = historyRow({ at: now - SECOND, action: '4.1.3.00', position: 8, observedAt: now }, order);
    await db.store.insert('historyEvents', [paid]);
    expect(await record(complete('read-elsewhere'))).toMatchObject({
      historyItems: 0,
      successItemAt: new Date((now - SECOND) / 1000).toISOString().replace('Z', '000Z'),
    });
    await db.store.insert('orders', [seededRow({ ...order, status: 'Created' })]);
    expect((await record(complete('read-elsewhere')))?.successItemAt).not.toBeNull();
  });

  it('says that a merchant id leads to several orders, and finds one that is only watched', async () => {
    const twice = { external_transaction_id: 'twice' };
    await db.store.insert('orders', [
      seededRow({ ...twice, external_id: 'one' }),
      seededRow({ ...twice, external_id: 'other' }),
    ]);
    expect(await record({ id: 'twice', by: 'transaction-id' })).toMatchObject({ isAmbiguous: true });
    const watched = { id_kind: 'transaction-id', order_id: 'only-watched', external_id: '' } as const;
    await db.store.insert('orderWatch', [watchRow({ ...watched, phase: 'active' })]);
    expect(await record({ id: 'only-watched', by: 'transaction-id' })).toMatchObject({
      externalId: '',
      phase: 'active',
      status: null,
    });
  });

  it('is null for an order of which nothing is known', async () => {
    expect(await record(complete('nowhere'))).toBeNull();
    expect(await record({ id: 'nowhere' })).toBeNull();
    expect(await record({ ...complete(ORDER.external_id), type: 'Withdrawal' })).toBeNull();
  });
});
