/**
 * Writes protobuf's wire format into one growing buffer. A message is a list of fields: a tag (number << 3 |
 * wire type), then a varint (0), 8 bytes (1), a length and bytes (2) or 4 bytes (5).
 * https://protobuf.dev/programming-guides/encoding/
 */
export interface ProtobufWriter {
  bytes: Buffer;
  /** Bytes written. */
  at: number;
}

const VARINT = 0;
const FIXED64 = 1;
const LENGTH = 2;
const FIXED32 = 5;
const TWO_32 = 2 ** 32;

export function createProtobufWriter(expectedBytes: number): ProtobufWriter {
  return { bytes: Buffer.allocUnsafe(Math.max(64, expectedBytes)), at: 0 };
}

/** What was written. The writer must not be used any more. */
export const written = ({ bytes, at }: ProtobufWriter): Buffer => bytes.subarray(0, at);

/** Makes room: a write beyond the end of a buffer would do nothing, and say nothing. */
function reserve(writer: ProtobufWriter, bytes: number): void {
  if (writer.at + bytes <= writer.bytes.length) return;
  const grown = Buffer.allocUnsafe(Math.max(writer.bytes.length * 2, writer.at + bytes));
  writer.bytes.copy(grown, 0, 0, writer.at);
  writer.bytes = grown;
}

/** @param value an integer from 0 on, exact; ten bytes must be reserved */
function putVarint(writer: ProtobufWriter, value: number): void {
  const { bytes } = writer;
  if (value < 0x80) {
    bytes[writer.at++] = value;
    return;
  }
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes[writer.at++] = (rest % 0x80) | 0x80;
  bytes[writer.at++] = rest;
}

const putTag = (writer: ProtobufWriter, field: number, wireType: number): void =>
  putVarint(writer, field * 8 + wireType);

/** @param value an integer of 64 bits, as far as a number holds it; negative ones take ten bytes */
export function writeVarint(writer: ProtobufWriter, field: number, value: number): void {
  reserve(writer, 20);
  putTag(writer, field, VARINT);
  if (value >= 0) return putVarint(writer, value);
  let rest = BigInt.asUintN(64, BigInt(value));
  for (; rest >= 0x80n; rest >>= 7n) writer.bytes[writer.at++] = Number(rest & 0x7fn) | 0x80;
  writer.bytes[writer.at++] = Number(rest);
}

/** An instant in nanoseconds, exactly. @param micros from 0 on */
export function writeNanos(writer: ProtobufWriter, field: number, micros: number): void {
  reserve(writer, 18);
  putTag(writer, field, FIXED64);
  // In halves of 32 bits: a number does not hold that many nanoseconds exactly.
  const low = (micros % TWO_32) * 1000;
  const high = Math.floor(micros / TWO_32) * 1000 + Math.floor(low / TWO_32);
  put32(writer, low % TWO_32);
  put32(writer, high);
}

/** The platform's own `writeUInt32LE` checks its arguments for longer than it writes. */
function put32(writer: ProtobufWriter, value: number): void {
  const { bytes, at } = writer;
  bytes[at] = value;
  bytes[at + 1] = value >>> 8;
  bytes[at + 2] = value >>> 16;
  bytes[at + 3] = value >>> 24;
  writer.at = at + 4;
}

export function writeDouble(writer: ProtobufWriter, field: number, value: number): void {
  reserve(writer, 18);
  putTag(writer, field, FIXED64);
  writer.at = writer.bytes.writeDoubleLE(value, writer.at);
}

export function writeFixed32(writer: ProtobufWriter, field: number, value: number): void {
  reserve(writer, 14);
  putTag(writer, field, FIXED32);
  put32(writer, value);
}

/** Bytes that come as hexadecimal digits. */
export function writeHex(writer: ProtobufWriter, field: number, digits: string): void {
  const length = digits.length >> 1;
  reserve(writer, 20 + length);
  putTag(writer, field, LENGTH);
  putVarint(writer, length);
  const { bytes, at } = writer;
  for (let i = 0; i < length; i += 1)
    bytes[at + i] = (digitOf(digits.charCodeAt(i * 2)) << 4) | digitOf(digits.charCodeAt(i * 2 + 1));
  writer.at = at + length;
}

/** Of a character: 0-9 are 0x30 to 0x39, a-f 0x61 to 0x66. */
const digitOf = (code: number): number => (code & 0xf) + (code >> 6) * 9;

export function writeText(writer: ProtobufWriter, field: number, text: string): void {
  const { length } = text;
  // A UTF-16 unit takes three bytes at most.
  reserve(writer, 20 + length * 3);
  putTag(writer, field, LENGTH);
  const start = writer.at;
  if (length <= LONGEST_BY_HAND) {
    putVarint(writer, length);
    if (putAscii(writer, text)) return;
    writer.at = start;
  }
  putVarint(writer, Buffer.byteLength(text));
  writer.at += writer.bytes.write(text, writer.at);
}

/** Longer text is written faster by the platform. */
const LONGEST_BY_HAND = 64;

/** False where a character is none of ASCII. */
function putAscii(writer: ProtobufWriter, text: string): boolean {
  const { bytes, at } = writer;
  const { length } = text;
  for (let i = 0; i < length; i += 1) {
    const code = text.charCodeAt(i);
    if (code > 0x7f) return false;
    bytes[at + i] = code;
  }
  writer.at = at + length;
  return true;
}

/** Writes again what was written before, from `start` to `end`. */
export function repeat(writer: ProtobufWriter, start: number, end: number): void {
  reserve(writer, end - start);
  writer.bytes.copyWithin(writer.at, start, end);
  writer.at += end - start;
}

/**
 * Begins a message within the message; `endMessage` takes what this returns.
 *
 * @param lengthBytes that its length will most likely take: where it does not, its bytes are moved
 */
export function beginMessage(writer: ProtobufWriter, field: number, lengthBytes: number): number {
  reserve(writer, 10 + lengthBytes);
  putTag(writer, field, LENGTH);
  writer.at += lengthBytes;
  return writer.at;
}

/** Ends it; true when its bytes were moved. */
export function endMessage(writer: ProtobufWriter, start: number, lengthBytes: number): boolean {
  const length = writer.at - start;
  const needed = varintBytes(length);
  if (needed !== lengthBytes) {
    reserve(writer, needed);
    writer.bytes.copyWithin(start - lengthBytes + needed, start, writer.at);
  }
  writer.at = start - lengthBytes;
  putVarint(writer, length);
  writer.at += length;
  return needed !== lengthBytes;
}

function varintBytes(value: number): number {
  let bytes = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes += 1;
  return bytes;
}
