import { beforeEach, describe, expect, it } from 'vitest';
import { createMigrator } from '../../../store/migrate.ts';
import { audit } from '../../../operate/audit/audit.ts';
import type { AuditReport, Identity } from '../../../operate/audit/report.ts';
import type { Store } from '../../../store/store.ts';
import type { RowSink } from '../../../schemas/sink.ts';
import { shareDatabase } from '../../support/shared-database.ts';
import { historyEvent } from '../../collector/sinks/support/rows.ts';
import { callback, PAST, poll, reject, reply, sinkOf, TOPIC, watchRequest } from './support.ts';

let store: Store;
let sink: RowSink;
shareDatabase((opened) => (store = opened));
beforeEach(() => {
  sink = sinkOf(store);
  return () => sink.stop(1000);
});

const look = (sinceMicros = 0): Promise<AuditReport> =>
  audit({ query: store.query, nowMicros: () => Date.now() * 1000, sinceMicros, pauseMs: 0 });
const of = (report: AuditReport, identity: Identity['identity']) =>
  report.identities.find((one) => one.identity === identity);
const deleteFrom = (table: string, where: string) =>
  store.command(`ALTER TABLE ${table} DELETE WHERE ${where} SETTINGS mutations_sync = 2`);

describe('an audit of Kafka records', () => {
  const take = (offsets: readonly number[], range: string) =>
    sink.write(
      { callbackDeliveries: offsets.map((offset) => callback(offset)) },
      { kafkaRecords: offsets.length, coordinates: [`${TOPIC}/0@${range}`] },
    );

  it('counts each record once, however often it was read, and finds the row or the reject of each', async () => {
    await take([0, 1, 2, 3], '0-3');
    await take([2, 3, 4], '2-4');
    await sink.write(
      { rejects: [reject('r5', { topic: TOPIC, kafka_partition: 0, kafka_offset: 5 })] },
      { kafkaRecords: 1, coordinates: [`${TOPIC}/0@5-5`] },
    );
    await sink.write(
      {
        watchRequests: [
          watchRequest('w', { source: 'kafka', topic: 'orders', kafka_partition: 1, kafka_offset: 0 }),
        ],
      },
      { kafkaRecords: 1, coordinates: ['orders/1@0-0'] },
    );
    const report = await look();
    expect(of(report, 'kafka records')).toEqual({
      identity: 'kafka records',
      accepted: 7,
      stored: 6,
      rejected: 1,
      repeats: 2,
      difference: 0,
      unacknowledged: 0,
      offenders: [],
    });
    expect(report.ok).toBe(true);
  });

  it('names the record whose row is gone', async () => {
    await take([0, 1, 2, 3], '0-3');
    await deleteFrom('callback_deliveries_store', 'kafka_offset = 2');
    const report = await look();
    expect(of(report, 'kafka records')).toMatchObject({
      accepted: 4,
      stored: 3,
      difference: 1,
      offenders: [`${TOPIC}/0@2`],
    });
    expect(report.ok).toBe(false);
  });

  it('finds both records of a producer that sent one delivery twice', async () => {
    const twice = { delivery_id: 'one', content_hash: new Uint8Array(32) };
    await sink.write(
      { callbackDeliveries: [callback(0, twice), callback(1, twice)] },
      { kafkaRecords: 2, coordinates: [`${TOPIC}/0@0-1`] },
    );
    await store.command('OPTIMIZE TABLE callback_deliveries_store FINAL');
    expect(of(await look(), 'kafka records')).toMatchObject({ accepted: 2, stored: 2, difference: 0 });
    expect(await store.query('SELECT deliveries FROM callbacks')).toEqual([{ deliveries: 1 }]);
  });

  it('takes rows without a ledger for what a crash left behind: information, no fault', async () => {
    await take([0, 1], '0-1');
    await store.insert('callbackDeliveries', [callback(2)]);
    const report = await look();
    expect(of(report, 'kafka records')).toMatchObject({ accepted: 2, stored: 2, unacknowledged: 1 });
    expect(report.ok).toBe(true);
  });

  it('counts hints of other collectors, which leave no row, and misses nothing but what is no hint', async () => {
    await sink.write(
      { watchRequests: [watchRequest('w', { topic: 'orders', kafka_partition: 1, kafka_offset: 3 })] },
      { kafkaRecords: 5, coordinates: ['orders/1@0-4'], hintCoordinates: ['orders/1@0-1', 'orders/1@4-4'] },
    );
    expect(of(await look(), 'kafka records')).toMatchObject({
      accepted: 5,
      stored: 4,
      repeats: 0,
      difference: 1,
      offenders: ['orders/1@2'],
    });
  });

  it('does not miss offsets that were never handed over', async () => {
    await sink.write(
      { callbackDeliveries: [callback(0), callback(7)] },
      { kafkaRecords: 2, coordinates: [`${TOPIC}/0@0-0`, `${TOPIC}/0@7-7`] },
    );
    expect(await look()).toMatchObject({ ok: true });
  });
});

