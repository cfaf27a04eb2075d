import * as bargauge from '@grafana/grafana-foundation-sdk/bargauge';
import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import * as common from '@grafana/grafana-foundation-sdk/common';
import { FieldColorBuilder, FieldColorModeId, type Panel } from '@grafana/grafana-foundation-sdk/dashboard';
import * as statetimeline from '@grafana/grafana-foundation-sdk/statetimeline';
import * as table from '@grafana/grafana-foundation-sdk/table';
import { GRAFANA } from '../../schemas/names.ts';
import { FORMAT, type Format } from './clickhouse-query.ts';
import { dress, type PanelOptions } from './panels.ts';

/** Panels of the house that only some dashboards need. */

/** Bars side by side, one a row of the result, named by its text: the steps of a funnel. */
export function barPanel(options: PanelOptions): bargauge.PanelBuilder {
  return dress(new bargauge.PanelBuilder(), FORMAT.table, options)
    .min(0)
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.Thresholds))
    .reduceOptions(
      new common.ReduceDataOptionsBuilder().calcs(['lastNotNull']).fields('').values(true).limit(50),
    )
    .orientation(common.VizOrientation.Horizontal)
    .displayMode(common.BarGaugeDisplayMode.Gradient)
    .valueMode(common.BarGaugeValueMode.Text)
    .namePlacement(common.BarGaugeNamePlacement.Left)
    .showUnfilled(true);
}

/** States over time, one lane a text column. */
export function stateTimelinePanel(options: PanelOptions): statetimeline.PanelBuilder {
  return dress(new statetimeline.PanelBuilder(), FORMAT.table, options)
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.Fixed).fixedColor('text'))
    .mergeValues(true)
    .showValue(common.VisibilityMode.Auto)
    .alignValue(common.TimelineValueAlignment.Left)
    .rowHeight(0.9)
    .fillOpacity(70)
    .lineWidth(0)
    .legend(
      new common.VizLegendOptionsBuilder()
        .showLegend(true)
        .displayMode(common.LegendDisplayMode.List)
        .placement(common.LegendPlacement.Bottom),
    )
    .tooltip(new common.VizTooltipOptionsBuilder().mode(common.TooltipDisplayMode.Single));
}

/**
 * Spans of one trace. The SDK has no builder for Grafana's traces panel: the query and the texts are the
 * house's own.
 */
export function tracesPanel(options: PanelOptions): Builder<Panel> {
  const built = plainPanel(FORMAT.traces, options);
  return { build: () => ({ ...built, type: 'traces', options: { spanFilters: { tags: [] } } }) };
}

/** Alerts of this folder that fire or are about to. Grafana fills it by itself, without a query. */
export function alertListPanel(options: Omit<PanelOptions, 'sql'>): Builder<Panel> {
  const { targets: _, datasource: __, ...built } = plainPanel(FORMAT.table, { ...options, sql: '' });
  return {
    build: () => ({
      ...built,
      type: 'alertlist',
      options: {
        viewMode: 'list',
        groupMode: 'default',
        groupBy: [],
        maxItems: 20,
        sortOrder: 3,
        dashboardAlerts: false,
        alertName: '',
        alertInstanceLabelFilter: '{service="gatewatch"}',
        folder: { uid: GRAFANA.folderUid, title: GRAFANA.folderTitle },
        datasource: '-- Grafana --',
        stateFilter: { firing: true, pending: true, noData: false, normal: false, error: true },
      },
    }),
  };
}

/** What all panels share, for a type that the SDK does not know. */
function plainPanel(format: Format, options: PanelOptions): Panel {
  const built = dress(new table.PanelBuilder(), format, options)
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.Thresholds))
    .build();
  // What only tables have.
  delete built.fieldConfig?.defaults.custom;
  return built;
}
