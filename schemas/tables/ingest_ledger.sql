-- One row: one acknowledged batch: what came in and what became of it.
-- Written by: the collector, last of all tables of the batch.
CREATE TABLE IF NOT EXISTS ingest_ledger
(
    collector_id LowCardinality(String) COMMENT 'Which collector wrote the row.',
    batch_seq UInt64 COMMENT 'Number of the batch, counted by its collector.',
    acknowledged_at DateTime64(6, 'UTC') COMMENT 'When all rows of the batch were stored.',
    kafka_records UInt32 COMMENT 'Records of Kafka in it.',
    http_deliveries UInt32 COMMENT 'Callbacks over HTTP in it.',
    watch_requests UInt32 COMMENT 'Watch requests in it.',
    replies UInt32 COMMENT 'Status replies in it.',
    history_items UInt32 COMMENT 'Items that the replies listed, known ones included.',
    callback_rows UInt32 COMMENT 'Rows of callbacks that came of it.',
    history_rows UInt32 COMMENT 'Rows of history items that came of it.',
    reject_rows UInt32 COMMENT 'Rejects that came of it.',
    coordinates String COMMENT 'Topic, partition, first and last offset of what was read.',
    hint_coordinates String COMMENT 'Of these, the places of hints of other collectors: they name orders to read, and leave no row.'
)
ENGINE = ReplacingMergeTree
ORDER BY (collector_id, batch_seq)
TTL toDateTime(acknowledged_at) + toIntervalDay(400)
SETTINGS non_replicated_deduplication_window = 10000;
