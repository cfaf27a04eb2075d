import { compressFrameSync } from 'lz4-napi';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { inUrl, statement, type Attack } from './attack.ts';

const SETTINGS: readonly Readonly<Record<string, string>>[] = [
  { output_format_schema: '{OUT}', default_format: 'Protobuf' },
  { output_format_schema: '{WRITER}', default_format: 'Protobuf' },
  { output_format_schema: '{OUT}', default_format: 'CapnProto' },
  { output_format_schema: '{OUT}' },
  { format_schema: '{SECRET}' },
  { format_schema_source: 'file' },
  { format_schema_path: '/' },
  { format_template_row: '{SECRET}' },
  { format_template_resultset: '{SECRET}' },
  { format_template_row_format: '${x}' },
  { format_custom_row_before_delimiter: 'x' },
  { format_avro_schema_registry_url: 'http://127.0.0.1:1' },
  { output_format_avro_rows_in_file: '1' },
  { output_format_sql_insert_table_name: 'x; DROP TABLE gatewatch.plain' },
  { readonly: '0', allow_ddl: '1' },
  { allow_ddl: '1' },
  { allow_introspection_functions: '1' },
  { allow_unrestricted_reads_from_keeper: '1' },
  { max_memory_usage_for_user: '0' },
  { max_query_size: '999999999' },
  { max_parser_depth: '0' },
  { max_ast_elements: '0' },
  { max_expanded_ast_elements: '999999999' },
  { max_execution_time_leaf: '0' },
  { max_temporary_data_on_disk_size_for_query: '0' },
  { additional_result_filter: 'id = 1' },
  { additional_table_filters: "{'gatewatch.plain': 'file(\\'{SECRET}\\') != \\'\\''}" },
  { additional_table_filters: "{'gatewatch.plain': '1) OR (file(\\'{SECRET}\\') != \\'\\''}" },
  { additional_table_filters: "{'gatewatch.plain': 'id IN (SELECT file(\\'{SECRET}\\'))'}" },
  { additional_table_filters: "{'gatewatch.plain': '1 UNION ALL SELECT 1'}" },
  { additional_table_filters: "{'gatewatch.plain': '1 FORMAT JSON'}" },
  { additional_table_filters: "{'gatewatch.plain': '1 SETTINGS max_threads = 64'}" },
  { additional_table_filters: "{'gatewatch.plain': '1'}, readonly = 0" },
  { additional_table_filters: "{'{SECRET}': '1'}" },
  { additional_table_filters: '{‘gatewatch.plain’: ‘file(“{SECRET}”)’}' },
  { additional_table_filters: "map('a', file('{SECRET}'))" },
  { additional_table_filters: "file('{SECRET}')" },
  { dialect: 'prql' },
  { dialect: 'kusto' },
  { allow_experimental_prql_dialect: '1' },
  { enable_analyzer: '0' },
  { allow_experimental_analyzer: '0' },
  { compatibility: '21.8' },
  { profile: 'default' },
  { role: 'gatewatch_writer_role', allow_ddl: '1' },
  { log_comment: 'x', storage_file_read_method: 'mmap' },
  { engine_file_truncate_on_insert: '1' },
  { implicit_select: '1' },
  { implicit_table_at_top_level: '{SECRET}' },
  { limit: '1; DROP TABLE gatewatch.plain' },
  { session_timezone: "UTC'; DROP TABLE gatewatch.plain; --" },
  { 'max_threads = 1, readonly': '0' },
  { "max_threads'": '1' },
  { date_time_output_format: "simple', readonly = 0, x = '" },
  { database: '/etc', allow_ddl: '1' },
  { format_csv_delimiter: "'" },
  { bool_true_representation: "x', file('{SECRET}'" },
  { http_zlib_compression_level: '1', sleep_in_send_data_ms: '10000' },
  { sleep_after_receiving_query_ms: '10000' },
  { sleep_in_send_tables_status_ms: '10000' },
  { unknown_packet_in_send_data: '1' },
];

