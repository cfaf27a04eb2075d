import type { TableKey } from './names.ts';

/** Microseconds since 1970-01-01T00:00:00Z. A number holds them exactly until the year 2255. */
export type EpochMicros = number;

/**
 * How a column travels: the Arrow type it is sent as and the TypeScript type it has here. `?` means nullable,
 * `[]` a list.
 */
export type ColumnKind = ScalarKind | `${ScalarKind}[]`;

/** The kind of a column that is no list. */
export type ScalarKind =
  | 'string'
  | 'string?'
  | 'bytes32'
  | 'u8'
  | 'u8?'
  | 'u16'
  | 'u16?'
  | 'u32'
  | 'u64'
  | 'i32?'
  | 'i64?'
  | 'f64'
  | 'f64?'
  | 'micros'
  | 'micros?';

interface ValueOf {
  string: string;
  'string?': string | null;
  /** 32 bytes, e.g. a SHA-256. */
  bytes32: Uint8Array;
  u8: number;
  'u8?': number | null;
  u16: number;
  'u16?': number | null;
  u32: number;
  u64: number;
  'i32?': number | null;
  'i64?': number | null;
  f64: number;
  'f64?': number | null;
  micros: EpochMicros;
  'micros?': EpochMicros | null;
}

export type Columns = Readonly<Record<string, ColumnKind>>;
type Value<K extends ColumnKind> = K extends `${infer S extends ScalarKind}[]`
  ? readonly ValueOf[S][]
  : K extends ScalarKind
    ? ValueOf[K]
    : never;
export type RowOf<C extends Columns> = { readonly [K in keyof C]: Value<C[K]> };

/**
 * The columns the sink sends to each table, in order. Enums and decimals travel as text and are cast by the
 * engine; an `amount` is the exact decimal text. `collector_id` and `batch_seq` are added by the sink where a
 * table has them.
 */
