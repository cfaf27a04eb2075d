import { clickhouseError } from './clickhouse-error.ts';
import { parseDataType, type DataType } from './sql/data-type.ts';

/** From this revision on every column says whether it is serialized in a special way; ours never is. */
const customSerialization = 54_454;
/** From this revision on a block's head has fields that are not written here. */
const tooNew = 54_480;

/** Of one block, which is in memory as a whole while it is rewritten. */
const MAX_BLOCK_BYTES = 64 * 1024 * 1024;

/** Field 1, is_overflows = 0; field 2, bucket_num = -1; end of fields. */
const blockInfo = Buffer.from([1, 0, 2, 0xff, 0xff, 0xff, 0xff, 0]);

const fixedSizes: Readonly<Record<string, number>> = {
  Nothing: 1, Bool: 1, UInt8: 1, Int8: 1, Enum8: 1, UInt16: 2, Int16: 2, Enum16: 2, Date: 2, BFloat16: 2, UInt32: 4,
  Int32: 4, Float32: 4, Date32: 4, DateTime: 4, IPv4: 4, Time: 4, UInt64: 8, Int64: 8, Float64: 8, DateTime64: 8,
  Time64: 8, UInt128: 16, Int128: 16, UUID: 16, IPv6: 16, UInt256: 32, Int256: 32,
}; // prettier-ignore

/**
 * Rewrites blocks of the format Native as a server writes them for `client_protocol_version`. The engine's
 * library only knows version 0, but Go's client (and so Grafana's plugin) and clickhouse-connect ask for a
 * newer one over HTTP.
 *
 *   version 0:  columns, rows (varint), then for each column: name, type (strings), values
 *   from 1 on:  a head in front of each block
 *   from 54454: a byte between type and values
 *
 * @param chunk whole blocks
 * @throws ClickHouseError 48 for a type whose values cannot be distinguished from those of the next column
 */
export function withRevision(chunk: Uint8Array, revision: number): Uint8Array {
  if (revision === 0) return chunk;
  const { blocks, rest } = readBlocks(
    Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength),
    revision,
  );
  if (rest.length > 0) throw new EndsTooEarly();
  return Buffer.concat(blocks);
}

/**
 * The same for a stream that is cut anywhere: each block goes on once it is whole.
 *
 * @throws ClickHouseError 48; RangeError when the last block is not whole
 */
export async function* rewriteBlocks(
  source: AsyncIterable<Buffer>,
  revision: number,
): AsyncGenerator<Uint8Array, void> {
  let held: Buffer = Buffer.alloc(0);
  /**
   * A block is looked at again when what is held has doubled, so that a long one is not read over and over.
   */
  let wanted = 1;
  for await (const chunk of source) {
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    if (held.length < wanted) continue;
    const { blocks, rest } = readBlocks(held, revision);
    yield* blocks;
    if (rest.length > MAX_BLOCK_BYTES)
      throw clickhouseError(396, 'A block of the result is too long for this format.');
    held = rest;
    wanted = 2 * rest.length;
  }
  if (held.length > 0) yield withRevision(held, revision);
}

/** The parts of all whole blocks in the bytes, and what is left behind them. */
function readBlocks(bytes: Buffer, revision: number): { blocks: Uint8Array[]; rest: Buffer } {
  if (revision >= tooNew) throw clickhouseError(48, `client_protocol_version ${revision} is not supported`);
  const cursor = new Cursor(bytes);
  const blocks: Uint8Array[] = [];
  let end = 0;
  try {
    while (!cursor.atEnd()) {
      const block = readBlock(cursor, revision);
      end = cursor.at;
      blocks.push(...block);
    }
  } catch (error) {
    if (!(error instanceof EndsTooEarly)) throw error;
  }
  return { blocks, rest: bytes.subarray(end) };
}

function readBlock(cursor: Cursor, revision: number): Uint8Array[] {
  const head = cursor.at;
  const columns = cursor.varint();
  const rows = cursor.varint();
  const parts: Uint8Array[] = [blockInfo, cursor.since(head)];
  for (let i = 0; i < columns; i++) {
    const start = cursor.at;
    cursor.skip(cursor.varint());
    const typeName = cursor.text(cursor.varint());
    parts.push(cursor.since(start));
    if (revision >= customSerialization) parts.push(Buffer.from([0]));
    const values = cursor.at;
    if (rows > 0) skipColumn(cursor, typeName, rows);
    parts.push(cursor.since(values));
  }
  return parts;
}

