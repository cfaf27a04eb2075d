-- What the sources about an order say against one another.

CREATE OR REPLACE VIEW findings AS
SELECT
    gateway, order_type, external_id, kind, subject, found_at, side, expected, received, evidence, resolved_at
FROM findings_store FINAL;