describe('an audit of what is counted by batch', () => {
  it('finds intake callbacks, watch requests and replies as the ledger counted them', async () => {
    await sink.write({ callbackDeliveries: [http('a'), http('b')] }, { httpDeliveries: 2 });
    await sink.write({ watchRequests: [watchRequest('w1')], rejects: [reject('w2')] }, { watchRequests: 2 });
    await sink.write({ polls: [poll('p1')] }, { replies: 1 });
    await sink.write({ polls: [poll('p2')] }, { replies: 1 });
    const report = await look();
    expect(of(report, 'intake callbacks')).toMatchObject({ accepted: 2, stored: 2, difference: 0 });
    expect(of(report, 'watch requests')).toMatchObject({
      accepted: 2,
      stored: 1,
      rejected: 1,
      difference: 0,
    });
    expect(of(report, 'replies')).toMatchObject({ accepted: 2, stored: 2, difference: 0 });
    expect(report.ok).toBe(true);
  });

  it('names the batch whose reply is gone, and is not misled by rows of a batch that a crash cut off', async () => {
    await sink.write({ polls: [poll('p1')] }, { replies: 1 });
    await sink.write({ polls: [poll('p2')] }, { replies: 1 });
    await store.command(
      `INSERT INTO polls_store (gateway, started_at, poll_id, collector_id, batch_seq)
SELECT 'acme-eu', fromUnixTimestamp64Micro(${PAST}), 'cut off', 'collector-1', 3`,
    );
    await deleteFrom('polls_store', `poll_id = 'p2'`);
    const report = await look();
    expect(of(report, 'replies')).toMatchObject({
      accepted: 2,
      stored: 1,
      difference: 1,
      unacknowledged: 1,
      offenders: ['collector-1 batch 2: accepted 1, stored 0, rejected 0'],
    });
    expect(report.ok).toBe(false);
  });

  it('has a number of its own for each batch: one that a crash cut off has used its number up', async () => {
    await sink.write({ polls: [poll('p1')] }, { replies: 1 });
    await store.command(
      `INSERT INTO polls_store (gateway, started_at, poll_id, collector_id, batch_seq)
SELECT 'acme-eu', fromUnixTimestamp64Micro(${PAST}), 'cut off', 'collector-1', 2`,
    );
    const next = sinkOf(store);
    await next.write({ polls: [poll('p3')] }, { replies: 1 });
    await next.stop(1000);
    expect(await store.query(`SELECT poll_id, batch_seq FROM polls_store ORDER BY batch_seq`)).toEqual([
      { poll_id: 'p1', batch_seq: 1 },
      { poll_id: 'cut off', batch_seq: 2 },
      { poll_id: 'p3', batch_seq: 3 },
    ]);
    expect(of(await look(), 'replies')).toMatchObject({ accepted: 2, stored: 2, unacknowledged: 1 });
  });

  it('finds the reject of a row that the store refused', async () => {
    await sink.write({ polls: [poll('p1'), poll('p2', { outcome: 'no such outcome' })] }, { replies: 2 });
    expect(of(await look(), 'replies')).toMatchObject({ accepted: 2, stored: 1, rejected: 1, difference: 0 });
  });

  it('does not look at what was acknowledged before the time asked for', async () => {
    await sink.write({ polls: [poll('p1')] }, { replies: 1 });
    await deleteFrom('polls_store', `poll_id = 'p1'`);
    expect((await look()).ok).toBe(false);
    const report = await look((Date.now() + 1000) * 1000);
    expect(of(report, 'replies')).toMatchObject({ accepted: 0, difference: 0, unacknowledged: 0 });
    expect(report.ok).toBe(true);
  });
});

