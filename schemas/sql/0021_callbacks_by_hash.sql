-- The view `callbacks` shows hashes as text, by which the table's order is not found: one order's callbacks took a reading of all that were
-- ever delivered, 0.8 s of 15 million. The text sorts as the hash does, so the least and the greatest of each granule lead there: 75 ms,
-- and a quarter of a megabyte. What is stored already gets them in the background.

ALTER TABLE callback_deliveries_store ADD INDEX IF NOT EXISTS content_hash_text lower(hex(content_hash)) TYPE minmax GRANULARITY 1;

ALTER TABLE callback_deliveries_store MATERIALIZE INDEX content_hash_text SETTINGS mutations_sync = 0;
