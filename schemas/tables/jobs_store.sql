-- One row: how far a job has come with a part of its work, or a collector's lease on the jobs. The newest counts.
-- Written by: the jobs.
CREATE TABLE IF NOT EXISTS jobs_store
(
    job LowCardinality(String) COMMENT 'Which job: `compare sources`, `count payments`, `export spans`; `run jobs` for a lease.',
    part LowCardinality(String) COMMENT 'Which part of its work: the gateway that is compared, the collector whose batches are exported or that wants to run jobs; empty where there is one part.',
    done_to DateTime64(6, 'UTC') DEFAULT 0 COMMENT 'All before this instant is done; 1970 for a job that goes by batches, and for a lease.',
    done_batch UInt64 DEFAULT 0 COMMENT 'All batches up to this one are done; 0 for a job that goes by time, and for a lease.',
    leased_since DateTime64(6, 'UTC') DEFAULT 0 COMMENT 'Of a lease: since when the collector wants to run jobs; otherwise 1970.',
    notifies Bool DEFAULT false COMMENT 'Of a lease: whether the collector notifies receivers of alerts: it goes before one that does not.',
    updated_at DateTime64(6, 'UTC') DEFAULT now64(6, 'UTC') COMMENT 'When that was noted, by the store''s clock; a lease counts for 90 seconds after it.',
    version UInt64 MATERIALIZED if(leased_since > 0, toUInt64(toUnixTimestamp64Micro(updated_at)), greatest(done_batch, toUInt64(toUnixTimestamp64Micro(done_to)))) COMMENT 'Rises with the progress, or with each renewal of a lease.'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (job, part)
SETTINGS non_replicated_deduplication_window = 1000;
