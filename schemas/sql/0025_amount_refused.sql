-- A reply that names an amount which cannot be kept: no callback's and no watch message's stands in its place.
ALTER TABLE order_observations ADD COLUMN IF NOT EXISTS amount_refused UInt8 DEFAULT 0;

ALTER TABLE order_observations_to_orders MODIFY QUERY
WITH leftPad(toString(toUnixTimestamp64Micro(o.observed_at)), 16, '0') AS said_at, toString(CAST(o.kind, 'Int8')) AS rank
SELECT
    gateway,
    order_type,
    external_id,
    o.external_transaction_id AS external_transaction_id,
    toString(o.channel) AS channel,
    o.observed_at AS first_seen_at,
    if(o.kind = 'status_reply', toNullable(o.observed_at), NULL) AS last_reply_at,
    o.settled_at AS settled_at,
    o.abandoned_at AS abandoned_at,
    if(o.kind = 'status_reply', concat(said_at, toJSONString((o.status, o.outcome, o.deciding_action, o.reason_code, o.reason_group,
        o.reason_detail, o.history_items, toUnixTimestamp64Micro(o.created_at), toUnixTimestamp64Micro(o.final_at)))), '') AS last_reply,
    if(o.amount IS NULL AND o.amount_refused = 0, '', concat(rank, said_at, ifNull(toString(o.amount), ''))) AS amount_told,
    if(o.currency IS NULL, '', concat(rank, said_at, toString(assumeNotNull(o.currency)))) AS currency_told
FROM order_observations AS o;
