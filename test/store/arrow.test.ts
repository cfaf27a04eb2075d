import { tableFromIPC } from 'apache-arrow';
import type { Table } from 'apache-arrow';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeArrow } from '../../store/arrow.ts';
import { freezeInsert } from '../../store/frozen-insert.ts';
import type { Store } from '../../store/store.ts';
import type { TableKey } from '../../schemas/names.ts';
import { TABLES } from '../../schemas/names.ts';
import type { Columns } from '../../schemas/rows.ts';
import { migratedStore, type MigratedStore } from '../cli/commands/support/seeded-order.ts';
import { count } from '../support/migrated-store.ts';
import { anyRow, freeTextColumns, historyEvent } from '../collector/sinks/support/rows.ts';

const EVERY_KIND = {
  string: 'string',
  stringOrNull: 'string?',
  strings: 'string[]',
  stringsOrNull: 'string?[]',
  bytesOrNull: 'u8?[]',
  bytes: 'bytes32',
  u8: 'u8',
  u8OrNull: 'u8?',
  u16: 'u16',
  u16OrNull: 'u16?',
  u32: 'u32',
  u64: 'u64',
  i32OrNull: 'i32?',
  i64OrNull: 'i64?',
  f64: 'f64',
  micros: 'micros',
  microsOrNull: 'micros?',
} as const satisfies Columns;

const text = fc.string({ unit: 'grapheme' });
const micros = fc.integer({ min: -8e14, max: 8e15 });
const anyRowOfKinds = fc.record({
  string: text,
  stringOrNull: fc.option(text),
  strings: fc.array(text, { maxLength: 4 }),
  stringsOrNull: fc.array(fc.option(text), { maxLength: 4 }),
  bytesOrNull: fc.array(fc.option(fc.integer({ min: 0, max: 255 })), { maxLength: 4 }),
  bytes: fc.uint8Array({ minLength: 32, maxLength: 32 }),
  u8: fc.integer({ min: 0, max: 255 }),
  u8OrNull: fc.option(fc.integer({ min: 0, max: 255 })),
  u16: fc.integer({ min: 0, max: 65_535 }),
  u16OrNull: fc.option(fc.integer({ min: 0, max: 65_535 })),
  u32: fc.integer({ min: 0, max: 0xffffffff }),
  u64: fc.maxSafeNat(),
  i32OrNull: fc.option(fc.integer()),
  i64OrNull: fc.option(fc.maxSafeInteger()),
  f64: fc.double({ noNaN: true }),
  micros,
  microsOrNull: fc.option(micros),
});

describe('rows as Arrow', () => {
  it('come back as they were, for any values of every kind', () => {
    fc.assert(
      fc.property(fc.array(anyRowOfKinds, { minLength: 1, maxLength: 30 }), (rows) => {
        const table = tableFromIPC(encodeArrow(EVERY_KIND, rows));
        expect(table.numRows).toBe(rows.length);
        for (const [i, row] of rows.entries()) {
          const { micros: at, microsOrNull: maybeAt, ...others } = row;
          const read = table.get(i)?.toJSON() as Record<string, unknown>;
          expect(rawMicros(table, 'micros', i)).toBe(BigInt(at));
          const readAt = read['microsOrNull'] === null ? null : rawMicros(table, 'microsOrNull', i);
          expect(readAt).toBe(maybeAt === null ? null : BigInt(maybeAt));
          for (const [name, value] of Object.entries(others))
            expect([name, plain(read[name])]).toEqual([name, value]);
        }
      }),
      { numRuns: 200 },
    );
  });

  it('come back as they were when texts repeat, few or many of them, with and without nulls', () => {
    const columns = { text: 'string', maybe: 'string?' } as const satisfies Columns;
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 700 }),
        fc.integer({ min: 1, max: 400 }),
        text,
        (count, distinct, end) => {
          const rows = Array.from({ length: count }, (_, i) => ({
            text: `${i % distinct}${end}`,
            maybe: i % 3 === 0 ? null : `${i % 7}${end}`,
          }));
          const table = tableFromIPC(encodeArrow(columns, rows));
          expect(table.toArray().map((row) => row.toJSON())).toEqual(rows);
        },
      ),
      { numRuns: 100 },
    );
  });

  it('hold a constant in a column that the rows lack', () => {
    const table = tableFromIPC(encodeArrow({ a: 'string', n: 'u64' }, [{ a: 'x' }, { a: 'y' }], { n: 7 }));
    expect(table.toArray().map((row) => plain(row.n))).toEqual([7, 7]);
  });

  it.each([
    ['string', 5],
    ['string', null],
    ['string', undefined],
    ['string?', undefined],
    ['string[]', ['a', 1]],
    ['bytes32', new Uint8Array(31)],
    ['u8', 256],
    ['u16', -1],
    ['u32', 1.5],
    ['u64', -1],
    ['u64', 2 ** 53],
    ['i32?', 2 ** 31],
    ['f64', Number.NaN],
    ['micros', null],
    ['micros', 0.5],
  ] as const)('are refused, by row and column, when %s is given %s', (kind, value) => {
    const rows = [
      {
        a:
          kind === 'bytes32'
            ? new Uint8Array(32)
            : kind.endsWith('[]')
              ? []
              : kind.startsWith('string')
                ? ''
                : 0,
      },
    ];
    expect(() => encodeArrow({ a: kind }, [...rows, { a: value }])).toThrow(
      expect.objectContaining({ name: 'RowNotEncodable', column: 'a', row: 1 }),
    );
  });

  it.each(['string', 'string?'] as const)('are refused when the first of many %s is missing', (kind) => {
    const rows = Array.from({ length: 300 }, (_, i) => (i === 0 ? {} : { a: 'x' }));
    expect(() => encodeArrow({ a: kind }, rows)).toThrow(
      expect.objectContaining({ name: 'RowNotEncodable', column: 'a', row: 0 }),
    );
  });

  it('have equal tokens only for equal content in the same table', () => {
    const row = historyEvent();
    const stamp = { collectorId: 'c1', batchSeq: 1 };
    const { token } = freezeInsert('historyEvents', [row], { stamp });
    expect(freezeInsert('historyEvents', [{ ...row }], { stamp }).token).toBe(token);
    expect(freezeInsert('historyEvents', [row], { stamp: { ...stamp, batchSeq: 2 } }).token).not.toBe(token);
    expect(freezeInsert('historyEvents', [{ ...row, channel: '' }], { stamp }).token).not.toBe(token);
  });
});

