import {
  Dictionary,
  Field,
  FixedSizeBinary,
  Float64,
  Int32,
  Int64,
  List,
  makeData,
  makeVector,
  RecordBatch,
  RecordBatchStreamWriter,
  Schema,
  Struct,
  TimestampMicrosecond,
  Uint16,
  Uint32,
  Uint64,
  Uint8,
  Utf8,
} from 'apache-arrow';
import type { Data, DataType } from 'apache-arrow';
import type { ColumnKind, Columns, ScalarKind } from '../schemas/rows.ts';
import type { AnyRow } from '../schemas/rows.ts';
import {
  RowNotEncodable,
  fixedBytes,
  integers64,
  numbers,
  itemsOfLists,
  repeatedStrings,
  strings,
  validity,
} from './arrow-buffers.ts';

const TYPES: Readonly<Record<ScalarKind, () => DataType>> = {
  string: () => new Utf8(),
  'string?': () => new Utf8(),
  bytes32: () => new FixedSizeBinary(32),
  u8: () => new Uint8(),
  'u8?': () => new Uint8(),
  u16: () => new Uint16(),
  'u16?': () => new Uint16(),
  u32: () => new Uint32(),
  u64: () => new Uint64(),
  'i32?': () => new Int32(),
  'i64?': () => new Int64(),
  f64: () => new Float64(),
  'f64?': () => new Float64(),
  micros: () => new TimestampMicrosecond('UTC'),
  'micros?': () => new TimestampMicrosecond('UTC'),
};

/**
 * Rows as an Arrow IPC stream of one record batch, columns in the order of `columns`. A column named in
 * `constants` has that value in every row. Buffers are filled directly: the library's builders are several
 * times slower. Texts that repeat are sent once, which halves the bytes.
 *
 * @throws RowNotEncodable for the first value that its column cannot carry
 */
export function encodeArrow(columns: Columns, rows: readonly AnyRow[], constants: AnyRow = {}): Uint8Array {
  const names = Object.keys(columns);
  const children = names.map((name) => {
    const values = name in constants ? rows.map(() => constants[name]) : valuesOf(name, rows);
    return columnData(name, columns[name] as ColumnKind, values);
  });
  const fields = children.map((child, i) => {
    const name = names[i] as string;
    return new Field(name, child.type, isNullable(columns[name] as ColumnKind));
  });
  const data = makeData({ type: new Struct(fields), length: rows.length, nullCount: 0, children });
  const batch = new RecordBatch(new Schema(fields), data);
  return RecordBatchStreamWriter.writeAll([batch]).toUint8Array(true);
}

/**
 * Overwrites a copy, which has its full length at once: `map` with a function for each column takes half as
 * long again.
 */
function valuesOf(name: string, rows: readonly AnyRow[]): unknown[] {
  const values: unknown[] = [...rows];
  for (let i = 0; i < rows.length; i += 1) values[i] = rows[i]?.[name];
  return values;
}

function isNullable(kind: ColumnKind): boolean {
  return kind.endsWith('?');
}

const isList = (kind: ColumnKind): kind is `${ScalarKind}[]` => kind.endsWith('[]');

function columnData(name: string, kind: ColumnKind, values: readonly unknown[]): Data {
  return isList(kind) ? listData(name, kind, values) : scalarData(name, kind, values);
}

/** Lists as the items of all of them, and where each list begins among those. */
function listData(name: string, kind: `${ScalarKind}[]`, values: readonly unknown[]): Data {
  const { items, offsets } = itemsOfLists(name, values);
  const itemKind = kind.slice(0, -2) as ScalarKind;
  try {
    const child = scalarData(name, itemKind, items);
    const type = new List(new Field('item', child.type, isNullable(itemKind)));
    return makeData({ type, length: values.length, nullCount: 0, valueOffsets: offsets, child });
  } catch (error) {
    if (!(error instanceof RowNotEncodable)) throw error;
    // The row is that of the list, not of the item.
    throw new RowNotEncodable(name, offsets.findIndex((end) => end > error.row) - 1);
  }
}

function scalarData(name: string, kind: ScalarKind, values: readonly unknown[]): Data {
  const length = values.length;
  const type = TYPES[kind]();
  const nullable = isNullable(kind);
  const nulls = nullable ? validity(values) : { nullCount: 0, bitmap: null };
  const base = { type, length, nullCount: nulls.nullCount, nullBitmap: nulls.bitmap };
  switch (kind) {
    case 'string':
    case 'string?': {
      const repeated = repeatedStrings(name, values, nullable);
      if (repeated === null) return makeData({ ...base, ...utf8(name, values, nullable) });
      const { distinct, places } = repeated;
      const dictionary = makeVector(makeData({ length: distinct.length, ...utf8(name, distinct, false) }));
      const indexed = new Dictionary(new Utf8(), places instanceof Uint8Array ? new Uint8() : new Uint16());
      return makeData({ ...base, type: indexed, data: places, dictionary });
    }
    case 'bytes32':
      return makeData({ ...base, type: type as FixedSizeBinary, data: fixedBytes(name, values, 32) });
    case 'micros':
    case 'micros?':
    case 'u64':
    case 'i64?':
      return makeData({
        ...base,
        type: type as Int64,
        data: integers64(name, values, kind) as BigInt64Array<ArrayBuffer>,
      });
    default:
      return makeData({
        ...base,
        type: type as Float64,
        data: numbers(name, values, kind) as Float64Array<ArrayBuffer>,
      });
  }
}

function utf8(name: string, values: readonly unknown[], nullable: boolean) {
  const { offsets, data } = strings(name, values, nullable);
  return { type: new Utf8(), valueOffsets: offsets, data };
}
