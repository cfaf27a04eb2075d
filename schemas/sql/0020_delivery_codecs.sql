-- Nothing makes hashes of callbacks smaller, but what stands beside them is ids and a few words: half of it goes, and no processor time that
-- could be measured with 25,000 callbacks a batch. What is stored already is packed anew when it is merged.

ALTER TABLE callback_deliveries_store
    MODIFY COLUMN external_id CODEC(ZSTD(1)),
    MODIFY COLUMN delivery_id CODEC(ZSTD(1)),
    MODIFY COLUMN status CODEC(ZSTD(1)),
    MODIFY COLUMN amount CODEC(ZSTD(1)),
    MODIFY COLUMN kafka_offset CODEC(ZSTD(1)),
    MODIFY COLUMN batch_seq CODEC(ZSTD(1));
