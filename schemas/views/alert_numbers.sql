-- One row: one of four numbers of an evaluation.
-- - For readers that take one number a row, as Grafana's alert rules do. The numbers are distinguished by their size: the least is -1 -
--   limit, the greatest is `as_of` in seconds since 1970, the last in time is what is compared with the limit, and what is left of the
--   sum is n (of a drop: what was expected).
-- - While the rule does not hold, the limit is out of reach.
CREATE OR REPLACE VIEW alert_numbers
(
    rule LowCardinality(String) COMMENT 'Name of the rule.',
    as_of DateTime('UTC') COMMENT 'The evaluation.',
    gateway LowCardinality(String) COMMENT 'The gateway''s name in the configuration. Part of every identity.',
    label LowCardinality(String) COMMENT 'As in `alert_evaluations`.',
    time DateTime('UTC') COMMENT 'Only orders the four points.',
    value Float64 COMMENT 'The number.'
)
AS
SELECT rule, as_of, gateway, label, as_of - toIntervalSecond(4 - place) AS time, point AS value
FROM alert_evaluations_store FINAL
ARRAY JOIN points AS point, arrayEnumerate(points) AS place;
