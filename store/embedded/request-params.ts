import { clickhouseError } from './clickhouse-error.ts';
import { ignoredParams, ownParams } from './setting-rules.ts';

/** Parameters of a request that are not settings of the engine. */
export interface RequestParams {
  readonly query: string;
  readonly queryId: string | null;
  readonly database: string | null;
  readonly defaultFormat: string;
  /** Answer only when the result is complete, so that an error has its own status. */
  readonly waitEndOfQuery: boolean;
  readonly compressResponse: boolean;
  /** `compress=1`: ClickHouse's own blocks in the place of an HTTP encoding. */
  readonly packBlocks: boolean;
  /** Version in which blocks of the format Native are written. */
  readonly nativeRevision: number;
  /** `param_x` -> x, for `{x:Type}`. */
  readonly parameters: ReadonlyMap<string, string>;
  /** Settings of the engine, as asked for. */
  readonly settings: ReadonlyMap<string, string>;
}

/** Splits what came in the URL, or in a form's fields. */
export function readRequestParams(
  entries: Iterable<readonly [string, string]>,
  headers: { readonly database: string | undefined; readonly format: string | undefined },
): RequestParams {
  const values = new Map<string, string>();
  const parameters = new Map<string, string>();
  const settings = new Map<string, string>();
  for (const [name, value] of entries) {
    if (name.startsWith('param_')) parameters.set(identifier(name.slice('param_'.length)), value);
    else if (ownParams.has(name)) values.set(name, value);
    else if (name === 'decompress') refusePackedBody(value);
    else if (!ignoredParams.has(name) && value !== '') settings.set(identifier(name), value);
  }
  const format = values.get('default_format') ?? headers.format ?? 'TabSeparated';
  return {
    query: values.get('query') ?? '',
    queryId: values.get('query_id') || null,
    database: values.get('database') || headers.database || null,
    defaultFormat: identifier(format),
    waitEndOfQuery: isTrue(values.get('wait_end_of_query')),
    compressResponse: values.get('enable_http_compression') !== '0',
    packBlocks: isTrue(values.get('compress')),
    nativeRevision: Number(values.get('client_protocol_version') ?? 0) || 0,
    parameters,
    settings,
  };
}

function refusePackedBody(value: string): void {
  if (isTrue(value))
    throw clickhouseError(48, 'The embedded store does not speak decompress=1; use Content-Encoding.');
}

function identifier(name: string): string {
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return name;
  throw clickhouseError(297, `Not a valid name: ${JSON.stringify(name.slice(0, 64))}`);
}

function isTrue(value: string | undefined): boolean {
  return value !== undefined && value !== '' && value !== '0' && value !== 'false';
}
