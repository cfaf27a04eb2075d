/** Fills the buffers of Arrow columns: one function for each memory layout of the Arrow columnar format. */

/** A value that its column cannot carry: a mistake of ours, in one row. The message holds no value. */
export class RowNotEncodable extends Error {
  readonly row: number;
  readonly column: string;
  constructor(column: string, row: number) {
    super(`column ${column} of row ${row} has a value that the column cannot carry`);
    this.name = 'RowNotEncodable';
    this.row = row;
    this.column = column;
  }
}

/** One bit a row, least significant first, set where a value is present. No bitmap when all are. */
export function validity(values: readonly unknown[]): { nullCount: number; bitmap: Uint8Array | null } {
  let nullCount = 0;
  for (const value of values) if (value === null) nullCount += 1;
  if (nullCount === 0) return { nullCount, bitmap: null };
  const bitmap = new Uint8Array((values.length + 7) >> 3);
  for (let i = 0; i < values.length; i += 1) {
    if (values[i] !== null) bitmap[i >> 3] = (bitmap[i >> 3] ?? 0) | (1 << (i & 7));
  }
  return { nullCount, bitmap };
}

/** UTF-8 texts end to end, and where each begins. */
export function strings(
  column: string,
  values: readonly unknown[],
  nullable: boolean,
): { offsets: Int32Array; data: Uint8Array } {
  const offsets = new Int32Array(values.length + 1);
  let characters = 0;
  for (let i = 0; i < values.length; i += 1) {
    const value = values[i];
    if (typeof value === 'string') characters += value.length;
    else if (value !== null || !nullable) throw new RowNotEncodable(column, i);
    offsets[i + 1] = characters;
  }
  // Joining first turns ten thousand small conversions into one. It holds only while a character is a byte.
  const joined = values.join('');
  const data = Buffer.from(joined, 'utf8');
  if (data.byteLength === characters) return { offsets, data };
  return { offsets, data: writeEach(values, offsets) };
}

function writeEach(values: readonly unknown[], offsets: Int32Array): Uint8Array {
  let size = 0;
  for (let i = 0; i < values.length; i += 1) {
    const value = values[i];
    if (typeof value === 'string') size += Buffer.byteLength(value, 'utf8');
    offsets[i + 1] = size;
  }
  const data = Buffer.allocUnsafe(size);
  for (let i = 0; i < values.length; i += 1) {
    const value = values[i];
    if (typeof value === 'string') data.write(value, offsets[i] ?? 0, 'utf8');
  }
  return data;
}

/**
 * The distinct values of a column, in order of appearance, and each row's place among them (0 for a null).
 */
export interface Repeated {
  readonly distinct: readonly string[];
  readonly places: Uint8Array | Uint16Array;
}

/** Fewer rows than this are not worth a dictionary. */
const FEW_ROWS = 256;
const MOST_DISTINCT = 65_536;
/** A dictionary pays while a value stands for some rows: ids repeat with the items of an order. */
const LEAST_ROWS_A_VALUE = 2;

/** Equal to no value. */
const NONE_YET = Symbol('none yet');

/** The column as places in a list of its distinct values; null when it has too many of them, or few rows. */
export function repeatedStrings(
  column: string,
  values: readonly unknown[],
  nullable: boolean,
): Repeated | null {
  if (values.length < FEW_ROWS) return null;
  const places = new Uint16Array(values.length);
  const known = new Map<string, number>();
  let last: unknown = NONE_YET;
  let lastPlace = 0;
  for (let i = 0; i < values.length; i += 1) {
    const value = values[i];
    if (value !== last) {
      last = value;
      if (typeof value === 'string') {
        let place = known.get(value);
        if (place === undefined) {
          if (known.size === MOST_DISTINCT || known.size * LEAST_ROWS_A_VALUE > i + FEW_ROWS) return null;
          known.set(value, (place = known.size));
        }
        lastPlace = place;
      } else if (value === null && nullable) lastPlace = 0;
      else throw new RowNotEncodable(column, i);
    }
    places[i] = lastPlace;
  }
  const distinct = [...known.keys()];
  return { distinct, places: distinct.length <= 256 ? new Uint8Array(places) : places };
}

