-- One row: one note of a deployment, a change or an incident.
-- - Written by `POST /annotations`; drawn on the dashboards.
CREATE OR REPLACE VIEW annotations
(
    annotation_id String COMMENT 'Identity.',
    starts_at DateTime64(6, 'UTC') COMMENT 'Begin.',
    ends_at Nullable(DateTime64(6, 'UTC')) COMMENT 'End; NULL for a single instant.',
    gateway LowCardinality(String) COMMENT 'The gateway it concerns; empty for all.',
    title String COMMENT 'Headline.',
    text String COMMENT 'More.',
    tags Array(String) COMMENT 'Tags.'
)
AS
SELECT annotation_id, starts_at, ends_at, gateway, title, text, tags
FROM annotations_store FINAL;
