import type { VIEWS } from '../../schemas/names.ts';

/** One column of a public view. Test: name, order and type are those of the real engine. */
export interface ColumnDoc {
  readonly name: string;
  /** ClickHouse type without LowCardinality; `Time` stands for DateTime64(6, 'UTC'). */
  readonly type: string;
  /** Meaning, with the unit where there is one. */
  readonly text: string;
}

export interface ViewDoc {
  readonly view: keyof typeof VIEWS;
  /** What one row is. */
  readonly grain: string;
  readonly notes: readonly string[];
  readonly columns: readonly ColumnDoc[];
}

const column = (name: string, type: string, text: string): ColumnDoc => ({ name, type, text });
const GATEWAY = column(
  'gateway',
  'String',
  "The gateway's name in the configuration. Part of every identity.",
);
const ORDER_TYPE = column('order_type', 'Enum(Deposit, Withdrawal)', 'Type of the order.');
const EXTERNAL_ID = column('external_id', 'String', "The order's id in the service.");
const TRANSACTION_ID = column(
  'external_transaction_id',
  'String',
  "The merchant's own id of the payment; empty when not known.",
);
const CHANNEL = column(
  'channel',
  'String',
  'The channel that a watch message named; empty when none did. The code does not carry it.',
);
const COLLECTOR = column('collector_id', 'String', 'Which collector this is from.');