/** The items of all lists, and where each list begins among them. */
export function itemsOfLists(
  column: string,
  lists: readonly unknown[],
): { offsets: Int32Array; items: unknown[] } {
  const offsets = new Int32Array(lists.length + 1);
  const items: unknown[] = [];
  for (let i = 0; i < lists.length; i += 1) {
    const list = lists[i];
    if (!Array.isArray(list)) throw new RowNotEncodable(column, i);
    for (const item of list) items.push(item);
    offsets[i + 1] = items.length;
  }
  return { offsets, items };
}

/** Values of `width` bytes each. */
export function fixedBytes(column: string, values: readonly unknown[], width: number): Uint8Array {
  const data = new Uint8Array(values.length * width);
  for (let i = 0; i < values.length; i += 1) {
    const value = values[i];
    if (!(value instanceof Uint8Array) || value.byteLength !== width) throw new RowNotEncodable(column, i);
    data.set(value, i * width);
  }
  return data;
}

const TWO_32 = 2 ** 32;

/**
 * 64-bit integers, little endian, written as two halves: a BigInt a value would cost more than all the rest.
 */
export function integers64(
  column: string,
  values: readonly unknown[],
  kind: 'micros' | 'micros?' | 'u64' | 'i64?',
): BigInt64Array | BigUint64Array {
  const halves = new Uint32Array(values.length * 2);
  const least = kind === 'u64' ? 0 : Number.MIN_SAFE_INTEGER;
  const nullable = kind.endsWith('?');
  for (let i = 0; i < values.length; i += 1) {
    const value = values[i];
    if (value === null && nullable) continue;
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < least)
      throw new RowNotEncodable(column, i);
    const high = Math.floor(value / TWO_32);
    halves[i * 2] = value - high * TWO_32;
    halves[i * 2 + 1] = high;
  }
  return kind === 'u64' ? new BigUint64Array(halves.buffer) : new BigInt64Array(halves.buffer);
}

type SmallKind = 'u8' | 'u8?' | 'u16' | 'u16?' | 'u32' | 'i32?' | 'f64' | 'f64?';
type NumberArray = Uint8Array | Uint16Array | Uint32Array | Int32Array | Float64Array;

const SMALL: Readonly<
  Record<SmallKind, { create: (length: number) => NumberArray; least: number; most: number }>
> = {
  u8: { create: (n) => new Uint8Array(n), least: 0, most: 0xff },
  'u8?': { create: (n) => new Uint8Array(n), least: 0, most: 0xff },
  u16: { create: (n) => new Uint16Array(n), least: 0, most: 0xffff },
  'u16?': { create: (n) => new Uint16Array(n), least: 0, most: 0xffff },
  u32: { create: (n) => new Uint32Array(n), least: 0, most: 0xffffffff },
  'i32?': { create: (n) => new Int32Array(n), least: -0x80000000, most: 0x7fffffff },
  f64: { create: (n) => new Float64Array(n), least: -Infinity, most: Infinity },
  'f64?': { create: (n) => new Float64Array(n), least: -Infinity, most: Infinity },
};

/** Integers up to 32 bits and floating point numbers. */
export function numbers(column: string, values: readonly unknown[], kind: SmallKind): NumberArray {
  const { create, least, most } = SMALL[kind];
  const nullable = kind.endsWith('?');
  const whole = !kind.startsWith('f64');
  const data = create(values.length);
  for (let i = 0; i < values.length; i += 1) {
    const value = values[i];
    if (value === null && nullable) continue;
    if (
      typeof value !== 'number' ||
      !(value >= least && value <= most) ||
      (whole && !Number.isInteger(value))
    ) {
      throw new RowNotEncodable(column, i);
    }
    data[i] = value;
  }
  return data;
}
