-- One row: one table of the store that holds rows, now.
-- - For the size of the store: readers do not see the tables themselves.
CREATE OR REPLACE VIEW store_tables
(
    database String COMMENT 'Database of the table.',
    name String COMMENT 'Name of the table.',
    stored_rows UInt64 COMMENT 'Rows on disk, those to be merged away among them.',
    stored_bytes UInt64 COMMENT 'Bytes on disk, compressed.'
)
AS
SELECT database, name, assumeNotNull(total_rows) AS stored_rows, assumeNotNull(total_bytes) AS stored_bytes
FROM system.tables
WHERE database != 'system' AND total_bytes > 0;
