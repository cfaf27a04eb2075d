/** Formats without header and footer: chunks of a result, each formatted alone, join to the same text. */
const streamable = new Set([
  'csv', 'tabseparated', 'tsv', 'tabseparatedraw', 'tsvraw', 'raw', 'jsoneachrow', 'jsonlines', 'ndjson',
  'jsonstringseachrow', 'jsoncompacteachrow', 'jsoncompactstringseachrow', 'rowbinary', 'lineasstring', 'rawblob',
  'tskv', 'null', 'native',
]); // prettier-ignore

export function isStreamable(format: string): boolean {
  return streamable.has(format.toLowerCase());
}

/** The `Content-Type` that ClickHouse sends with a format. */
export function contentTypeOf(format: string): string {
  const name = format.toLowerCase();
  if (
    /^json(compact|strings|columns|compactcolumns|columnswithmetadata|compactstrings|objecteachrow)?$/.test(
      name,
    )
  ) {
    return 'application/json; charset=UTF-8';
  }
  if (/^(json\w*eachrow\w*|jsonlines|ndjson)$/.test(name)) return 'application/x-ndjson; charset=UTF-8';
  if (name.startsWith('csv'))
    return `text/csv; charset=UTF-8; header=${name === 'csv' ? 'absent' : 'present'}`;
  if (/^(tsv|tabseparated)/.test(name)) return 'text/tab-separated-values; charset=UTF-8';
  if (name === 'xml') return 'application/xml; charset=UTF-8';
  if (/^(pretty|vertical|values|tskv|markdown|sqlinsert)/.test(name)) return 'text/plain; charset=UTF-8';
  return 'application/octet-stream';
}
