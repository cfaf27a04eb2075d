import { TABLES } from '../../schemas/names.ts';
import { WITHIN, withinParams, type LedgerBounds } from './ledger.ts';
import { LEDGER_PLACE } from '../../store/stored-offsets.ts';
import { SHOWN, type Identity, type Query } from './report.ts';

interface PartitionRow {
  topic: string;
  partition: number;
  accepted: number;
  offered: number;
  stored: number;
  rejected: number;
  missing: number;
  first_missing: number[];
  unacknowledged: number;
}

/** Where a row was read, from the tables that keep it. `kind`: 1 stored, 2 rejected. */
const placesOf = (table: string, at: string, kind: number) =>
  `SELECT toString(topic) AS topic, assumeNotNull(kafka_partition) AS partition, assumeNotNull(kafka_offset) AS offset,
    ${kind} AS kind, ${at} >= fromUnixTimestamp64Micro({since:Int64}) AS recent, 0 AS offered
FROM ${table} WHERE topic != '' AND kafka_offset IS NOT NULL`;

/**
 * The places that the ledger names in a column. `kind`: 0 taken in, 1 of these the hints of other
 * collectors: they leave no row, so the ledger itself says that they were taken.
 */
const ledgerPlaces = (column: 'coordinates' | 'hint_coordinates', kind: 0 | 1) =>
  `SELECT
        place[1] AS topic, toInt32(place[2]) AS partition,
        arrayJoin(range(toInt64(place[3]), toInt64(if(place[4] = '', place[3], place[4])) + 1)) AS offset,
        ${kind} AS kind, 0 AS recent, ${1 - kind} AS offered
    FROM
    (
        SELECT extractGroups(arrayJoin(splitByChar(' ', any(${column}))), '${LEDGER_PLACE}') AS place
        FROM ${TABLES.ingestLedger}
        WHERE kafka_records > 0 AND ${WITHIN}
        GROUP BY collector_id, batch_seq
    )
    WHERE length(place) = 4`;

/**
 * Offsets as bitmaps, which hold runs of numbers in few bytes: accepted ones from the ledger's ranges, stored
 * and rejected ones from the rows. Rows of any age count, since a record that is read again keeps the row of
 * its first arrival.
 */
const SQL = `SELECT
    topic, partition,
    bitmapCardinality(accepted_places) AS accepted,
    sum(offered) AS offered,
    bitmapCardinality(bitmapAnd(accepted_places, stored_places)) AS stored,
    bitmapCardinality(bitmapAndnot(bitmapAnd(accepted_places, rejected_places), stored_places)) AS rejected,
    bitmapCardinality(missing_places) AS missing,
    bitmapToArray(bitmapSubsetLimit(missing_places, toUInt64(0), toUInt64(${SHOWN}))) AS first_missing,
    bitmapCardinality(bitmapAndnot(recent_places, accepted_places)) AS unacknowledged,
    groupBitmapStateIf(toUInt64(offset), kind = 0) AS accepted_places,
    groupBitmapStateIf(toUInt64(offset), kind = 1) AS stored_places,
    groupBitmapStateIf(toUInt64(offset), kind = 2) AS rejected_places,
    groupBitmapStateIf(toUInt64(offset), recent AND kind != 0) AS recent_places,
    bitmapAndnot(accepted_places, bitmapOr(stored_places, rejected_places)) AS missing_places
FROM
(
    ${ledgerPlaces('coordinates', 0)}
    UNION ALL
    ${ledgerPlaces('hint_coordinates', 1)}
    UNION ALL
    ${placesOf(TABLES.callbackDeliveries, 'received_at', 1)}
    UNION ALL
    ${placesOf(TABLES.watchRequests, 'received_at', 1)}
    UNION ALL
    ${placesOf(TABLES.rejects, 'rejected_at', 2)}
)
GROUP BY topic, partition
ORDER BY topic, partition`;

/**
 * A ledger row names up to a few thousand offsets: few rows at once, or the expanded blocks would be large.
 */
const SETTINGS = { max_block_size: 1024, optimize_aggregation_in_order: 1 };

/**
 * Every Kafka record of an acknowledged batch has a row or a reject: callbacks and watch messages keep where
 * they were read, the ledger keeps the ranges that were taken in, and which of these were hints.
 */
export async function auditKafkaRecords(
  query: Query,
  bounds: LedgerBounds,
  sinceMicros: number,
): Promise<Identity> {
  const partitions = await query<PartitionRow>(
    `SELECT topic, partition, accepted, offered, stored, rejected, missing, first_missing, unacknowledged FROM (${SQL})`,
    withinParams(bounds, sinceMicros),
    SETTINGS,
  );
  const sum = (pick: (row: PartitionRow) => number) =>
    partitions.reduce((total, row) => total + pick(row), 0);
  const accepted = sum((row) => row.accepted);
  return {
    identity: 'kafka records',
    accepted,
    stored: sum((row) => row.stored),
    rejected: sum((row) => row.rejected),
    repeats: sum((row) => row.offered) - accepted,
    difference: sum((row) => row.missing),
    unacknowledged: sum((row) => row.unacknowledged),
    offenders: partitions
      .flatMap((row) => row.first_missing.map((offset) => `${row.topic}/${row.partition}@${offset}`))
      .slice(0, SHOWN),
  };
}
