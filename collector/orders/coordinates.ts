import type { Coordinates, KafkaRecord } from '../../schemas/kafka.ts';

/** Where a record lies: its offset as text, or as the number that rows keep. */
type RecordPlace = Pick<KafkaRecord, 'topic' | 'partition'> & { readonly offset: string | number };

/**
 * Where records of one partition can be read again: `topic/partition@first-last`, once for each run without a
 * hole. Offsets that were never handed over (compacted away, or a transaction's markers) must not pass for
 * accepted ones.
 */
export function coordinatesRange(records: readonly RecordPlace[]): string[] {
  const runs: string[] = [];
  let first = records[0];
  for (const [index, record] of records.entries()) {
    const next = records[index + 1];
    if (next !== undefined && BigInt(next.offset) === BigInt(record.offset) + 1n) continue;
    if (first !== undefined) runs.push(`${coordinatesText(first)}-${record.offset}`);
    first = next;
  }
  return runs;
}

/** `topic/partition@offset`. */
export function coordinatesText(record: RecordPlace): string {
  return `${record.topic}/${record.partition}@${record.offset}`;
}

export function coordinatesOf(record: KafkaRecord): Coordinates {
  return { topic: record.topic, partition: record.partition, offset: Number(record.offset) };
}
