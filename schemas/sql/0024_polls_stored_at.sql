-- When a request was stored is said by this store alone: rows copied from another one, which had told its own time, would be taken for counted
-- (migration 0023) and never be.

ALTER TABLE polls_store
    MODIFY COLUMN stored_at DateTime('UTC') MATERIALIZED now('UTC') CODEC(Delta(4), ZSTD(1));