export const VIEW_DOCS: readonly ViewDoc[] = [
  {
    view: 'historyEvents',
    grain: 'one item of the history of one order, decoded',
    notes: [
      'Identity: `gateway, order_type, external_id, event_time, action, occurrence`. Each item is shown once, however often it was read; the first arrival wins.',
      'Time order within an order is `event_time, list_position`.',
      'Polling repeats codes: count distinct orders (`uniqExact(gateway, order_type, external_id)`), never rows.',
    ],
    columns: [
      GATEWAY,
      ORDER_TYPE,
      EXTERNAL_ID,
      column('event_time', 'Time', "The item's `time`, to the microsecond."),
      column('action', 'String', 'The code as it came, `A.C.B.RR` or anything else.'),
      column(
        'occurrence',
        'UInt16',
        'Counts equal pairs of time and code within one order, from 0: the second of two identical items has 1.',
      ),
      TRANSACTION_ID,
      column(
        'channel',
        'String',
        'The channel, as far as it was known when the item was first seen; a watch message that came later shows in `orders`.',
      ),
      column(
        'code_format',
        'Enum(v2, legacy, unrecognized)',
        'Form of the code. All decoded columns are NULL unless it is `v2`.',
      ),
      column(
        'stage',
        'Nullable(Enum(INTERNAL, GATEWAY_CREATE, PAYFORM, CHECK, GATEWAY_CALLBACK, MERCHANT_CALLBACK))',
        'Segment A: where it happened.',
      ),
      column('result', 'Nullable(Enum(INFO, SUCCESS, FAILURE))', 'Segment C: how the operation ended.'),
      column(
        'state',
        'Nullable(Enum(INIT, CREATED, PROCESSING, SUCCESS, FAILED))',
        'Segment B: state of the payment.',
      ),
      column('reason_code', 'Nullable(UInt8)', 'Segment RR, 0 to 69.'),
      column(
        'reason_group',
        'Nullable(String)',
        '`NONE`, `TECH`, `AUTHZ`, `BUSINESS`, `RISK`, `USER` or `ISSUER`.',
      ),
      column(
        'reason_detail',
        'Nullable(String)',
        'Name of the reason, or `UNKNOWN_18` for one that the dictionary lacks.',
      ),
      column('list_position', 'UInt32', 'Index in the list when first seen, from 0.'),
      column(
        'span_start',
        'Time',
        'Time of the item before it as first seen; its own time for the first item. Made for traces: late items make it differ from the final neighbour, so take durations from `event_time`.',
      ),
      column(
        'observed_at',
        'Time',
        'When gatewatch first saw the item. `observed_at - event_time` is how late we were.',
      ),
      column('source', 'String', 'How it was read.'),
    ],
  },
  {
    view: 'orders',
    grain: 'one order',
    notes: [
      'Identity: `gateway, order_type, external_id`.',
      'Everything that tells of status and outcome is from the newest status reply. A callback never writes status: it is a hint.',
      'An order that was only heard of in a callback or a watch message has a row whose reply columns are NULL.',
      'Outcome and `final_at` are those of the latest deciding item known now. Panels and rules take the latest one within their window: an order that was decided again after it, as by a repeated check, is in their number for that window and not in one by `final_at`.',
    ],
    columns: [
      GATEWAY,
      ORDER_TYPE,
      EXTERNAL_ID,
      TRANSACTION_ID,
      CHANNEL,
      column('status', 'Nullable(String)', '`orderStatus` of the newest status reply, as it came.'),
      column(
        'amount',
        'Nullable(Decimal(38, 9))',
        'Amount in units of `currency`, exact; a status reply beats a watch message, which beats a callback. One that needs a tenth decimal or a thirtieth digit before the point does not count, and NULL stands where none is left.',
      ),
      column('currency', 'Nullable(String)', 'Currency code; NULL when nobody named one.'),
      column(
        'currency_source',
        'Nullable(String)',
        '`status`, `watch` or `callback`. A currency from a callback is not authenticated.',
      ),
      column(
        'outcome',
        'Nullable(String)',
        '`succeeded`, `technical_failure`, `business_failure`, `risk_decline`, `user_abandoned`, `issuer_decline` or `unspecified_failure`, by the deciding item; NULL while the order is pending.',
      ),
      column(
        'deciding_action',
        'Nullable(String)',
        'Code of the deciding item: the latest one with the state SUCCESS or FAILED.',
      ),
      column('reason_code', 'Nullable(UInt8)', 'Reason of the deciding item.'),
      column('reason_group', 'Nullable(String)', 'Its group.'),
      column('reason_detail', 'Nullable(String)', 'Its name.'),
      column('history_items', 'UInt32', 'Number of history items known.'),
      column('first_seen_at', 'Time', 'When gatewatch first heard of the order.'),
      column('created_at', 'Nullable(Time)', 'Time of the first history item.'),
      column(
        'final_at',
        'Nullable(Time)',
        'Time of the deciding item. `final_at - created_at` is the time to final.',
      ),
      column('settled_at', 'Nullable(Time)', 'When the re-reads after the final status ended without news.'),
      column('abandoned_at', 'Nullable(Time)', 'When the order was given up without a final status.'),
      column(
        'last_reply_at',
        'Nullable(Time)',
        'When the newest status reply arrived that told something new, or was the last one before the order settled. When the order was last read is in `polls`.',
      ),
    ],
  },
  {
    view: 'callbacks',
    grain: 'one distinct content of a callback: body and signature together',
    notes: [
      'Identity: `gateway, content_hash`.',
      'A wrong signature is a row here, with its verdict. It is not a reject.',
      'Only `external_id`, `status`, `amount` and `order_type` are covered by the signature, and a replay verifies: treat a row as a hint, and `orders` as the answer.',
    ],
    columns: [
      GATEWAY,
      column('content_hash', 'String', 'SHA-256 over body and signature, 64 hexadecimal digits.'),
      column(
        'verdict',
        'Enum(valid, valid_previous_key, mismatch, missing_signature, malformed)',
        'Verdict on the signature. `malformed`: it could not be read, or had more than one signature.',
      ),
      column('external_id', 'Nullable(String)', 'Order it speaks of; NULL when malformed.'),
      column('status', 'Nullable(String)', 'Status it claims.'),
      column('amount', 'Nullable(String)', 'Amount it claims, the exact text.'),
      column('order_type', 'Nullable(String)', 'Order type it claims.'),
      column('currency', 'Nullable(String)', 'Currency it claims. Not covered by the signature.'),
      column(
        'problem',
        'String',
        'What is wrong with it, for people; empty when nothing is. Values are redacted.',
      ),
      column('source', 'String', '`kafka` or `http`.'),
      column('first_received_at', 'Time', 'When it first arrived.'),
      column('last_received_at', 'Time', 'When it last arrived.'),
      column(
        'deliveries',
        'UInt64',
        'How often it was delivered. A re-read of ours counts once; a re-send of the gateway counts again.',
      ),
    ],
  },
  {
    view: 'polls',
    grain: 'one status request of ours',
    notes: ['A request that failed says nothing about the payment.'],
    columns: [
      GATEWAY,
      column('started_at', 'Time', 'When the request began.'),
      column('poll_id', 'String', 'Identity of the request.'),
      column(
        'endpoint',
        'String',
        '`deposit-status`, `deposit-status-by-transaction`, `withdrawal-status` or `withdrawal-status-by-transaction`.',
      ),
      ORDER_TYPE,
      column('order_id', 'String', 'The id that was asked for.'),
      column(
        'id_kind',
        'Enum(external-id, transaction-id)',
        "Whose id that is: the service's or the merchant's.",
      ),
      column(
        'cause',
        'String',
        'Why the order was read: `schedule`, `callback`, `watch`, `reread` or `probe`.',
      ),
      column('http_status', 'Nullable(UInt16)', 'HTTP status; NULL without an answer.'),
      column(
        'outcome',
        'Enum(ok, not_found, unauthorized, forbidden, locked, rate_limited, client_error, unknown, invalid_response)',
        'How it ended. `unknown`: 499 and above, or no usable answer. `locked`: 423.',
      ),
      column(
        'error_type',
        'String',
        '`timeout`, `connection_refused`, `connection_reset`, `dns`, `tls`, `truncated`, `too_large`, `http_503` and the like; empty when there is nothing to say.',
      ),
      column('duration_ms', 'Float64', 'Time from the request to the end of the reply, in milliseconds.'),
      column('lateness_ms', 'Float64', 'How much later than due it began, in milliseconds.'),
      column('reply_bytes', 'UInt32', "Size of the reply's body, in bytes."),
      column('items', 'UInt32', 'History items in the reply.'),
      column('new_items', 'UInt32', 'History items that were not known before.'),
      column('refused_items', 'UInt32', 'History items that could not be read; each is a reject.'),
      column(
        'anomaly',
        'String',
        '`history_shrank`, `history_out_of_order`, `history_inserted` (a late item in the middle) or empty.',
      ),
      COLLECTOR,
    ],
  },
  {
    view: 'rejects',
    grain: 'one thing that came in and fits no other row',
    notes: [
      'Identity: `gateway, reason, reject_id`. `received` and `content` are redacted: digit runs masked, length cut.',
      '`gatewatch redrive` tries again what stands here; what then went in is marked, never removed. Open ones: `WHERE resolved_at IS NULL`.',
    ],
    columns: [
      GATEWAY,
      column('reason', 'String', 'Why; see [the reasons](#reasons-of-rejects).'),
      column('reject_id', 'String', 'Stable: the same thing read again has the same id.'),
      column('rejected_at', 'Time', 'When it was rejected.'),
      column('source', 'String', 'Where it came from.'),
      column('field', 'String', 'The field that is wrong.'),
      column('expected', 'String', 'What belongs there.'),
      column('received', 'String', 'What was there, redacted.'),
      column('content', 'String', 'What identifies it among its like, redacted.'),
      column('topic', 'String', 'Kafka topic to read it again from; empty when it did not come from Kafka.'),
      column('kafka_partition', 'Nullable(Int32)', 'Kafka partition.'),
      column('kafka_offset', 'Nullable(Int64)', 'Kafka offset.'),
      column('delivery_id', 'String', 'Delivery it was part of; may be empty.'),
      column('order_type', 'Nullable(String)', 'Type of the order it concerns, if known.'),
      column('order_id', 'Nullable(String)', 'Id of that order, if known.'),
      COLLECTOR,
      column('resolved_at', 'Nullable(Time)', 'When it was set right; NULL while it stands.'),
      column(
        'resolution',
        'Nullable(String)',
        '`stored`: `gatewatch redrive` read its record again and it went in. `read_again`: a later reply about the order had no such fault.',
      ),
    ],
  },
  {
    view: 'watchRequests',
    grain: 'one request to watch an order that was taken',
    notes: [
      'A message of the watch topic, an entry of `POST /orders`, or a line of `gatewatch backfill`. Several may name one order.',
    ],
    columns: [
      GATEWAY,
      column('received_at', 'Time', 'When it was taken.'),
      column('request_id', 'String', 'Identity; for Kafka where it was read, so that a re-read counts once.'),
      ORDER_TYPE,
      column('id_kind', 'Enum(external-id, transaction-id)', 'Which of the two ids it names.'),
      column('order_id', 'String', 'That id.'),
      column('channel', 'String', 'The channel that it names; may be empty.'),
      column('amount', 'Nullable(String)', 'The amount that it names, as text.'),
      column('currency', 'Nullable(String)', 'The currency that it names.'),
      column('source', 'String', '`kafka`, `http` or `backfill`.'),
      column('topic', 'String', 'Kafka topic; empty when it did not come from Kafka.'),
      column('kafka_partition', 'Nullable(Int32)', 'Kafka partition.'),
      column('kafka_offset', 'Nullable(Int64)', 'Kafka offset.'),
      COLLECTOR,
    ],
  },
  {
    view: 'collectorStatus',
    grain: 'one report of one collector about itself, every 15 seconds',
    notes: ['Totals count from `started_at`; a restart begins at 0.'],
    columns: [
      COLLECTOR,
      column('reported_at', 'Time', 'When it reported.'),
      column('version', 'String', 'Version of gatewatch.'),
      column('started_at', 'Time', 'When the process started.'),
      column('consumer_lag', 'UInt64', 'Kafka records not consumed yet.'),
      column('last_progress_at', 'Time', 'When an input was last taken to its acknowledgement.'),
      column('watched_orders', 'UInt32', 'Orders it polls.'),
      column('due_orders', 'UInt32', 'Orders whose next poll is due and has not begun.'),
      column('lateness_p99_ms', 'Float64', '99th percentile of how late polls began, in milliseconds.'),
      column('circuits_open', 'UInt16', 'Credentials and endpoints that polling spares.'),
      column('rejects_total', 'UInt64', 'Rejects.'),
      column('duplicates_total', 'UInt64', 'Repetitions that caused no second row.'),
      column('retries_total', 'UInt64', 'Insert attempts that were repeated.'),
      column('spans_exported_total', 'UInt64', 'Payment spans that the OTLP receiver accepted.'),
      column('span_backlog', 'UInt64', 'Batches whose payment spans are not exported yet.'),
      column('memory_bytes', 'UInt64', 'Memory of the collector without the embedded engine, in bytes.'),
    ],
  },
  {
    view: 'gatewayStatus',
    grain: 'one report of one collector about one gateway, every 15 seconds',
    notes: [
      'Windows of measures end at the watermark: a gateway that we cannot see keeps its last value instead of looking healthy.',
    ],
    columns: [
      GATEWAY,
      COLLECTOR,
      column('reported_at', 'Time', 'When it was reported.'),
      column('watermark_at', 'Time', 'The instant up to which the picture of this gateway is complete.'),
      column('watched_orders', 'UInt32', 'Orders of this gateway that the collector polls.'),
      column('due_orders', 'UInt32', 'Of these, orders whose next poll is due and has not begun.'),
      column('circuits_open', 'UInt16', 'Open circuits of this gateway.'),
      column('last_reply_at', 'Nullable(Time)', 'When the gateway last answered; NULL when it never did.'),
      column(
        'requests_per_second',
        'Float64',
        'Status requests a second that the collector began since its report before.',
      ),
      column(
        'requests_per_second_limit',
        'Float64',
        'As many as its configuration allows; 0 in reports of versions that did not tell.',
      ),
      column('requests_in_flight', 'UInt32', 'Status requests that waited for an answer at the report.'),
      column(
        'concurrency_limit',
        'UInt32',
        'As many as its configuration allows; 0 in reports of versions that did not tell.',
      ),
    ],
  },
  {
    view: 'orderTimeline',
    grain: 'one item of the history of one order, with its place in it',
    notes: [
      'Made for single orders: give `external_id`, and the condition reaches the table. For a time range ask `history_events`.',
      'Identity as in `history_events`; time order is `event_time, list_position`.',
    ],
    columns: [
      GATEWAY,
      ORDER_TYPE,
      EXTERNAL_ID,
      column('event_time', 'Time', "The item's `time`."),
      column(
        'seconds_since_previous',
        'Nullable(Float64)',
        'Seconds since the item before it; NULL for the first.',
      ),
      column('action', 'String', 'The code as it came.'),
      column('occurrence', 'UInt16', 'Counts equal pairs of time and code within the order, from 0.'),
      column('list_position', 'UInt32', 'Index in the list when first seen, from 0.'),
      column('code_format', 'String', '`v2`, `legacy` or `unrecognized`.'),
      column('stage', 'Nullable(String)', 'Segment A: where it happened.'),
      column('result', 'Nullable(String)', 'Segment C: how the operation ended.'),
      column('state', 'Nullable(String)', 'Segment B: state of the payment.'),
      column('reason_code', 'Nullable(UInt8)', 'Segment RR.'),
      column('reason_group', 'Nullable(String)', 'Group of the reason.'),
      column('reason_detail', 'Nullable(String)', 'Name of the reason.'),
      column('deciding', 'UInt8', '1 for the deciding item: the latest with the state SUCCESS or FAILED.'),
      column('late', 'UInt8', '1 when first seen after a final state had been seen.'),
      column('observed_at', 'Time', 'When gatewatch first saw the item.'),
      column('span_start', 'Time', 'Time of the item before it; its own for the first.'),
      column('trace_id', 'String', "Trace id of the order's exported spans."),
      column('span_id', 'String', "Id of the item's exported span."),
      column('root_span_id', 'String', "Id of the order's root span."),
    ],
  },
  {
    view: 'orderTrace',
    grain: "one span of one order's trace: an item, or the root",
    notes: [
      "Columns as Grafana's traces panel reads them. Made for single orders: give `external_id`.",
      'The root spans the whole history as known now, also of orders that are not settled.',
    ],
    columns: [
      GATEWAY,
      ORDER_TYPE,
      EXTERNAL_ID,
      column('traceID', 'String', 'Id of the trace: one order is one trace.'),
      column('spanID', 'String', 'Id of the span, as exported.'),
      column('parentSpanID', 'String', 'Id of the root span; empty for the root itself.'),
      column('serviceName', 'String', 'The gateway.'),
      column('operationName', 'String', 'Name of the span.'),
      column('startTime', 'Time', 'Time of the item before; of the first item for the root.'),
      column('duration', 'Float64', 'Milliseconds.'),
      column('tags', 'Array(Map(String, String))', 'Attributes as maps with `key` and `value`.'),
      column('serviceTags', 'Array(Map(String, String))', "The service's attributes."),
      column('statusCode', 'UInt8', '2 when the operation failed, else 0.'),
      column('statusMessage', 'String', 'Code and reason of a failure.'),
    ],
  },
  {
    view: 'callbackArrivals',
    grain: 'one arrival of one callback content',
    notes: [
      'Tells which callbacks came in a time range, or about an order, without reading all of `callbacks`: use it in `content_hash IN (SELECT ...)`.',
      'A delivery that gatewatch read again after a restart stands here once more, later: never count these rows.',
    ],
    columns: [
      GATEWAY,
      column('content_hash', 'String', 'As in `callbacks`.'),
      column('received_at', 'Time', 'When it came, or was read again.'),
      column('order_type', 'Nullable(String)', 'As it says; not verified.'),
      column('external_id', 'Nullable(String)', 'As it says; not verified.'),
      column(
        'content_key',
        'UInt64',
        'The first eight bytes of the hash as a number: narrows `callback_verdicts`.',
      ),
    ],
  },
  {
    view: 'callbackVerdicts',
    grain: 'one distinct content of a callback: its body and its signature',
    notes: [
      'What `callbacks` says of signatures, laid out by time. Narrow it by `content_key IN (SELECT content_key FROM callback_arrivals WHERE ...)` and ask for `first_received_at`: it costs what the range holds.',
      'Where deliveries of one content got different verdicts, as after a change of keys, the one given last counts.',
    ],
    columns: [
      GATEWAY,
      column('content_hash', 'String', 'As in `callbacks`.'),
      column('content_key', 'UInt64', 'As in `callback_arrivals`. Not unique: an identity is the hash.'),
      column(
        'verdict',
        'Enum(unknown, valid, valid_previous_key, mismatch, missing_signature, malformed)',
        'As in `callbacks`; `unknown` only where a store of before kept no delivery to take it from.',
      ),
      column('external_id', 'Nullable(String)', 'As it says; not verified.'),
      column('order_type', 'Nullable(String)', 'As it says; not verified.'),
      column('first_received_at', 'Time', 'When the content first came.'),
    ],
  },
  {
    view: 'gatewayStatusHourly',
    grain: 'one hour of what one collector reported of one gateway',
    notes: [
      'The newest report of the hour. For the watermark at an instant within an hour ask `gateway_status`.',
    ],
    columns: [
      GATEWAY,
      COLLECTOR,
      column('hour', "DateTime('UTC')", 'Begin of the hour.'),
      column('reported_at', 'Time', 'The newest report of the hour.'),
      column('watermark_at', 'Time', 'Its watermark: up to when our picture of the gateway was complete.'),
    ],
  },
  {
    view: 'annotations',
    grain: 'one note of a deployment, a change or an incident',
    notes: ['Written by `POST /annotations`; drawn on the dashboards.'],
    columns: [
      column('annotation_id', 'String', 'Identity.'),
      column('starts_at', 'Time', 'Begin.'),
      column('ends_at', 'Nullable(Time)', 'End; NULL for a single instant.'),
      column('gateway', 'String', 'The gateway it concerns; empty for all.'),
      column('title', 'String', 'Headline.'),
      column('text', 'String', 'More.'),
      column('tags', 'Array(String)', 'Tags.'),
    ],
  },
  {
    view: 'orderActivity',
    grain: 'one quarter of an hour, code and place in the list, of one gateway',
    notes: [
      'Distinct orders as sketches, exact to 1.6 %: `uniqCombined64Merge(12)(orders)`, or `...MergeIf(12)(orders, condition)`. What baselines of alert rules are made of.',
    ],
    columns: [
      GATEWAY,
      column('quarter', "DateTime('UTC')", 'Begin of the quarter of an hour, by `event_time`.'),
      column('action', 'String', 'The code. Codes of another format than v2 are left out.'),
      column('list_position', 'UInt8', '0: first items of orders, so orders that begin; 1: all others.'),
      column(
        'stage',
        'Nullable(Enum(INTERNAL, GATEWAY_CREATE, PAYFORM, CHECK, GATEWAY_CALLBACK, MERCHANT_CALLBACK))',
        'Segment A.',
      ),
      column('state', 'Nullable(Enum(INIT, CREATED, PROCESSING, SUCCESS, FAILED))', 'Segment B.'),
      column('reason_code', 'Nullable(UInt8)', 'Segment RR.'),
      column('reason_group', 'Nullable(String)', 'Group of the reason.'),
      column('orders', 'AggregateFunction(uniqCombined64(12), UInt64)', 'Sketch of the orders.'),
    ],
  },
  {
    view: 'alertSettings',
    grain: 'one setting of one alert rule for one gateway',
    notes: [
      "Written at every start of a collector from its configuration (`alerts.rules`, `callbackTypes`); a gateway's newest set counts.",
    ],
    columns: [
      GATEWAY,
      column('rule', 'String', 'Name of the rule.'),
      column('setting', 'String', 'Name of the setting, e.g. `shareAbove`, `enabled`, `enabled/SUCCESS`.'),
      column('value', 'Float64', 'Its value; 0 and 1 for switches.'),
      column('configured_at', 'Time', 'When the set was written.'),
    ],
  },
  {
    view: 'alertStates',
    grain: 'one alert instance: a rule and a set of labels, in its newest state',
    notes: ['Kept by collectors that evaluate the rules themselves (`alerts.evaluate`).'],
    columns: [
      column('rule_uid', 'String', 'Uid of the rule.'),
      column('labels', 'String', 'Labels of the instance, as JSON.'),
      column('rule', 'String', 'Name of the rule.'),
      column('severity', 'String', '`critical`, `warning` or `info`.'),
      column('gateway', 'String', 'The gateway among the labels.'),
      column('state', 'String', '`Normal`, `Pending`, `Alerting`, `Recovering`, `NoData` or `Error`.'),
      column('reason', 'String', '`NoData`, `Error` or `MissingSeries`; mostly empty.'),
      column('changed_at', 'Time', 'When the state began.'),
      column('evaluated_at', 'Time', 'When it was last confirmed.'),
      column('firing_since', 'Nullable(Time)', 'When it last began to fire.'),
      column('resolved_at', 'Nullable(Time)', 'When it last stopped firing; NULL while it fires.'),
      COLLECTOR,
    ],
  },
  {
    view: 'alertHistory',
    grain: 'one state that an alert instance was in',
    notes: ['From `changed_at` to `evaluated_at`, which grows while the state lasts.'],
    columns: [
      column('rule_uid', 'String', 'Uid of the rule.'),
      column('labels', 'String', 'Labels of the instance, as JSON.'),
      column('rule', 'String', 'Name of the rule.'),
      column('severity', 'String', '`critical`, `warning` or `info`.'),
      column('gateway', 'String', 'The gateway among the labels.'),
      column('state', 'String', 'As in `alert_states`.'),
      column('reason', 'String', 'As in `alert_states`.'),
      column('changed_at', 'Time', 'When the state began.'),
      column('evaluated_at', 'Time', 'When it was last confirmed.'),
      column('firing_since', 'Nullable(Time)', 'When it last began to fire.'),
      column('resolved_at', 'Nullable(Time)', 'When it last stopped firing; NULL while it fires.'),
      COLLECTOR,
    ],
  },
];