describe('rows in the store', () => {
  let database: MigratedStore;
  let store: Store;
  beforeAll(async () => {
    database = await migratedStore();
    store = database.store;
  });
  afterAll(() => database.stop());

  const tables = Object.keys(TABLES) as TableKey[];

  it.each(tables)('%s: text that looks like the end of a statement stays text', async (table) => {
    const hostile = 'x\'"`\\ \n\nDROP TABLE history_events_store;\n\nDROP TABLE annotations_store;';
    await store.insert(table, [anyRow(table, hostile)]);
    const columns = freeTextColumns(table);
    const [row] = await store.query<Record<string, unknown>>(
      `SELECT ${columns.join(', ')} FROM ${TABLES[table]}`,
    );
    for (const column of columns) expect([column, [row?.[column]].flat()]).toEqual([column, [hostile]]);
    for (const survivor of Object.values(TABLES))
      expect(await count(store, survivor)).toBeGreaterThanOrEqual(0);
  });

  it('keep texts that repeat, in every kind of text column, with nulls among them', async () => {
    const rows = Array.from({ length: 1000 }, (_, i) =>
      historyEvent({
        gateway: `repeat-${i % 3}`,
        // More different ones than a byte can number.
        external_id: `order-${i >> 1}`,
        occurrence: i % 2,
        action: i % 2 === 0 ? '4.1.4.63' : `odd-${i % 301}`,
        order_type: i % 4 === 0 ? 'Withdrawal' : 'Deposit',
        stage: i % 2 === 0 ? 'CHECK' : null,
        reason_group: i % 2 === 0 ? 'ISSUER' : null,
      }),
    );
    await store.insert('historyEvents', rows);
    const stored = await store.query(
      `SELECT gateway, external_id, action, order_type, stage, reason_group FROM history_events
WHERE gateway LIKE 'repeat-%' ORDER BY toUInt32(substring(external_id, 7)), occurrence`,
    );
    expect(stored).toEqual(
      rows.map(({ gateway, external_id, action, order_type, stage, reason_group }) => {
        return { gateway, external_id, action, order_type, stage, reason_group };
      }),
    );
  });

  it('keep microseconds, nulls, bytes and the exact decimal text', async () => {
    await store.insert('historyEvents', [
      historyEvent({
        external_id: 'exact',
        event_time: 1_795_234_161_123_457,
        stage: null,
        reason_code: null,
      }),
    ]);
    expect(
      await store.query(
        `SELECT toString(event_time) AS at, stage, reason_code FROM history_events WHERE external_id = 'exact'`,
      ),
    ).toEqual([{ at: '2026-11-21 04:09:21.123457', stage: null, reason_code: null }]);
    await store.insert('orders', [
      { ...anyRow('orders'), external_id: 'exact', amount: '12345678901234567890.123456789' },
    ]);
    expect(
      await store.query(`SELECT toString(amount) AS amount FROM orders WHERE external_id = 'exact'`),
    ).toEqual([{ amount: '12345678901234567890.123456789' }]);
    const hash = Uint8Array.from({ length: 32 }, (_, i) => 255 - i);
    await store.insert('callbackDeliveries', [
      { ...anyRow('callbackDeliveries'), gateway: 'bytes', content_hash: hash },
    ]);
    expect(await store.query(`SELECT content_hash FROM callbacks WHERE gateway = 'bytes'`)).toEqual([
      { content_hash: Buffer.from(hash).toString('hex') },
    ]);
  });

  it("name the statement and ClickHouse's code in errors, and no value", async () => {
    const secret = '4111111111111111';
    await expect(store.insert('historyEvents', [historyEvent({ stage: secret })])).rejects.toMatchObject({
      code: 'store_rejected',
      retryable: false,
      clickhouseCode: 691,
      message: expect.not.stringContaining(secret),
    });
    await expect(store.query(`SELECT nothing_${secret}`)).rejects.toMatchObject({
      code: 'store_refused',
      message: expect.not.stringContaining(secret),
    });
  });
});

function rawMicros(table: Table, column: string, row: number): bigint {
  const data = table.getChild(column)?.data[0]?.values as BigInt64Array;
  return data[row] ?? -1n;
}

function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof Uint8Array) return Uint8Array.from(value);
  if (typeof value === 'object' && value !== null && Symbol.iterator in value)
    return [...(value as Iterable<unknown>)];
  return value;
}
