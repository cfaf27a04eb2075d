import type { AllowedNames } from './allowed-functions.ts';

/**
 * Formats in which a reader may ask for a result. Left out on purpose: those that read or write schemas and
 * templates (Protobuf, CapnProto, Avro, Template, CustomSeparated, SQLInsert), and wire protocols.
 */
export const allowedFormats: readonly AllowedNames[] = [
  {
    reason: 'Texts for shells, spreadsheets and scripts.',
    names: [
      'TabSeparated', 'TabSeparatedRaw', 'TabSeparatedWithNames', 'TabSeparatedWithNamesAndTypes',
      'TabSeparatedRawWithNames', 'TabSeparatedRawWithNamesAndTypes', 'TSV', 'TSVRaw', 'TSVWithNames',
      'TSVWithNamesAndTypes', 'TSVRawWithNames', 'TSVRawWithNamesAndTypes', 'Raw', 'RawWithNames',
      'RawWithNamesAndTypes', 'RawBLOB', 'LineAsString', 'CSV', 'CSVWithNames', 'CSVWithNamesAndTypes', 'TSKV',
      'Values', 'Markdown', 'MD', 'XML', 'Null',
    ], // prettier-ignore
  },
  {
    reason: 'JSON for programs: the official clients, the console, the plugin for JavaScript.',
    names: [
      'JSON', 'JSONStrings', 'JSONCompact', 'JSONCompactStrings', 'JSONColumns', 'JSONCompactColumns',
      'JSONColumnsWithMetadata', 'JSONEachRow', 'JSONLines', 'JSONL', 'NDJSON', 'JSONStringsEachRow',
      'JSONCompactEachRow', 'JSONCompactEachRowWithNames', 'JSONCompactEachRowWithNamesAndTypes',
      'JSONCompactStringsEachRow', 'JSONCompactStringsEachRowWithNames',
      'JSONCompactStringsEachRowWithNamesAndTypes', 'JSONEachRowWithProgress', 'JSONStringsEachRowWithProgress',
      'JSONCompactEachRowWithProgress', 'JSONCompactStringsEachRowWithProgress', 'JSONObjectEachRow',
      'PrettyJSONEachRow', 'PrettyJSONLines', 'PrettyNDJSON',
    ], // prettier-ignore
  },
  {
    reason: 'Tables for people.',
    names: [
      'Pretty', 'PrettyCompact', 'PrettySpace', 'PrettyNoEscapes', 'PrettyCompactNoEscapes', 'PrettySpaceNoEscapes',
      'PrettyMonoBlock', 'PrettyCompactMonoBlock', 'PrettySpaceMonoBlock', 'PrettyNoEscapesMonoBlock',
      'PrettyCompactNoEscapesMonoBlock', 'PrettySpaceNoEscapesMonoBlock', 'Vertical',
    ], // prettier-ignore
  },
  {
    reason: 'Binary columns and rows: Go (Grafana), Python, JDBC, pandas, DuckDB.',
    names: [
      'Native', 'RowBinary', 'RowBinaryWithNames', 'RowBinaryWithNamesAndTypes', 'Arrow', 'ArrowStream', 'Parquet',
      'ORC', 'MsgPack', 'Npy', 'BSONEachRow',
    ], // prettier-ignore
  },
];