export const COLUMNS = {
  historyEvents: {
    gateway: 'string',
    order_type: 'string',
    external_id: 'string',
    event_time: 'micros',
    action: 'string',
    occurrence: 'u16',
    external_transaction_id: 'string',
    channel: 'string',
    code_format: 'string',
    stage: 'string?',
    result: 'string?',
    state: 'string?',
    reason_code: 'u8?',
    reason_group: 'string?',
    reason_detail: 'string?',
    list_position: 'u32',
    span_start: 'micros',
    observed_at: 'micros',
    source: 'string',
    callback_at: 'micros?',
    read_span: 'string',
  },
  orders: {
    gateway: 'string',
    order_type: 'string',
    external_id: 'string',
    external_transaction_id: 'string',
    channel: 'string',
    status: 'string?',
    amount: 'string?',
    amount_source: 'string?',
    currency: 'string?',
    currency_source: 'string?',
    outcome: 'string?',
    deciding_action: 'string?',
    reason_code: 'u8?',
    reason_group: 'string?',
    reason_detail: 'string?',
    furthest_step: 'string?',
    reasons: 'u8[]',
    failed_stages: 'string[]',
    created_at: 'micros?',
    gateway_created_at: 'micros?',
    form_shown_at: 'micros?',
    form_submitted_at: 'micros?',
    processing_at: 'micros?',
    first_technical_failure_at: 'micros?',
    first_failed_at: 'micros?',
    first_paid_at: 'micros?',
    final_at: 'micros?',
    merchant_callback_at: 'micros?',
    last_item_at: 'micros?',
    first_seen_at: 'micros',
    observed_at: 'micros',
    settled_at: 'micros?',
    abandoned_at: 'micros?',
    history_items: 'u32',
    late_items: 'u32',
    'history.time': 'micros[]',
    'history.action': 'string[]',
    'history.stage': 'string?[]',
    'history.result': 'string?[]',
    'history.state': 'string?[]',
    'history.reason_code': 'u8?[]',
    'history.occurrence': 'u16[]',
    'history.list_position': 'u32[]',
    'history.observed_at': 'micros[]',
  },
  orderClaims: {
    gateway: 'string',
    order_type: 'string',
    external_id: 'string',
    observed_at: 'micros',
    kind: 'string',
    status: 'string?',
    amount: 'string?',
    currency: 'string?',
  },
  callbackDeliveries: {
    gateway: 'string',
    content_hash: 'bytes32',
    delivery_id: 'string',
    received_at: 'micros',
    verdict: 'string',
    signature_cause: 'string',
    external_id: 'string?',
    status: 'string?',
    amount: 'string?',
    order_type: 'string?',
    currency: 'string?',
    problem: 'string',
    source: 'string',
    topic: 'string',
    kafka_partition: 'i32?',
    kafka_offset: 'i64?',
    body_bytes: 'u32',
    body_seal: 'u16',
    body_key: 'u32',
  },
  polls: {
    gateway: 'string',
    started_at: 'micros',
    poll_id: 'string',
    endpoint: 'string',
    order_type: 'string',
    order_id: 'string',
    id_kind: 'string',
    cause: 'string',
    http_status: 'u16?',
    outcome: 'string',
    error_type: 'string',
    duration_ms: 'f64',
    lateness_ms: 'f64',
    reply_bytes: 'u32',
    items: 'u32',
    new_items: 'u32',
    refused_items: 'u32',
    anomaly: 'string',
    missing_items: 'u32',
    missing_item: 'string',
    news: 'string',
  },
  rejects: {
    gateway: 'string',
    reason: 'string',
    reject_id: 'string',
    rejected_at: 'micros',
    source: 'string',
    field: 'string',
    expected: 'string',
    received: 'string',
    content: 'string',
    topic: 'string',
    kafka_partition: 'i32?',
    kafka_offset: 'i64?',
    delivery_id: 'string',
    order_type: 'string?',
    order_id: 'string?',
  },
  rejectResolutions: {
    gateway: 'string',
    reason: 'string',
    reject_id: 'string',
    resolved_at: 'micros',
    resolution: 'string',
  },
  watchRequests: {
    gateway: 'string',
    received_at: 'micros',
    request_id: 'string',
    order_type: 'string',
    id_kind: 'string',
    order_id: 'string',
    channel: 'string',
    amount: 'string?',
    currency: 'string?',
    source: 'string',
    topic: 'string',
    kafka_partition: 'i32?',
    kafka_offset: 'i64?',
  },
  settlements: {
    gateway: 'string',
    order_type: 'string',
    external_id: 'string',
    settled_at: 'micros',
    kind: 'string',
    status: 'string?',
    outcome: 'string?',
    reason_group: 'string?',
    reason_detail: 'string?',
    history_items: 'u32',
    external_transaction_id: 'string',
    channel: 'string',
    first_event_at: 'micros',
    last_event_at: 'micros',
    deciding_action: 'string?',
    amount: 'string?',
    currency: 'string?',
  },
  orderWatch: {
    gateway: 'string',
    order_type: 'string',
    id_kind: 'string',
    order_id: 'string',
    updated_at: 'micros',
    phase: 'string',
    next_poll_at: 'micros',
    attempt: 'u32',
    reread: 'u32',
    first_seen_at: 'micros',
    watched_since: 'micros',
    final_at: 'micros?',
    last_status: 'string?',
    external_id: 'string',
    external_transaction_id: 'string',
    channel: 'string',
    amount: 'string?',
    amount_source: 'string?',
    currency: 'string?',
    currency_source: 'string?',
    root_sent: 'u8',
    collector_id: 'string',
  },
  ingestLedger: {
    collector_id: 'string',
    batch_seq: 'u64',
    acknowledged_at: 'micros',
    kafka_records: 'u32',
    http_deliveries: 'u32',
    watch_requests: 'u32',
    replies: 'u32',
    history_items: 'u32',
    callback_rows: 'u32',
    history_rows: 'u32',
    reject_rows: 'u32',
    coordinates: 'string',
    hint_coordinates: 'string',
  },
  jobs: { job: 'string', part: 'string', done_batch: 'u64' },
  collectorStatus: {
    collector_id: 'string',
    reported_at: 'micros',
    version: 'string',
    started_at: 'micros',
    consumer_lag: 'u64',
    transaction_open_seconds: 'f64',
    last_progress_at: 'micros',
    watched_orders: 'u32',
    due_orders: 'u32',
    lateness_p99_ms: 'f64',
    circuits_open: 'u16',
    rejects_total: 'u64',
    duplicates_total: 'u64',
    retries_total: 'u64',
    spans_exported_total: 'u64',
    span_backlog: 'u64',
    memory_bytes: 'u64',
  },
  gatewayStatus: {
    gateway: 'string',
    collector_id: 'string',
    reported_at: 'micros',
    watermark_at: 'micros',
    watched_orders: 'u32',
    due_orders: 'u32',
    circuits_open: 'u16',
    last_reply_at: 'micros?',
    clock_skew_seconds: 'f64?',
    requests_per_second: 'f64',
    requests_per_second_limit: 'f64',
    requests_in_flight: 'u32',
    concurrency_limit: 'u32',
  },
  annotations: {
    annotation_id: 'string',
    starts_at: 'micros',
    ends_at: 'micros?',
    gateway: 'string',
    title: 'string',
    text: 'string',
    tags: 'string[]',
  },
  alertSettings: {
    gateway: 'string',
    rule: 'string',
    setting: 'string',
    value: 'f64',
    configured_at: 'micros',
  },
  alertStates: {
    rule_uid: 'string',
    rule: 'string',
    severity: 'string',
    gateway: 'string',
    labels: 'string',
    changed_at: 'micros',
    evaluated_at: 'micros',
    state: 'string',
    reason: 'string',
    firing_since: 'micros?',
    resolved_at: 'micros?',
    memory: 'string',
    collector_id: 'string',
  },
  alertEvaluations: {
    rule: 'string',
    kind: 'string',
    gateway: 'string',
    slice: 'string',
    label: 'string',
    as_of: 'micros',
    window_from: 'micros',
    window_to: 'micros',
    seen: 'u64',
    affected: 'u64',
    expected: 'f64?',
    limit: 'f64',
    share: 'f64?',
    number: 'f64?',
    breach: 'u8',
    suppressed_by: 'string',
    definition: 'string',
    evaluated_at: 'micros',
    evaluator: 'string',
    took_ms: 'f64',
  },
  alertSilences: {
    silence_id: 'string',
    kind: 'string',
    rule: 'string',
    gateway: 'string',
    slice: 'string',
    label: 'string',
    created_at: 'micros',
    until: 'micros?',
    reason: 'string',
    created_by: 'string',
    ended_at: 'micros?',
    changed_at: 'micros',
  },
  fingerprintKeys: { created_at: 'micros', key: 'string' },
} as const satisfies Record<TableKey, Columns>;

