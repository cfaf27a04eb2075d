import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import * as common from '@grafana/grafana-foundation-sdk/common';
import { FieldColorBuilder, FieldColorModeId, type Panel } from '@grafana/grafana-foundation-sdk/dashboard';
import * as stat from '@grafana/grafana-foundation-sdk/stat';
import * as table from '@grafana/grafana-foundation-sdk/table';
import * as timeseries from '@grafana/grafana-foundation-sdk/timeseries';
import { clickHouseQuery, DATASOURCE, FORMAT, type Format } from './clickhouse-query.ts';
import { type FieldLook, type Limits, look, noThresholds, thresholds } from './fields.ts';
import { panelId } from './ids.ts';

/**
 * The house style: every panel of gatewatch is made here, so that none lacks a description, a unit, a text
 * for "no data", thresholds, a legend or a tooltip, and so that a panel's JSON says all that is needed to
 * draw it.
 */
export interface PanelOptions {
  /** Stable key: the panel's id follows from it. */
  readonly key: string;
  /** The quantity. */
  readonly title: string;
  /** What, from which codes, good and bad values, next step. */
  readonly description: string;
  readonly sql: string;
  /** Unit of the fields that no override gives another. */
  readonly unit: string;
  readonly decimals?: number;
  /** Width in columns of 24, height in rows of 30 px. */
  readonly size: readonly [width: number, height: number];
  /** @default no traffic */
  readonly noValue?: string;
  readonly limits?: Limits;
  /** Overrides by the name of a column. */
  readonly fields?: Readonly<Record<string, FieldLook>>;
  /** Overrides by a pattern over series names, as `/regexp/`. */
  readonly series?: Readonly<Record<string, FieldLook>>;
}

/** What the panel builders have in common. */
export interface AnyPanelBuilder extends Builder<Panel> {
  id(id: number): this;
  title(title: string): this;
  description(description: string): this;
  datasource(datasource: common.DataSourceRef): this;
  span(width: number): this;
  height(height: number): this;
  unit(unit: string): this;
  decimals(decimals: number): this;
  noValue(noValue: string): this;
  thresholds(thresholds: ReturnType<typeof noThresholds>): this;
  colorScheme(color: FieldColorBuilder): this;
  interval(interval: string): this;
  overrideByName(name: string, properties: ReturnType<typeof look>): this;
  overrideByRegexp(regexp: string, properties: ReturnType<typeof look>): this;
  withTarget(target: ReturnType<typeof clickHouseQuery>): this;
}

/** Narrowest bucket: rates are per minute. */
const MIN_INTERVAL = '1m';

export function dress<B extends AnyPanelBuilder>(builder: B, format: Format, options: PanelOptions): B {
  builder
    .id(panelId(options.key))
    .title(options.title)
    .description(options.description)
    .datasource(DATASOURCE)
    .span(options.size[0])
    .height(options.size[1])
    .unit(options.unit)
    .noValue(options.noValue ?? 'no traffic')
    .interval(MIN_INTERVAL)
    .thresholds(options.limits ? thresholds(options.limits) : noThresholds())
    .withTarget(clickHouseQuery({ sql: options.sql, format }));
  if (options.decimals !== undefined) builder.decimals(options.decimals);
  for (const [name, field] of Object.entries(options.fields ?? {})) builder.overrideByName(name, look(field));
  for (const [pattern, field] of Object.entries(options.series ?? {}))
    builder.overrideByRegexp(pattern, look(field));
  return builder;
}

/**
 * One or a few numbers, from the first row of a table; with `eachRow`, one number a row, named by its texts.
 */
export function statPanel(options: PanelOptions & { readonly eachRow?: boolean }): stat.PanelBuilder {
  const reduce = new common.ReduceDataOptionsBuilder().calcs(['lastNotNull']).fields('');
  return dress(new stat.PanelBuilder(), FORMAT.table, options)
    .reduceOptions(options.eachRow === true ? reduce.values(true).limit(25) : reduce.values(false))
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.Thresholds))
    .colorMode(common.BigValueColorMode.Value)
    .graphMode(common.BigValueGraphMode.None)
    .justifyMode(common.BigValueJustifyMode.Auto)
    .textMode(common.BigValueTextMode.ValueAndName)
    .orientation(common.VizOrientation.Auto);
}

export interface TimeSeriesOptions extends PanelOptions {
  /** @default lines */
  readonly draw?: 'lines' | 'stacked-bars';
  readonly max?: number;
  /**
   * What the legend says about each series. A mean of shares would count an hour of two orders like one of
   * two thousand. @default ['mean', 'max'], of shares ['min', 'max', 'lastNotNull']
   */
  readonly legendValues?: readonly string[];
}

/**
 * Without a point for longer than this a line ends: what happened meanwhile is not known. Longer than an
 * interval of any range that is usual (90 days: three hours), whose points would all stand alone otherwise.
 */
const GAP_MS = 3 * 3_600_000;

/** From here on there is room for the legend beside the plot. */
const WIDE = 12;

export function timeSeriesPanel(options: TimeSeriesOptions): timeseries.PanelBuilder {
  const stacked = options.draw === 'stacked-bars';
  const legendValues =
    options.legendValues ??
    (options.unit === 'percentunit' ? ['min', 'max', 'lastNotNull'] : ['mean', 'max']);
  const legend = new common.VizLegendOptionsBuilder()
    .showLegend(true)
    .displayMode(common.LegendDisplayMode.Table)
    .placement(options.size[0] >= WIDE ? common.LegendPlacement.Right : common.LegendPlacement.Bottom)
    .calcs([...legendValues]);
  // The largest series comes first.
  if (legendValues.includes('sum')) legend.sortBy('Total').sortDesc(true);
  const builder = dress(new timeseries.PanelBuilder(), FORMAT.timeSeries, options)
    .min(0)
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.PaletteClassic))
    .drawStyle(stacked ? common.GraphDrawStyle.Bars : common.GraphDrawStyle.Line)
    .lineWidth(stacked ? 0 : 2)
    .fillOpacity(stacked ? 80 : 10)
    .showPoints(common.VisibilityMode.Auto)
    .pointSize(4)
    .spanNulls(false)
    .insertNulls(stacked ? false : GAP_MS)
    .stacking(
      new common.StackingConfigBuilder()
        .mode(stacked ? common.StackingMode.Normal : common.StackingMode.None)
        .group('A'),
    )
    .legend(legend)
    .tooltip(
      new common.VizTooltipOptionsBuilder()
        .mode(common.TooltipDisplayMode.Multi)
        .sort(common.SortOrder.Descending),
    )
    .thresholdsStyle(
      new common.GraphThresholdsStyleConfigBuilder().mode(
        options.limits === undefined
          ? common.GraphThresholdsStyleMode.Off
          : common.GraphThresholdsStyleMode.Dashed,
      ),
    );
  // A bar covers the time that it counts, which begins at its timestamp.
  if (stacked) builder.barAlignment(common.BarAlignment.After);
  if (options.max !== undefined) builder.max(options.max);
  return builder;
}

export function tablePanel(options: PanelOptions): table.PanelBuilder {
  return dress(new table.PanelBuilder(), FORMAT.table, options)
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.Thresholds))
    .showHeader(true)
    .cellHeight(common.TableCellHeight.Sm)
    .filterable(true)
    .align(common.FieldTextAlignment.Auto);
}
