import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { handleCallbackRecords, handleWatchRecords } from '../../../collector/orders/from-kafka-record.ts';
import type { OwnerHintMessage } from '../../../collector/orders/owner-hint.ts';
import type { KafkaRecord } from '../../../schemas/kafka.ts';
import { ORDER_TYPES } from '../../../schemas/dictionary.ts';
import type { WatchRef } from '../../../schemas/watch.ts';
import { callback, createPipeline, GATEWAY } from '../../support/pipeline.ts';

const ID = '7d9f2c1e-4b7a-4d53-9a51-0c9f6a1b2c3d';
const MINUTE = 60_000;

const record = (offset: number, message: Partial<KafkaRecord>): KafkaRecord => ({
  topic: 'gateway.orders',
  partition: 0,
  offset: String(offset),
  key: null,
  value: null,
  headers: new Map(),
  timestampMs: 0,
  ...message,
});

/** What a broker makes of a message. */
const recordOf = ({ key, value, headers }: OwnerHintMessage, offset: number): KafkaRecord =>
  record(offset, {
    key: Buffer.from(key),
    value,
    headers: new Map(Object.entries(headers).map(([name, text]) => [name, [Buffer.from(text)]])),
  });

/** A row but for when it was written: the clock rises with every call. */
const withoutTimes = (row: object) =>
  Object.fromEntries(Object.entries(row).filter(([name]) => !/_at$|_since$|^span_start$/.test(name)));

const textOf = ({ value }: OwnerHintMessage) => JSON.parse(Buffer.from(value).toString()) as unknown;

/** A collector that owns no order, and the one that owns all of them, on stores of their own. */
function scene() {
  const one = createPipeline({}, false);
  const owner = createPipeline();
  let offset = 0;
  return {
    one,
    owner,
    /** Takes the hints from the one to the owner. */
    deliver: () =>
      handleWatchRecords(
        one.handedOver.splice(0).map((message) => recordOf(message, offset++)),
        owner.context,
      ),
  };
}

describe('a callback of an order that another collector owns', () => {
  it('is stored, becomes a hint, and leaves the order alone', async () => {
    const { one } = scene();
    one.orders.set(ID, { externalId: ID, orderStatus: 'Processing', history: [[0, '1.1.1.00']] });
    await one.receive(callback({ externalId: ID, amount: '99.90', currency: 'EUR' }));
    await one.clock.advance(MINUTE);
    expect(one.sink.rows('callbackDeliveries')).toMatchObject([{ verdict: 'valid', external_id: ID }]);
    expect(one.reads).toEqual([]);
    for (const table of ['orders', 'orderWatch', 'historyEvents'] as const)
      expect(one.sink.rows(table)).toEqual([]);
    expect(one.handedOver.map(({ key, headers }) => ({ key, headers }))).toEqual([
      { key: `${GATEWAY}|Deposit|${ID}`, headers: { 'gatewatch-hint': '1' } },
    ]);
    expect(one.handedOver.map(textOf)).toEqual([
      {
        gateway: GATEWAY,
        orderType: 'Deposit',
        idKind: 'external-id',
        orderId: ID,
        cause: 'callback',
        status: 'Processing',
        calledAt: Date.UTC(2026, 10, 21, 10, 15, 30) * 1000,
        amount: '99.90',
        currency: 'EUR',
      },
    ]);
  });

  it('has the owner read at once what it would have read for the callback itself', async () => {
    const { one, owner, deliver } = scene();
    const direct = createPipeline();
    for (const { orders } of [owner, direct])
      orders.set(ID, { externalId: ID, orderStatus: 'Processing', history: [[0, '1.1.1.00']] });
    const delivery = callback({ externalId: ID, amount: '99.90', currency: 'SEK' });
    await one.receive(delivery);
    await deliver();
    await direct.receive(delivery);
    for (const { clock } of [owner, direct]) await clock.advance(1);
    expect(owner.reads).toEqual([{ orderId: ID, atMs: 0 }]);
    for (const table of ['orders', 'orderWatch', 'historyEvents'] as const)
      expect(owner.sink.rows(table).map(withoutTimes)).toEqual(direct.sink.rows(table).map(withoutTimes));
    expect(owner.sink.rows('orders')[0]).toMatchObject({ amount: '99.90', amount_source: 'callback' });
    expect(owner.sink.rows('historyEvents')[0]?.callback_at).toBe(delivery.receivedAt);
    // A callback is no watch message, and claims nothing.
    expect(owner.sink.rows('watchRequests')).toEqual([]);
    expect(owner.sink.rows('orderClaims').filter(({ kind }) => kind === 'watch')).toEqual([]);
  });

  it('opens a settled order again where its status is final and another one', async () => {
    const { one, owner, deliver } = scene();
    owner.orders.set(ID, { externalId: ID, orderStatus: 'Success', history: [[0, '4.1.3.00']] });
    await owner.receive(callback({ externalId: ID, status: 'Success' }));
    await owner.clock.advance(15 * MINUTE);
    expect(owner.sink.rows('orderWatch').at(-1)).toMatchObject({ phase: 'settled' });
    const readsOf = async (...statuses: string[]) => {
      const before = owner.reads.length;
      await one.receive(...statuses.map((status) => callback({ externalId: ID, status })));
      await deliver();
      await owner.clock.advance(15 * MINUTE);
      return owner.reads.length - before;
    };
    expect(await readsOf('Failed', 'Success')).toBe(4);
    expect(await readsOf('Processing', 'Success')).toBe(1);
  });

  it('is not acknowledged while the brokers do not take the hint, and comes again', async () => {
    const { one } = scene();
    one.brokers.away = true;
    await expect(one.receive(callback({ externalId: ID }))).rejects.toMatchObject({
      code: 'kafka_unreachable',
      retryable: true,
    });
    one.brokers.away = false;
    await one.receive(callback({ externalId: ID }));
    expect(one.handedOver).toHaveLength(1);
  });

  it('gives no hint where it does not verify, however many of them come', async () => {
    const { one } = scene();
    const forged = Array.from({ length: 10_000 }, (_, index) =>
      callback({ externalId: `order-${index}` }, index % 2 === 0 ? { key: 'a guess' } : { signatures: [] }),
    );
    await one.receive(...forged);
    expect(one.handedOver).toEqual([]);
    expect(one.sink.rows('callbackDeliveries')).toHaveLength(10_000);
  });

  it('gives one hint with all that are alike in its batch', async () => {
    const { one } = scene();
    const again = Array.from({ length: 3_000 }, (_, index) =>
      callback({ externalId: ID, status: ['Created', 'Processing', 'Success'][index % 3] as string }),
    );
    await one.receive(...again);
    expect(one.handedOver.map(textOf)).toMatchObject([{ status: 'Processing' }, { status: 'Success' }]);
  });
});

