import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import * as dashboard from '@grafana/grafana-foundation-sdk/dashboard';
import { view } from '../../schemas/measures.ts';
import { GRAFANA } from '../../schemas/names.ts';
import { clickHouseQuery, DATASOURCE, FORMAT } from './clickhouse-query.ts';
import { CHOSEN_GATEWAY, inRange } from './filters.ts';
import { panelId } from './ids.ts';
import { buildVariable, type Variable } from './variables.ts';

/** Collapsible group of panels, in the order in which they are laid out. */
export interface Row {
  readonly key: string;
  readonly title: string;
  readonly panels: readonly Builder<dashboard.Panel>[];
}

export interface DashboardOptions {
  readonly uid: string;
  readonly title: string;
  /** The one question that this dashboard answers. */
  readonly description: string;
  readonly variables: readonly Variable[];
  readonly rows: readonly Row[];
  /** Start of the time range. @default now-6h */
  readonly from?: string;
}

const TAG = 'gatewatch';

/** A dashboard in the classic model, which is the one that Grafana loads from files. */
export function houseDashboard(options: DashboardOptions): dashboard.Dashboard {
  const builder = new dashboard.DashboardBuilder(options.title)
    .uid(options.uid)
    .description(options.description)
    .tags([TAG])
    .readonly()
    .timezone('utc')
    .refresh('1m')
    .time({ from: options.from ?? 'now-6h', to: 'now' })
    .tooltip(dashboard.DashboardCursorSync.Crosshair)
    .link(
      new dashboard.DashboardLinkBuilder(GRAFANA.folderTitle)
        .type(dashboard.DashboardLinkType.Dashboards)
        .tags([TAG])
        .asDropdown(true)
        .keepTime(true)
        .includeVars(true),
    )
    .withVariable(
      new dashboard.DatasourceVariableBuilder('datasource')
        .label('Data source')
        .type(GRAFANA.datasourceType)
        .current({ selected: true, text: GRAFANA.datasourceUid, value: GRAFANA.datasourceUid }),
    )
    .annotation(
      new dashboard.AnnotationQueryBuilder()
        .name('Alerts')
        .builtIn(1)
        .type('dashboard')
        .datasource({ type: 'grafana', uid: '-- Grafana --' })
        .enable(true)
        .hide(true)
        .iconColor('red'),
    )
    .annotation(
      new dashboard.AnnotationQueryBuilder()
        .name('Deployments and notes')
        .datasource(DATASOURCE)
        .enable(true)
        .iconColor('blue')
        .target(clickHouseQuery({ sql: ANNOTATIONS_SQL, format: FORMAT.table, refId: 'annotations' })),
    );
  for (const variable of options.variables) builder.withVariable(buildVariable(variable));
  for (const row of options.rows) {
    builder.withRow(new dashboard.RowBuilder(row.title).id(panelId(row.key)));
    for (const panel of row.panels) builder.withPanel(panel);
  }
  return withoutMenuPlacement(builder.build());
}

/**
 * time, timeEnd, title, text, tags: what Grafana reads of an annotation. It reads the texts as HTML, in which
 * people's texts have no markup.
 */
const ANNOTATIONS_SQL = `SELECT starts_at AS time, ifNull(ends_at, starts_at) AS timeEnd, encodeXMLComponent(title) AS title, encodeXMLComponent(text) AS text, arrayStringConcat(tags, ',') AS tags
FROM ${view('annotations')}
WHERE ${inRange('starts_at')} AND (gateway = '' OR ${CHOSEN_GATEWAY})
ORDER BY time
LIMIT 500`;

/**
 * The SDK hides links and annotations in the controls menu by default, and has no option against it.
 */
function withoutMenuPlacement(board: dashboard.Dashboard): dashboard.Dashboard {
  for (const item of [...(board.links ?? []), ...(board.annotations?.list ?? [])]) delete item.placement;
  return board;
}
