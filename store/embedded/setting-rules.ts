/** Parameters of ClickHouse's HTTP interface that mean something here. */
export const ownParams: ReadonlySet<string> = new Set([
  'query',
  'query_id',
  'database',
  'default_format',
  'client_protocol_version',
  'wait_end_of_query',
  'compress',
  'enable_http_compression',
]);

/**
 * Parameters and settings of the HTTP interface without a meaning here: a request is a session of its own,
 * and the engine never sees the connection. Clients send them unasked, so they are passed over and not
 * refused.
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