describe('a watch request of an order that another collector owns', () => {
  it('is kept as the request that it is, and becomes a hint', async () => {
    const { one, owner, deliver } = scene();
    await one.watch({ orderType: 'Deposit', externalId: ID, channel: 'cards', amount: '5', currency: 'EUR' });
    await deliver();
    await owner.clock.advance(1);
    expect(one.sink.rows('watchRequests')).toMatchObject([{ order_id: ID, amount: '5' }]);
    expect(one.sink.rows('orderClaims')).toMatchObject([{ kind: 'watch', external_id: ID }]);
    expect(one.sink.rows('orderWatch')).toEqual([]);
    expect(owner.reads).toHaveLength(1);
    expect(owner.sink.rows('orders')[0]).toMatchObject({ channel: 'cards', amount_source: 'watch' });
    expect(owner.sink.rows('watchRequests')).toEqual([]);
  });

  it("is handed over once the reply to the merchant's id names the gateway's", async () => {
    const ownsByTheirs = ({ idKind }: WatchRef) => idKind === 'transaction-id';
    const one = createPipeline({}, ownsByTheirs);
    one.orders.set('tx-1', {
      externalId: ID,
      externalTransactionId: 'tx-1',
      orderStatus: 'Processing',
      history: [[0, '1.1.1.00']],
    });
    await one.watch({ orderType: 'Deposit', externalTransactionId: 'tx-1', amount: '5', currency: 'EUR' });
    await one.clock.advance(MINUTE);
    expect(one.reads).toHaveLength(1);
    expect(one.sink.rows('orderWatch').at(-1)).toMatchObject({ order_id: 'tx-1', phase: 'merged' });
    expect(one.sink.rows('orders')).toEqual([]);
    expect(one.sink.rows('orderClaims')).toMatchObject([{ kind: 'watch', external_id: ID, amount: '5' }]);
    expect(one.handedOver.map(textOf)).toMatchObject([
      { idKind: 'external-id', orderId: ID, externalTransactionId: 'tx-1', cause: 'watch', amount: '5' },
    ]);
  });
});

