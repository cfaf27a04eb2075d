import { watchTopicKey, type WatchedOrder } from '../../schemas/watch.ts';

/**
 * The part of all watched orders that one collector goes on with: those whose key falls into its partitions
 * of the watch topic (decision 13). null: all of them, because there is no other collector, or none that is
 * known of.
 */
export type Share = { readonly partitions: readonly number[]; readonly of: number } | null;

/**
 * Is it this collector that goes on with the order? Kafka's own hash of the watch message's key, so that the
 * message meets its keeper.
 */
export function isInShare(
  share: Share,
  order: Pick<WatchedOrder, 'gateway' | 'orderType' | 'orderId'>,
): boolean {
  if (share === null) return true;
  const key = Buffer.from(watchTopicKey(order));
  return share.partitions.includes(murmur2(key) % share.of);
}

/** The same as a condition in ClickHouse's SQL, with its parameters. */
export function shareCondition(share: Share): { sql: string; params: Record<string, unknown> } {
  if (share === null) return { sql: '1', params: {} };
  return {
    sql: `kafkaMurmurHash(concat(gateway, '|', toString(order_type), '|', order_id)) % {of:UInt32} IN {partitions:Array(UInt32)}`,
    params: { of: share.of, partitions: share.partitions },
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