function skipColumn(cursor: Cursor, typeName: string, rows: number): void {
  const type = parseDataType(typeName);
  if (type === null) throw unsupported(typeName);
  cursor.skip(prefixSize(type));
  skipValues(cursor, type, rows);
}

/** What comes once in front of a column: a version for each LowCardinality inside. */
function prefixSize(type: DataType): number {
  const own = type.name === 'LowCardinality' ? 8 : 0;
  return type.children.reduce((sum, child) => sum + prefixSize(child), own);
}

function skipValues(cursor: Cursor, type: DataType, rows: number): void {
  const size = fixedSize(type);
  if (size !== null) return cursor.skip(size * rows);
  const [first] = type.children;
  if (type.name === 'String') {
    for (let i = 0; i < rows; i++) cursor.skip(cursor.varint());
  } else if (type.name === 'Nullable' && first !== undefined) {
    cursor.skip(rows);
    skipValues(cursor, first, rows);
  } else if (type.name === 'Tuple' && first !== undefined) {
    for (const child of type.children) skipValues(cursor, child, rows);
  } else if (['Array', 'Map', 'Nested'].includes(type.name) && first !== undefined) {
    const elements = cursor.lastOffset(rows);
    for (const child of type.children) skipValues(cursor, child, elements);
  } else if (type.name === 'SimpleAggregateFunction' && type.children.length === 2) {
    for (const child of type.children.slice(1)) skipValues(cursor, child, rows);
  } else if (type.name === 'LowCardinality' && first !== undefined) {
    if (rows > 0) skipDictionary(cursor, first.name === 'Nullable' ? (first.children[0] ?? first) : first);
  } else throw unsupported(type.name);
}

/** flags (width of indexes, kinds of dictionary), the keys, the number of rows, an index for each. */
function skipDictionary(cursor: Cursor, keys: DataType): void {
  const flags = cursor.uint64();
  if ((flags & 0x100) !== 0) throw unsupported('LowCardinality with a shared dictionary');
  if ((flags & 0x200) !== 0) skipValues(cursor, keys, cursor.uint64());
  cursor.skip(cursor.uint64() * 2 ** (flags & 0xff));
}

function fixedSize(type: DataType): number | null {
  if (type.name === 'FixedString') return type.numbers[0] ?? null;
  if (type.name.startsWith('Interval')) return 8;
  if (type.name === 'Decimal') {
    const precision = type.numbers[0] ?? 10;
    return precision <= 9 ? 4 : precision <= 18 ? 8 : precision <= 38 ? 16 : 32;
  }
  return fixedSizes[type.name] ?? null;
}

function unsupported(typeName: string): Error {
  return clickhouseError(
    48,
    `Values of type ${typeName} are not supported in this format: convert them to String`,
  );
}

class EndsTooEarly extends RangeError {
  constructor() {
    super('A block of the format Native ends too early.');
  }
}

class Cursor {
  at = 0;
  private readonly bytes: Buffer;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  atEnd(): boolean {
    return this.at >= this.bytes.length;
  }

  since(start: number): Buffer {
    return this.bytes.subarray(start, this.at);
  }

  skip(size: number): void {
    this.at += size;
    if (this.at > this.bytes.length) throw new EndsTooEarly();
  }

  text(size: number): string {
    const start = this.at;
    this.skip(size);
    return this.since(start).toString('utf8');
  }

  varint(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.bytes[this.at];
      if (byte === undefined) throw new EndsTooEarly();
      this.at++;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
  }

  uint64(): number {
    this.skip(8);
    return Number(this.bytes.readBigUInt64LE(this.at - 8));
  }

  /** Skips `rows` offsets of 8 bytes and gives the last: how many elements they share. */
  lastOffset(rows: number): number {
    if (rows === 0) return 0;
    this.skip((rows - 1) * 8);
    return this.uint64();
  }
}