/** The same in the statement, which a request's parameters do not show. */
const CLAUSES = [
  "SELECT 1 AS x SETTINGS output_format_schema = '{OUT}' FORMAT Protobuf",
  "SELECT 1 AS x FORMAT Protobuf SETTINGS output_format_schema = '{OUT}'",
  'SELECT 1 AS x FORMAT Protobuf',
  'SELECT 1 AS x FORMAT ProtobufSingle',
  'SELECT 1 AS x FORMAT ProtobufList',
  'SELECT 1 AS x FORMAT CapnProto',
  'SELECT 1 AS x FORMAT Template',
  'SELECT 1 AS x FORMAT CustomSeparated',
  'SELECT 1 AS x FORMAT Avro',
  'SELECT 1 AS x FORMAT AvroConfluent',
  'SELECT 1 AS x FORMAT SQLInsert',
  'SELECT 1 AS x FORMAT MySQLWire',
  'SELECT 1 AS x FORMAT PostgreSQLWire',
  'SELECT 1 AS x FORMAT ODBCDriver2',
  'SELECT 1 AS x FORMAT Hash',
  'SELECT 1 SETTINGS readonly = 0',
  'SELECT 1 SETTINGS allow_ddl = 1',
  'SELECT * FROM (SELECT 1 SETTINGS max_execution_time = 0)',
  'SELECT 1 IN (SELECT 1 SETTINGS max_memory_usage = 0)',
  'WITH x AS (SELECT 1 SETTINGS max_result_rows = 0) SELECT * FROM x',
  "SELECT 1 SETTINGS format_schema = '{SECRET}'",
  "SELECT 1 SETTINGS additional_table_filters = {'gatewatch.plain': 'file(\\'{SECRET}\\')'}",
  "SELECT 1 SETTINGS additional_table_filters = {'gatewatch.plain': '(SELECT file(\\'{SECRET}\\'))'}",
  'SELECT 1 SETTINGS max_threads = 1 max_threads = 2',
  'SELECT 1 SETTINGS max_threads',
  'SELECT 1 SETTINGS DEFAULT',
  'SELECT 1 SETTINGS max_threads = DEFAULT',
];

const PARAMETERS: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
  ['SELECT * FROM {t:Identifier}', { param_t: '{SECRET}' }],
  ['SELECT * FROM {t:Identifier}', { param_t: 'orders_store', database: 'gatewatch' }],
  ['SELECT * FROM { t : Identifier }', { param_t: 'processes', database: 'system' }],
  ['SELECT * FROM {t:identifier}', { param_t: 'orders_store', database: 'gatewatch' }],
  ['SELECT * FROM {d:Identifier}.{t:Identifier}', { param_d: 'system', param_t: 'processes' }],
  ['SELECT arrayMap({f:Identifier}, [1])', { param_f: 'file' }],
  ['SELECT {f:Identifier}(1)', { param_f: 'file' }],
  ['SELECT {x:Identifier} FROM gatewatch.plain', { param_x: "file('{SECRET}')" }],
  [
    'SELECT arrayReduce({p:String}, [1, 2])',
    { param_p: 'groupConcat((SELECT any(key) FROM gatewatch.fingerprint_keys_store))' },
  ],
  ['SELECT initializeAggregation({p:String}, 1)', { param_p: "groupConcat(file('{SECRET}'))" }],
  ['SELECT CAST(1, {p:String})', { param_p: "AggregateFunction(groupConcat(file('{SECRET}')), String)" }],
  ["SELECT * FROM values({p:String}, ('x'))", { param_p: "a String ALIAS file('{SECRET}')" }],
  ['SELECT file({p:String})', { param_p: '{SECRET}' }],
  ['SELECT {x:Nullable(Identifier)}', { param_x: 'a' }],
  ['SELECT {x:AggregateFunction(count)}', { param_x: 'a' }],
  ['SELECT {x:Function}', { param_x: 'a' }],
  [
    'SELECT * FROM gatewatch.plain LIMIT {n:UInt8} INTO OUTFILE {o:String}',
    { param_n: '1', param_o: '{OUT}' },
  ],
];

