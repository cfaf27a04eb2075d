-- What a status request brought, so that requests which bring nothing can be counted by why they were made. The names are those of BROUGHT
-- in schemas/rows.ts; text, so that a new one needs no migration. Of requests of before only new items are known.

ALTER TABLE polls_store
    ADD COLUMN IF NOT EXISTS brought LowCardinality(String) DEFAULT if(new_items > 0, 'items', 'not_noted');