describe('a record of the watch topic that is marked as a hint', () => {
  it('is a reject with its place where it cannot be read, and its neighbours go on', async () => {
    const { owner } = scene();
    const headers = new Map([['gatewatch-hint', [Buffer.from('1')]]]);
    const hint = { gateway: GATEWAY, orderType: 'Deposit', idKind: 'external-id', cause: 'callback' };
    const values = [
      '{',
      '[]',
      JSON.stringify(hint),
      JSON.stringify({ ...hint, orderId: 'a', gateway: 'gone' }),
    ];
    const good = record(4, { headers, value: Buffer.from(JSON.stringify({ ...hint, orderId: 'b' })) });
    await handleWatchRecords(
      [...values.map((value, offset) => record(offset, { headers, value: Buffer.from(value) })), good],
      owner.context,
    );
    await owner.clock.advance(1);
    expect(owner.sink.rows('rejects')).toMatchObject([
      { reason: 'hint_malformed', field: 'body', kafka_offset: 0 },
      { reason: 'hint_malformed', kafka_offset: 1 },
      { reason: 'hint_malformed', field: 'orderId', kafka_offset: 2 },
      { reason: 'unknown_gateway', kafka_offset: 3, order_type: 'Deposit' },
    ]);
    expect(owner.reads).toMatchObject([{ orderId: 'b' }]);
    expect(owner.sink.provenance()).toMatchObject({
      kafkaRecords: 5,
      coordinates: ['gateway.orders/0@0-4'],
      hintCoordinates: ['gateway.orders/0@4-4'],
    });
  });

  it('is taken or rejected whatever bytes it holds, and never becomes a watch request', async () => {
    const text = fc.oneof(
      fc.string(),
      fc.constantFrom(GATEWAY, 'external-id', 'transaction-id', 'callback', '1.5'),
    );
    const fields = fc.record(
      {
        gateway: text,
        orderType: fc.oneof(text, fc.constantFrom(...ORDER_TYPES)),
        idKind: text,
        orderId: text,
        cause: text,
        status: text,
        calledAt: fc.oneof(fc.integer(), fc.double(), text),
        amount: text,
        currency: text,
        channel: text,
        externalTransactionId: text,
      },
      { requiredKeys: [] },
    );
    const value = fc.oneof(
      fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
      fc.json().map((json) => Buffer.from(json)),
      fields.map((hint) => Buffer.from(JSON.stringify(hint))),
    );
    const headers = new Map([['gatewatch-hint', [new Uint8Array()]]]);
    await fc.assert(
      fc.asyncProperty(fc.array(value, { minLength: 1, maxLength: 5 }), async (values) => {
        const { owner } = scene();
        await handleWatchRecords(
          values.map((one, offset) => record(offset, { headers, value: one })),
          owner.context,
        );
        const hints = (owner.sink.provenance().hintCoordinates ?? []).flatMap((range) => {
          const [first = 0, last = 0] = range.split('@')[1]?.split('-').map(Number) ?? [];
          return Array.from({ length: last - first + 1 }, (_, index) => first + index);
        });
        const rejected = owner.sink.rows('rejects').map(({ kafka_offset: offset }) => offset);
        expect([...hints, ...rejected].toSorted()).toEqual(values.map((_, offset) => offset));
        expect(owner.sink.rows('watchRequests')).toEqual([]);
      }),
    );
  });
});

it('A batch of callbacks is divided: those of own orders are read, the others become hints', async () => {
  const isOwn = ({ orderId }: WatchRef) => orderId.startsWith('ours');
  const pipeline = createPipeline({}, isOwn);
  const records = ['ours-1', 'theirs-1', 'ours-2'].map((externalId, offset) => {
    const { body, signatures } = callback({ externalId });
    const headers = new Map([['signature', signatures.map((text) => Buffer.from(text))]]);
    return record(offset, { topic: 'gateway.callbacks', value: body, headers });
  });
  let taken = 0;
  const take = () => void (taken += 1);
  await handleCallbackRecords(records, () => GATEWAY, pipeline.context, take);
  await pipeline.clock.advance(1);
  expect(pipeline.reads.map(({ orderId }) => orderId)).toEqual(['ours-1', 'ours-2']);
  expect(pipeline.handedOver.map(({ key }) => key)).toEqual([`${GATEWAY}|Deposit|theirs-1`]);
  expect(taken).toBe(1);
});
