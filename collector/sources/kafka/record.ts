import type { KafkaMessage } from 'kafkajs';
import type { KafkaRecord } from '../../../schemas/kafka.ts';
import type { UnreadableBatch } from '../../../schemas/kafka.ts';

const NO_HEADERS: ReadonlyMap<string, readonly Uint8Array[]> = new Map();
const EMPTY = new Uint8Array(0);

/** A kafkajs message as a record. The bytes are views of what was fetched, not copies. */
export function toRecord(topic: string, partition: number, message: KafkaMessage): KafkaRecord {
  // Not in kafkajs' types: see `messageInPlaceOf`.
  const { unreadable } = message as KafkaMessage & { unreadable?: UnreadableBatch };
  return {
    topic,
    partition,
    offset: message.offset,
    key: message.key,
    value: message.value,
    headers: readHeaders(message.headers),
    timestampMs: Number(message.timestamp),
    ...(unreadable === undefined ? {} : { unreadable }),
  };
}

/**
 * kafkajs groups headers by exact name: a Buffer, or an array when the name repeats. For a header called like
 * a property of every object (`constructor`) that array begins with a function: whatever is not bytes is left
 * out.
 */
function readHeaders(headers: KafkaMessage['headers']): KafkaRecord['headers'] {
  if (headers === undefined) return NO_HEADERS;
  let read: Map<string, Uint8Array[]> | undefined;
  for (const name in headers) {
    if (!Object.hasOwn(headers, name)) continue;
    read ??= new Map();
    const key = name.toLowerCase();
    let values = read.get(key);
    if (values === undefined) read.set(key, (values = []));
    const found: unknown = headers[name];
    for (const value of Array.isArray(found) ? (found as unknown[]) : [found]) {
      if (value instanceof Uint8Array) values.push(value);
      else if (value === null) values.push(EMPTY);
    }
  }
  return read ?? NO_HEADERS;
}
