-- One row: the key of fingerprints of texts that fit no grammar, in stores without a data folder.
-- Written by: the first collector that needs it.
-- The same for all collectors, and it outlives restarts, as a fingerprint is part of the identity of an item. No view shows it.
CREATE TABLE IF NOT EXISTS fingerprint_keys_store
(
    created_at DateTime64(6, 'UTC') COMMENT 'When it was made: the oldest counts.',
    key String COMMENT 'The key, secret.'
)
ENGINE = MergeTree
ORDER BY (created_at, key)
SETTINGS non_replicated_deduplication_window = 10000;