/** Tables whose rows carry the batch that wrote them: the sink adds `collector_id` and `batch_seq`. */
export const BATCH_STAMPED: ReadonlySet<TableKey> = new Set<TableKey>([
  'historyEvents',
  'callbackDeliveries',
  'polls',
  'rejects',
  'watchRequests',
  'settlements',
]);

export type Rows = { readonly [K in TableKey]: RowOf<(typeof COLUMNS)[K]> };
export type HistoryEventRow = Rows['historyEvents'];
export type OrderRow = Rows['orders'];
export type OrderClaimRow = Rows['orderClaims'];
export type CallbackDeliveryRow = Rows['callbackDeliveries'];
export type PollRow = Rows['polls'];
export type RejectRow = Rows['rejects'];
export type RejectResolutionRow = Rows['rejectResolutions'];
export type WatchRequestRow = Rows['watchRequests'];
export type SettlementRow = Rows['settlements'];
export type AlertEvaluationRow = Rows['alertEvaluations'];
export type OrderWatchRow = Rows['orderWatch'];

/** Rows for any number of tables that must be acknowledged together. Missing tables have none. */
export type RowBundle = { readonly [K in TableKey]?: readonly Rows[K][] };

/** Verdict on a callback's signature. */
export const VERDICTS = [
  'valid',
  'valid_previous_key',
  'mismatch',
  'missing_signature',
  'malformed',
] as const;
export type Verdict = (typeof VERDICTS)[number];

/**
 * How a status request ended. `unknown`: no usable answer, the payment's state stays unknown (section 1, rule
 * 1).
 */
export const POLL_OUTCOMES = [
  'ok',
  'not_found',
  'unauthorized',
  'forbidden',
  'locked',
  'rate_limited',
  'client_error',
  'unknown',
  'invalid_response',
] as const;
export type PollOutcome = (typeof POLL_OUTCOMES)[number];

/**
 * What a status request found that was not known, the first that is true: another status, history items
 * (refused ones included), another amount, currency or merchant's id, nothing.
 */
export const READ_NEWS = ['status', 'items', 'facts', 'nothing'] as const;
export type ReadNews = (typeof READ_NEWS)[number];

/** Why something was put into `rejects`. Also the label of the rejects metric. */
export const REJECT_REASONS = [
  'unknown_gateway',
  'watch_message_malformed',
  'reply_malformed',
  'reply_truncated',
  'reply_too_large',
  'reply_coding_unreadable',
  'id_mismatch',
  'field_unreadable',
  'history_item_malformed',
  'history_time_invalid',
  'history_older_than_retention',
  'history_in_the_future',
  'history_too_long',
  'row_refused_by_store',
  'kafka_batch_too_large',
  'kafka_batch_damaged',
  'hint_malformed',
] as const;
export type RejectReason = (typeof REJECT_REASONS)[number];

/** Any row, when only its table is known at run time. */
export type AnyRow = Readonly<Record<string, unknown>>;
