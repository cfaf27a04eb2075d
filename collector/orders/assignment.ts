import { WATCH_TOPIC_KEY_SQL, watchTopicKey, type WatchRef } from '../../schemas/watch.ts';

/**
 * The partitions of the watch topic that one collector has, and how many there are in all (`of`). It owns the
 * watched orders whose key hashes to one of its partitions (decision 13). null: it owns all orders, because
 * there is no other collector, or none is known.
 */
export type Assignment = { readonly partitions: readonly number[]; readonly of: number } | null;

/**
 * True when the collector with this assignment owns the order. Uses Kafka's hash of the watch message's key,
 * so that a message about an order reaches its owner.
 */
export function isAssigned(assignment: Assignment, order: Omit<WatchRef, 'idKind'>): boolean {
  if (assignment === null) return true;
  return assignment.partitions.includes(partitionOf(order, assignment.of));
}

/** The partition of the watch topic, of so many, that the order's messages lie in. */
export function partitionOf(order: Omit<WatchRef, 'idKind'>, of: number): number {
  return murmur2(Buffer.from(watchTopicKey(order))) % of;
}

/** The same as a condition in ClickHouse's SQL, with its parameters. */
export function assignmentCondition(assignment: Assignment): {
  sql: string;
  params: Record<string, unknown>;
} {
  if (assignment === null) return { sql: '1', params: {} };
  return {
    sql: `kafkaMurmurHash(${WATCH_TOPIC_KEY_SQL}) % {of:UInt32} IN {partitions:Array(UInt32)}`,
    params: { of: assignment.of, partitions: assignment.partitions },
  };
}

const MULTIPLIER = 0x5bd1e995;

/** MurmurHash2 as Kafka's default partitioner uses it, without the sign. */
export function murmur2(data: Uint8Array): number {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  let hash = 0x9747b28c ^ data.byteLength;
  let at = 0;
  for (; at + 4 <= data.byteLength; at += 4) {
    let word = Math.imul(view.getUint32(at, true), MULTIPLIER);
    word = Math.imul(word ^ (word >>> 24), MULTIPLIER);
    hash = Math.imul(hash, MULTIPLIER) ^ word;
  }
  if (at < data.byteLength) {
    for (let rest = data.byteLength - 1; rest >= at; rest -= 1)
      hash ^= (data[rest] ?? 0) << (8 * (rest - at));
    hash = Math.imul(hash, MULTIPLIER);
  }
  hash = Math.imul(hash ^ (hash >>> 13), MULTIPLIER);
  return (hash ^ (hash >>> 15)) & 0x7fffffff;
}
