import { TABLES } from '../schemas/names.ts';
import type { Store } from './store.ts';

/** One partition of a Kafka topic. */
export interface KafkaPartition {
  readonly topic: string;
  readonly partition: number;
}

/** How far the store knows a partition. */
export interface StoredEnd extends KafkaPartition {
  /** The offset behind the last record that it has taken, as decimal text. */
  readonly next: string;
}

/** Groups of a place of the ledger, `topic/partition@first-last`: topic, partition, first, last. */
export const LEDGER_PLACE = '^(.+)/(\\\\d+)@(\\\\d+)(?:-(\\\\d+))?$';

const RECENT_DAYS = 2;

const ledgerEnds = (where: string): string => `SELECT place[1] AS topic, toInt32(place[2]) AS partition,
    max(toInt64(if(place[4] = '', place[3], place[4]))) AS last
FROM
(
    SELECT extractGroups(arrayJoin(splitByChar(' ', coordinates)), '${LEDGER_PLACE}') AS place
    FROM ${TABLES.ingestLedger}
    WHERE kafka_records > 0 AND ${where}
)
WHERE length(place) = 4
GROUP BY topic, partition`;

const rowEnds = (
  table: string,
): string => `SELECT toString(topic), assumeNotNull(kafka_partition), max(kafka_offset)
FROM ${table}
WHERE topic != '' AND kafka_offset IS NOT NULL
GROUP BY ALL`;

/** What the newest batches say: enough for every partition that has had a record since. */
const RECENT = ledgerEnds(
  `acknowledged_at > (SELECT max(acknowledged_at) FROM ${TABLES.ingestLedger}) - INTERVAL ${RECENT_DAYS} DAY`,
);
/** Rows are kept longer than the ledger, and name where they were read. */
const ALL = [
  ledgerEnds('1'),
  ...[TABLES.callbackDeliveries, TABLES.watchRequests, TABLES.rejects].map(rowEnds),
].join('\nUNION ALL ');

/**
 * How far the store knows each partition; one of which it has nothing is missing. After a backup was
 * restored that is less than the consumer group has committed.
 */
export async function storedEnds(
  store: Pick<Store, 'query'>,
  partitions: readonly KafkaPartition[],
): Promise<StoredEnd[]> {
  const keyOf = ({ topic, partition }: KafkaPartition): string => `${topic}/${partition}`;
  const found = new Map<string, StoredEnd>();
  for (const sql of [RECENT, ALL]) {
    if (partitions.every((one) => found.has(keyOf(one)))) break;
    const rows = await store.query<StoredEnd>(
      `SELECT topic, partition, toString(max(last) + 1) AS next FROM (${sql}) GROUP BY topic, partition`,
    );
    for (const row of rows) found.set(keyOf(row), row);
  }
  return partitions.flatMap((one) => found.get(keyOf(one)) ?? []);
}
