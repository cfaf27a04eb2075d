/** What a value of a setting may look like. */
export type ValueKind = 'flag' | 'count' | 'word' | 'character' | 'short text' | 'limit' | 'table filters';

export interface AllowedSettings {
  readonly reason: string;
  readonly value: ValueKind;
  readonly names: readonly string[];
}

const words = (text: string): string[] => text.trim().split(/\s+/);

/**
 * Every setting that a reader may choose, as a parameter of the request or in a SETTINGS clause. Left out on
 * purpose: what names files, schemas or templates, what changes how a statement is parsed, and what lifts a
 * limit.
 */
export const allowedSettings: readonly AllowedSettings[] = [
  {
    reason:
      'Bounds that may be lowered and never raised: clients and the Grafana plugin send their own deadlines.',
    value: 'limit',
    names: words('max_execution_time max_memory_usage max_result_bytes max_result_rows max_threads'),
  },
  {
    reason: 'Ad hoc filters of the Grafana plugin: conditions, which are judged like any statement.',
    value: 'table filters',
    names: ['additional_table_filters'],
  },
  {
    reason: 'Lower bounds of a statement, for analysts who watch what they read.',
    value: 'count',
    names: words(`
      max_rows_to_read max_bytes_to_read max_rows_to_group_by max_rows_to_sort max_bytes_to_sort max_rows_in_set
      max_bytes_in_set max_rows_in_join max_bytes_in_join max_rows_in_distinct max_bytes_in_distinct limit offset
      max_block_size priority
    `),
  },
  {
    reason: 'What happens at a bound: an error or the rows so far.',
    value: 'word',
    names: words('result_overflow_mode timeout_overflow_mode read_overflow_mode group_by_overflow_mode'),
  },
  {
    reason: 'How a statement is understood; BI tools set them.',
    value: 'flag',
    names: words(`
      join_use_nulls extremes final do_not_merge_across_partitions_select_final cast_keep_nullable
      prefer_column_name_to_alias transform_null_in use_uncompressed_cache use_client_time_zone
      any_join_distinct_right_table_keys prefer_localhost_replica low_cardinality_allow_in_native_format
    `),
  },
  {
    reason: 'Names of a way to do it, or of a time zone.',
    value: 'word',
    names: words(`
      session_timezone count_distinct_implementation totals_mode union_default_mode load_balancing
      distributed_product_mode network_compression_method date_time_input_format date_time_output_format
    `),
  },
  {
    reason: 'How JSON is written: the official clients.',
    value: 'flag',
    names: words(`
      output_format_json_quote_64bit_integers output_format_json_quote_64bit_floats output_format_json_quote_denormals
      output_format_json_quote_decimals output_format_json_named_tuples_as_objects
      output_format_json_skip_null_value_in_named_tuples output_format_json_escape_forward_slashes
      output_format_json_array_of_rows output_format_json_validate_utf8 output_format_json_map_as_array_of_tuples
      output_format_write_statistics
    `),
  },
  {
    reason: 'How texts for scripts are written.',
    value: 'flag',
    names: words(`
      output_format_csv_crlf_end_of_line output_format_tsv_crlf_end_of_line
      output_format_csv_serialize_tuple_into_separate_columns output_format_decimal_trailing_zeros
      output_format_markdown_escape_special_characters output_format_values_escape_quote_with_quote
    `),
  },
  { reason: 'The separator of CSV.', value: 'character', names: ['format_csv_delimiter'] },
  {
    reason: 'How nothing, true and false are written.',
    value: 'short text',
    names: words(`
      format_csv_null_representation format_tsv_null_representation bool_true_representation
      bool_false_representation
    `),
  },
  {
    reason: 'How tables for people are drawn.',
    value: 'count',
    names: words(`
      output_format_pretty_max_rows output_format_pretty_max_column_pad_width output_format_pretty_max_value_width
      output_format_pretty_row_numbers output_format_pretty_color output_format_pretty_highlight_digit_groups
      output_format_pretty_display_footer_column_names
    `),
  },
  { reason: 'How tables for people are drawn.', value: 'word', names: ['output_format_pretty_grid_charset'] },
  {
    reason: 'How binary columns are written: pandas, DuckDB, clickhouse-connect.',
    value: 'flag',
    names: words(`
      output_format_arrow_string_as_string output_format_arrow_low_cardinality_as_dictionary
      output_format_arrow_fixed_string_as_fixed_byte_array output_format_parquet_string_as_string
      output_format_parquet_fixed_string_as_fixed_byte_array output_format_orc_string_as_string
      output_format_binary_write_json_as_string output_format_native_write_json_as_string
      input_format_binary_read_json_as_string
    `),
  },
  {
    reason: 'How binary columns are packed.',
    value: 'word',
    names: words('output_format_arrow_compression_method output_format_parquet_compression_method'),
  },
  {
    reason: 'Sent with every request by clients that also insert; they mean nothing to a SELECT.',
    value: 'flag',
    names: words(`
      input_format_null_as_default input_format_with_names_use_header cast_string_to_dynamic_use_inference
      cast_string_to_variant_use_inference
    `),
  },
];

const KINDS: ReadonlyMap<string, ValueKind> = new Map(
  allowedSettings.flatMap(({ names, value }) => names.map((name) => [name, value] as const)),
);

const SHAPES: Readonly<Record<Exclude<ValueKind, 'table filters'>, RegExp>> = {
  flag: /^(?:0|1|true|false)$/,
  count: /^\d{1,15}$/,
  // JDBC sends the greatest number of 64 bits for none.
  limit: /^-?\d{1,20}(?:\.\d{0,6})?$/,
  word: /^[A-Za-z0-9_+/-]{1,64}$/,
  character: /^[\t !#-&(-/:-[\]-_a-~|]$/,
  'short text': /^[\w ./()+-]{0,16}$/,
};

/** The kind of a setting that a reader may choose, or null for any other. */
export function settingKind(name: string): ValueKind | null {
  return KINDS.get(name) ?? null;
}

/** Does the value look like one of this kind? */
export function fits(kind: Exclude<ValueKind, 'table filters'>, value: string): boolean {
  return SHAPES[kind].test(value);
}
