-- One row: how far order_marks_store goes: all items before `sealed_to` that were observed by `known_to` are in it.
-- Written by: the evaluation of rules.
CREATE TABLE IF NOT EXISTS order_marks_frontier
(
    definition LowCardinality(String) COMMENT 'Which version of the counting made the row: those of others are not read.',
    sealed_from DateTime('UTC') COMMENT 'Start of the time that is marked.',
    sealed_to DateTime('UTC') COMMENT 'Its end.',
    known_to DateTime64(6, 'UTC') COMMENT 'Items observed by then are in it.'
)
ENGINE = MergeTree
ORDER BY (definition, known_to)
TTL toDateTime(known_to) + toIntervalDay(4)
SETTINGS non_replicated_deduplication_window = 1000;
