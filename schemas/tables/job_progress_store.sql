-- One row: how far one job in the background has come with one part of its work. The furthest row counts.
-- Written by: the jobs.
CREATE TABLE IF NOT EXISTS job_progress_store
(
    job LowCardinality(String) COMMENT 'Which job: `compare sources`, `count payments`, `export spans`.',
    part LowCardinality(String) COMMENT 'Which part of its work: the gateway that is compared, the collector whose batches are exported; empty where there is one part.',
    done_to DateTime64(6, 'UTC') DEFAULT 0 COMMENT 'All before this instant is done; 1970 for a job that goes by batches.',
    done_batch UInt64 DEFAULT 0 COMMENT 'All batches up to this one are done; 0 for a job that goes by time.',
    updated_at DateTime64(6, 'UTC') DEFAULT now64(6, 'UTC') COMMENT 'When that was noted.',
    version UInt64 MATERIALIZED greatest(done_batch, toUInt64(toUnixTimestamp64Micro(done_to))) COMMENT 'Rises with the progress, so that the furthest row counts.'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (job, part)
SETTINGS non_replicated_deduplication_window = 1000;
