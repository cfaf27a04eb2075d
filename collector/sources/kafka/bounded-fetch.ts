import { createRequire } from 'node:module';
import { BatchTooLarge, hasTooManyRecords, messageInPlaceOf } from './unreadable-batch.ts';

/** kafkajs' reader of bytes. */
interface Decoder {
  readonly buffer: Buffer;
  offset: number;
  readInt32(): number;
  readVarInt(): number;
  readVarIntBytes(): Buffer | null;
  /** Of a record: its headers. */
  readVarIntArray(read: (decoder: Decoder) => object): object[];
  readBytes(length?: number): Buffer | null;
  canReadBytes(length: number): boolean;
}

interface Message {
  readonly key: Buffer | null;
  readonly value: Buffer | null;
}

/** One record of a batch. The decoder holds this record and nothing else. */
type DecodeRecord = (decoder: Decoder, context: object) => object;
type DecodeMessages = (decoder: Decoder) => Promise<object[]>;
type DecodeBatch = (decoder: Decoder) => Promise<{ readonly records: readonly (object & Message)[] }>;

/** Once this much of a partition is unpacked, the rest of the fetch is dropped and fetched again. */
export const ENOUGH_BYTES = 4 << 20;
const RECORD_OVERHEAD_BYTES = 500;
/** Offset of a batch's format version, behind the length of all batches. */
const MAGIC_AT = 4 + 16;
const MAGIC = 2;
/** A batch without its records. */
const BATCH_OVERHEAD = 49;

const load = createRequire(import.meta.url);
let bounded = false;

/**
 * kafkajs 2.2.4 unpacks all that a fetch brings, however large, and crashes the consumer over a batch that it
 * cannot read: after the restart the same batch comes first again. This bounds its decoder: a fetch is
 * unpacked up to ENOUGH_BYTES, and one message stands for a batch that cannot be read. Has to be called
 * before anything was fetched, since kafkajs keeps what it has loaded.
 */
export function boundFetches(): void {
  if (bounded) return;
  bounded = true;
  replace<DecodeRecord>('kafkajs/src/protocol/recordBatch/record/v0/decoder', withHeadersOnce);
  replace<DecodeMessages>('kafkajs/src/protocol/requests/fetch/v4/decodeMessages', (original) => {
    const decodeBatch = load('kafkajs/src/protocol/recordBatch/v0/decoder') as DecodeBatch;
    const DecoderOf = load('kafkajs/src/protocol/decoder') as new (bytes: Buffer) => Decoder;
    return (decoder) =>
      isOldFormat(decoder) ? original(decoder) : decodeMessages(decoder, decodeBatch, DecoderOf);
  });
}

function replace<T>(path: string, by: (original: T) => T): void {
  const original = load(path) as T;
  const loaded = load.cache[load.resolve(path)];
  if (loaded !== undefined) loaded.exports = by(original);
}

function isOldFormat({ buffer, offset }: Decoder): boolean {
  return buffer.length > offset + MAGIC_AT && buffer.readInt8(offset + MAGIC_AT) !== MAGIC;
}

async function decodeMessages(
  decoder: Decoder,
  decodeBatch: DecodeBatch,
  DecoderOf: new (bytes: Buffer) => Decoder,
): Promise<object[]> {
  const size = decoder.readInt32();
  if (size <= 0 || !decoder.canReadBytes(size)) return [];
  const bytes = decoder.readBytes(size) as Buffer;
  const batches = new DecoderOf(bytes);
  const messages: object[] = [];
  for (let held = 0; held < ENOUGH_BYTES && batches.canReadBytes(BATCH_OVERHEAD);) {
    const at = batches.offset;
    // The last one may be cut off: a fetch is limited by bytes, not by batches.
    const length = BATCH_PREFIX + bytes.readInt32BE(at + 8);
    if (length <= BATCH_PREFIX || at + length > bytes.length) break;
    const read = await readBatch(batches, at, decodeBatch);
    batches.offset = at + length;
    for (const message of read) {
      held += RECORD_OVERHEAD_BYTES + sizeOf(message as Partial<Message>);
      messages.push(message);
    }
  }
  return messages;
}

/** First offset and length of a batch. */
const BATCH_PREFIX = 12;

async function readBatch(batches: Decoder, at: number, decodeBatch: DecodeBatch): Promise<readonly object[]> {
  if (hasTooManyRecords(batches.buffer, at)) return [messageInPlaceOf(batches.buffer, at, 'too_large')];
  try {
    return (await decodeBatch(batches)).records;
  } catch (error) {
    const problem = error instanceof BatchTooLarge ? 'too_large' : 'damaged';
    return [messageInPlaceOf(batches.buffer, at, problem)];
  }
}

const sizeOf = ({ key, value }: Partial<Message>): number => (key?.length ?? 0) + (value?.length ?? 0);

/**
 * A record as kafkajs reads it, except for the headers: it copies all headers read so far for each further
 * one, so that ten thousand of them take seconds. Here it finds none, and they are put in afterwards.
 */
const withHeadersOnce =
  (decodeRecord: DecodeRecord): DecodeRecord =>
  (decoder, context) => {
    let headers = {};
    decoder.readVarIntArray = () => {
      headers = readHeaders(decoder);
      return [];
    };
    return { ...decodeRecord(decoder, context), headers };
  };

/** By exact name, an array where a name repeats: the form that kafkajs gives them. */
function readHeaders(decoder: Decoder): Record<string, Buffer | null | (Buffer | null)[]> {
  const headers = Object.create(null) as Record<string, Buffer | null | (Buffer | null)[]>;
  const count = decoder.readVarInt();
  for (let index = 0; index < count && decoder.offset < decoder.buffer.length; index += 1) {
    const name = decoder.readVarIntBytes()?.toString('utf8') ?? '';
    const value = decoder.readVarIntBytes();
    const before = headers[name];
    if (before === undefined) headers[name] = value;
    else if (Array.isArray(before)) before.push(value);
    else headers[name] = [before, value];
  }
  return headers;
}