describe('an audit of history items', () => {
  const take = (id: string, items: number) => {
    const { events, order } = reply(id, items);
    return sink.write(
      { historyEvents: events, orders: [order], polls: [poll(id)] },
      { replies: 1, historyItems: items },
    );
  };

  it('counts an item once however often it was stored, and names the order that lacks one', async () => {
    await take('order-1', 3);
    await take('order-2', 2);
    await store.insert('historyEvents', reply('order-1', 3).events, 'a repetition with another token');
    const before = await look();
    expect(of(before, 'history items')).toMatchObject({ accepted: 5, stored: 5, difference: 0 });
    expect(before.ok).toBe(true);
    await deleteFrom(
      'history_events_store',
      `external_id = 'order-2' AND event_time = fromUnixTimestamp64Micro(${PAST})`,
    );
    const after = await look();
    expect(of(after, 'history items')).toMatchObject({
      accepted: 5,
      stored: 4,
      difference: 1,
      offenders: ['acme-eu|Deposit|order-2: accepted 2, stored 1, rejected 0'],
    });
    expect(after.ok).toBe(false);
  });

  it('asks a reject for each item that a reply had and nobody could read', async () => {
    const refused = { refused_items: 2, order_id: 'order-1', id_kind: 'external-id' };
    const row = (id: string) =>
      reject(id, { reason: 'history_item_malformed', order_type: 'Deposit', order_id: 'order-1' });
    await sink.write({ polls: [poll('p1', refused)], rejects: [row('r1')] }, { replies: 1 });
    expect(of(await look(), 'history items')).toMatchObject({
      difference: 1,
      offenders: ['acme-eu|Deposit|order-1 (refused items): accepted 2, stored 0, rejected 1'],
    });
    await sink.write({ rejects: [row('r2')] }, { coordinates: [] });
    expect(of(await look(), 'history items')).toMatchObject({ accepted: 2, rejected: 2, difference: 0 });
  });
});

describe('an audit of content', () => {
  it('takes equal versions of one item, and finds a version that says something else', async () => {
    await store.insert('historyEvents', [historyEvent({ observed_at: PAST, channel: '' })]);
    await store.insert('historyEvents', [
      historyEvent({ observed_at: PAST + 1, channel: 'p2p', list_position: 4 }),
    ]);
    expect((await look()).ok).toBe(true);
    await store.insert('historyEvents', [historyEvent({ observed_at: PAST + 2, reason_detail: 'ANOTHER' })]);
    const { ok, checks } = await look();
    expect(ok).toBe(false);
    expect(checks[0]?.violations).toBe(1);
    expect(checks[0]?.offenders[0]).toContain('acme-eu|Deposit|7d9f2c1e');
  });

  it('finds a callback of one delivery that was stored with two amounts', async () => {
    const same = { content_hash: new Uint8Array(32), delivery_id: 'one' };
    await store.insert('callbackDeliveries', [callback(0, { ...same, amount: '1.00' })]);
    await store.insert('callbackDeliveries', [
      callback(0, { ...same, amount: '2.00', received_at: PAST + 9 }),
    ]);
    expect((await look()).checks[0]?.violations).toBe(1);
  });

  it('finds a reject with a reason that nobody knows', async () => {
    await store.insert('rejects', [reject('r', { reason: 'because' })]);
    expect((await look()).checks.at(-1)).toMatchObject({ violations: 1, offenders: ['because'] });
  });

  it('finds that a view does not show what its table holds', async () => {
    await store.insert('historyEvents', [historyEvent({ observed_at: PAST })]);
    await store.command(
      'CREATE OR REPLACE VIEW history_events AS SELECT * FROM history_events_store WHERE 0',
    );
    const { checks } = await look();
    await createMigrator({ store }).run();
    expect(checks[1]).toMatchObject({
      violations: 1,
      offenders: ['history_events: shows 0, its table holds 1'],
    });
  });
});

describe('an audit of a store from which retention took rows', () => {
  it('looks only at what is still whole', async () => {
    await sink.write({ polls: [poll('old')] }, { replies: 1 });
    await deleteFrom('polls_store', '1');
    await store.command('ALTER TABLE polls_store MODIFY TTL toDateTime(started_at) + toIntervalDay(30)');
    await store.command(
      `ALTER TABLE ingest_ledger UPDATE acknowledged_at = now64(6) - INTERVAL 29 DAY WHERE 1 SETTINGS mutations_sync = 2`,
    );
    const report = await look();
    expect(of(report, 'replies')).toMatchObject({ accepted: 0, difference: 0 });
    expect(report.ok).toBe(true);
  });
});

function http(id: string) {
  return callback(0, {
    delivery_id: id,
    source: 'http',
    topic: '',
    kafka_partition: null,
    kafka_offset: null,
  });
}
