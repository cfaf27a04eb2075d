import type { Builder, Dataquery } from '@grafana/grafana-foundation-sdk/cog';
import { GRAFANA } from '../../schemas/names.ts';

/** What the plugin's backend makes of a result: a time series frame or a table. Values are the plugin's. */
export const FORMAT = { timeSeries: 0, table: 1, traces: 3 } as const;
export type Format = (typeof FORMAT)[keyof typeof FORMAT];

const PLUGIN_VERSION = '4.20.0';
const QUERY_TYPES = { 0: 'timeseries', 1: 'table', 3: 'traces' } as const;

/** The plugin's query model; the SDK has no builder for it. */
interface ClickHouseQuery extends Dataquery {
  refId?: string;
  datasource?: { type: string; uid: string };
  editorType: 'sql';
  pluginVersion: string;
  rawSql: string;
  format: Format;
  queryType: (typeof QUERY_TYPES)[Format];
  meta: { timezone: 'UTC' };
  /** In alert rules only: panels get theirs from the panel's width. */
  intervalMs?: number;
  maxDataPoints?: number;
}

export interface ClickHouseQueryOptions {
  readonly sql: string;
  readonly format: Format;
  /** @default A */
  readonly refId?: string;
  /** Uid of the data source, or the dashboard's variable. @default ${datasource} */
  readonly datasourceUid?: string;
  /** For alert rules. */
  readonly intervalMs?: number;
}

/** A query of the ClickHouse plugin, for panels, variables, annotations and alert rules. */
export function clickHouseQuery(options: ClickHouseQueryOptions): Builder<Dataquery> {
  const query: ClickHouseQuery = {
    refId: options.refId ?? 'A',
    datasource: { type: GRAFANA.datasourceType, uid: options.datasourceUid ?? DATASOURCE.uid },
    editorType: 'sql',
    pluginVersion: PLUGIN_VERSION,
    rawSql: options.sql.trim(),
    format: options.format,
    queryType: QUERY_TYPES[options.format],
    meta: { timezone: 'UTC' },
    ...(options.intervalMs === undefined ? {} : { intervalMs: options.intervalMs, maxDataPoints: 43_200 }),
    // A marker that the interface asks for; functions never reach the JSON.
    _implementsDataqueryVariant() {},
  };
  return { build: () => query };
}

/** The dashboard's choice of data source. */
export const DATASOURCE = { type: GRAFANA.datasourceType, uid: '${datasource}' } as const;