const FILE = "SELECT file('{SECRET}')";
const FILE_BODY = Buffer.from("SELECT file('/etc/passwd')");
const packed = (name: string, encoding: string, body: Uint8Array): Attack => ({
  group: 'compression', name, method: 'POST', search: {}, headers: { 'content-encoding': encoding }, body,
}); // prettier-ignore

/** Blocks of one byte each, in a frame whose blocks may have four megabytes. */
function tinyBlocks(count: number): Buffer {
  const head = Buffer.from([0x04, 0x22, 0x4d, 0x18, 0x40, 0x70, 0]);
  const block = Buffer.from([2, 0, 0, 0, 0x10, 0x20]);
  return Buffer.concat([head, ...Array.from({ length: count }, () => block), Buffer.alloc(4)]);
}

/** An LZ4 frame that says that four gigabytes are to be passed over. */
function skippableFrame(length: number): Buffer {
  const frame = Buffer.alloc(8 + length);
  frame.writeUInt32LE(0x184d2a50);
  frame.writeUInt32LE(0xffffffff, 4);
  return frame;
}

const compressed: readonly Attack[] = [
  packed('gzip', 'gzip', gzipSync(FILE_BODY)),
  packed('GZIP', 'GZIP', gzipSync(FILE_BODY)),
  packed('deflate', 'deflate', deflateSync(FILE_BODY)),
  packed('br', 'br', brotliCompressSync(FILE_BODY)),
  packed('zstd', 'zstd', zstdCompressSync(FILE_BODY)),
  packed('lz4', 'lz4', compressFrameSync(FILE_BODY)),
  packed('gzip bomb', 'gzip', gzipSync(Buffer.alloc(200_000_000, 0x20))),
  packed('br bomb', 'br', brotliCompressSync(Buffer.alloc(100_000_000, 0x20))),
  packed('zstd bomb', 'zstd', zstdCompressSync(Buffer.alloc(200_000_000, 0x20))),
  packed('lz4 bomb', 'lz4', compressFrameSync(Buffer.alloc(10_000_000, 0x20))),
  packed('lz4 bomb of 60 KB', 'lz4', compressFrameSync(Buffer.alloc(12_000_000, 0x20))),
  packed('lz4 tiny blocks', 'lz4', tinyBlocks(9_000)),
  packed('lz4 skippable frame', 'lz4', skippableFrame(60_000)),
  packed('lz4 skippable frame, long', 'lz4', skippableFrame(900_000)),
  packed('lz4 cut', 'lz4', compressFrameSync(FILE_BODY).subarray(0, 12)),
  packed('gzip cut', 'gzip', gzipSync(FILE_BODY).subarray(0, 12)),
  packed('gzip twice', 'gzip', gzipSync(gzipSync(FILE_BODY))),
  packed('gzip, gzip', 'gzip, gzip', gzipSync(gzipSync(FILE_BODY))),
  packed('unknown', 'snappy', FILE_BODY),
  packed('__proto__', '__proto__', FILE_BODY),
  packed('constructor', 'constructor', FILE_BODY),
];

const form = (fields: Readonly<Record<string, string>>, extra = ''): Attack => {
  const parts = Object.entries(fields).map(
    ([name, value]) => `--b\r\nContent-Disposition: form-data; name="${name}"${extra}\r\n\r\n${value}\r\n`,
  );
  return {
    group: 'forms',
    name: `form ${Object.keys(fields).join()}${extra}`,
    method: 'POST',
    search: {},
    headers: { 'content-type': 'multipart/form-data; boundary=b' },
    body: Buffer.from(`${parts.join('')}--b--\r\n`),
  };
};

const withHeaders = (name: string, headers: Readonly<Record<string, string>>, sql = FILE): Attack => ({
  ...statement('headers', sql),
  name: `${name} ${JSON.stringify(headers)}: ${sql}`,
  headers,
});

