/** Parameters of ClickHouse's HTTP interface that mean something here. */
export const ownParams: ReadonlySet<string> = new Set([
  'query',
  'query_id',
  'database',
  'default_format',
  'client_protocol_version',
  'wait_end_of_query',
  'enable_http_compression',
]);

/**
 * Parameters and settings of the HTTP interface without a meaning here: a request is a session of its own, and the
 * engine never sees the connection. Clients send them unasked, so they are passed over and not refused.
 */
// prettier-ignore
export const ignoredParams: ReadonlySet<string> = new Set([
  'user', 'password', 'quota_key', 'role', 'stacktrace', 'buffer_size', 'session_id', 'session_timeout', 'session_check',
  'close_session', 'send_progress_in_http_headers', 'http_headers_progress_interval_ms',
  'http_zlib_compression_level', 'http_response_buffer_size', 'add_http_cors_header',
  'http_write_exception_in_output_format', 'cancel_http_readonly_queries_on_client_disconnect',
  'http_native_compression_disable_checksumming_on_decompress', 'http_make_head_request', 'http_receive_timeout',
  'http_send_timeout', 'http_connection_timeout', 'connect_timeout', 'receive_timeout', 'send_timeout',
  'idle_connection_timeout', 'readonly', 'log_comment', 'log_queries', 'async_insert', 'wait_for_async_insert',
]);

/** Settings that a reader may choose freely: how a result is written, and how its own statement is read. */
// prettier-ignore
const readerSettings: ReadonlySet<string> = new Set([
  'input_format_null_as_default', 'input_format_with_names_use_header', 'date_time_input_format',
  'date_time_output_format', 'session_timezone', 'join_use_nulls', 'extremes', 'max_block_size', 'final',
  'do_not_merge_across_partitions_select_final', 'result_overflow_mode', 'timeout_overflow_mode', 'read_overflow_mode',
  'group_by_overflow_mode', 'use_uncompressed_cache', 'use_client_time_zone', 'cast_keep_nullable',
  'prefer_column_name_to_alias', 'count_distinct_implementation', 'priority', 'load_balancing', 'totals_mode',
  'transform_null_in', 'union_default_mode', 'low_cardinality_allow_in_native_format', 'max_rows_to_read',
  'max_bytes_to_read', 'max_rows_to_group_by', 'max_rows_to_sort', 'max_bytes_to_sort', 'max_rows_in_set',
  'max_bytes_in_set', 'max_rows_in_join', 'max_bytes_in_join', 'max_rows_in_distinct', 'max_bytes_in_distinct',
  'network_compression_method', 'any_join_distinct_right_table_keys', 'prefer_localhost_replica',
  'distributed_product_mode', 'format_csv_delimiter', 'format_csv_null_representation', 'format_tsv_null_representation',
  'limit', 'offset',
]);

export function isReaderSetting(name: string): boolean {
  return readerSettings.has(name) || /^output_format_\w+$/.test(name);
}
