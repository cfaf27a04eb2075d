-- One row: how far one exporter has read the stored rows of its collector.
-- Written by: the collector.
CREATE TABLE IF NOT EXISTS export_cursor
(
    collector_id LowCardinality(String) COMMENT 'Which collector wrote the row.',
    exporter LowCardinality(String) COMMENT 'What reads the rows, such as `otlp`.',
    batch_seq UInt64 COMMENT 'The last batch that was read to its end.'
)
ENGINE = ReplacingMergeTree(batch_seq)
ORDER BY (collector_id, exporter);
