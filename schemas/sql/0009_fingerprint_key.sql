-- The key under which texts that fit no grammar are fingerprinted. One row, written by the collector that is first to need it; it must
-- outlive restarts and be the same for all collectors, as a fingerprint is part of an item's identity. No view shows it.
CREATE TABLE IF NOT EXISTS fingerprint_keys_store
(
    created_at DateTime64(6, 'UTC'),
    key String
)
ENGINE = MergeTree
ORDER BY (created_at, key)
SETTINGS non_replicated_deduplication_window = 10000;