const blanks = (unit: string, times: number): Attack => {
  const sql = `SELECT (1${unit.repeat(times)}x`;
  return { ...statement('length', sql), name: `SELECT (1, ${times} times ${JSON.stringify(unit)}, x` };
};

export const REQUESTS: readonly Attack[] = [
  ...SETTINGS.map((search) => {
    const name = `SELECT 1 with ${JSON.stringify(search)}`;
    return { ...statement('settings', 'SELECT id AS x FROM gatewatch.plain', search), name };
  }),
  ...CLAUSES.map((sql) => statement('clauses', sql)),
  ...PARAMETERS.map(([sql, search]) => {
    return { ...statement('parameters', sql, search), name: `${sql} with ${JSON.stringify(search)}` };
  }),
  ...compressed,
  inUrl('urls', FILE),
  inUrl('urls', 'SELECT 1 AS x FORMAT Protobuf', { output_format_schema: '{OUT}' }),
  inUrl('urls', "SELECT 1 INTO OUTFILE '{OUT}'"),
  inUrl('urls', 'DROP TABLE gatewatch.plain'),
  inUrl('urls', 'INSERT INTO gatewatch.plain VALUES (9)'),
  statement('urls', "file('{SECRET}')", { query: 'SELECT' }),
  statement('urls', "('{SECRET}')", { query: 'SELECT file' }),
  statement('urls', "*/ file('{SECRET}')", { query: 'SELECT /*' }),
  statement('urls', "', file('{SECRET}')", { query: "SELECT '" }),
  statement('urls', 'FORMAT Protobuf', { query: 'SELECT 1 AS x', output_format_schema: '{OUT}' }),
  statement('urls', '1\n\nDROP TABLE gatewatch.plain', { query: 'INSERT INTO gatewatch.plain FORMAT TSV' }),
  statement('urls', '1', { query: 'INSERT INTO gatewatch.plain FORMAT TSV' }),
  form({ query: FILE }),
  form({ query: 'SELECT 1 AS x FORMAT Protobuf', output_format_schema: '{OUT}' }),
  form({ query: 'SELECT * FROM {t:Identifier}', param_t: 'orders_store', database: 'gatewatch' }),
  form({ query: 'SELECT * FROM x', x: '1' }, '; filename="x"'),
  form({ query: 'SELECT 1', readonly: '0', allow_ddl: '1' }),
  withHeaders('format', { 'x-clickhouse-format': 'Protobuf' }, 'SELECT 1 AS x'),
  withHeaders('format', { 'x-clickhouse-format': 'Template' }, 'SELECT 1 AS x'),
  withHeaders('database', { 'x-clickhouse-database': 'system' }, 'SELECT * FROM processes'),
  withHeaders('database', { 'x-clickhouse-database': '{SECRET}' }),
  withHeaders('database', { 'x-clickhouse-database': 'gatewatch' }, 'SELECT * FROM orders_store'),
  withHeaders('content type', { 'content-type': 'multipart/form-data' }),
  withHeaders('content type', { 'content-type': 'multipart/form-data; boundary=' }),
  withHeaders('content type', { 'content-type': 'application/x-www-form-urlencoded' }),
  withHeaders('quota', { 'x-clickhouse-quota': 'x' }),
  withHeaders('method', { 'x-http-method-override': 'DELETE' }),
  blanks(' ', 120_000),
  blanks(';', 120_000),
  blanks('\n', 120_000),
  blanks("''", 60_000),
  blanks('/**/', 30_000),
  blanks('--\n', 40_000),
  blanks('`', 120_000),
  blanks('‘', 40_000),
  blanks('(', 100_000),
  blanks('[', 100_000),
  blanks('{', 100_000),
  blanks('CASE ', 20_000),
  blanks('SELECT ', 20_000),
  blanks('NOT ', 30_000),
  blanks('-', 100_000),
  blanks(' BETWEEN 1 AND', 10_000),
  blanks(' x', 300_000),
];
