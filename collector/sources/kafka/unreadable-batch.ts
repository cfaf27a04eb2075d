import type { UnreadableBatch } from '../../../schemas/kafka.ts';

/** A batch of the broker takes up to a megabyte; what grows beyond this was made to. */
export const MAX_UNPACKED_BYTES = 16 << 20;
/** An empty record takes eight bytes in a batch and five hundred in memory. */
const MAX_RECORDS = 200_000;

/** Thrown by a codec: the batch would be larger than MAX_UNPACKED_BYTES. */
export class BatchTooLarge extends Error {}

/*
 * What a batch begins with (version 2 of the format, big-endian):
 *   FirstOffset int64, Length int32, PartitionLeaderEpoch int32, Magic int8, CRC int32, Attributes int16,
 *   LastOffsetDelta int32, FirstTimestamp int64, MaxTimestamp int64, ProducerId int64, ProducerEpoch int16,
 *   FirstSequence int32, Records int32
 */
const AT = {
  length: 8,
  attributes: 21,
  lastOffsetDelta: 23,
  firstTimestamp: 27,
  producerId: 43,
  records: 57,
};
/** From its first byte to the one behind Length. */
const PREFIX_BYTES = 12;
const TRANSACTIONAL = 0x10;

/** How many records the batch at `at` says it has: more than anybody should make objects of? */
export function hasTooManyRecords(bytes: Buffer, at: number): boolean {
  return bytes.length >= at + AT.records + 4 && bytes.readInt32BE(at + AT.records) > MAX_RECORDS;
}

/**
 * One message, as the client library has them, at the last offset of a batch that cannot be read: the next
 * fetch goes on behind it.
 */
export function messageInPlaceOf(bytes: Buffer, at: number, problem: UnreadableBatch['problem']): object {
  const firstOffset = bytes.readBigInt64BE(at);
  const offset = `${firstOffset + BigInt(bytes.readInt32BE(at + AT.lastOffsetDelta))}`;
  const attributes = bytes.readInt16BE(at + AT.attributes);
  const unreadable: UnreadableBatch = {
    problem,
    firstOffset: `${firstOffset}`,
    lastOffset: offset,
    bytes: PREFIX_BYTES + bytes.readInt32BE(at + AT.length),
  };
  return {
    magicByte: 2,
    attributes: 0,
    timestamp: `${bytes.readBigInt64BE(at + AT.firstTimestamp)}`,
    offset,
    key: null,
    value: null,
    headers: {},
    isControlRecord: false,
    batchContext: {
      inTransaction: (attributes & TRANSACTIONAL) !== 0,
      producerId: `${bytes.readBigInt64BE(at + AT.producerId)}`,
    },
    unreadable,
  };
}
