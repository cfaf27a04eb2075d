import type { Dashboard, Panel, VariableModel } from '@grafana/grafana-foundation-sdk/dashboard';
import * as v2 from '@grafana/grafana-foundation-sdk/dashboardv2';
import type { Manifest } from '@grafana/grafana-foundation-sdk/resource';
import { GRAFANA } from '../../schemas/names.ts';

/**
 * The same dashboards as resources of `dashboard.grafana.app/v2` (Grafana 13: API, Git Sync, gcx), made from
 * the classic model so that the two cannot differ. Grafana's file provisioning does not load them.
 */
export function manifest(board: Dashboard): Manifest {
  return {
    apiVersion: 'dashboard.grafana.app/v2',
    kind: 'Dashboard',
    metadata: {
      name: board.uid ?? '',
      annotations: { 'grafana.app/folder': GRAFANA.folderUid },
    },
    spec: spec(board),
  };
}

function spec(board: Dashboard): v2.Dashboard {
  const panels = panelsOf(board);
  return {
    title: board.title ?? '',
    description: board.description ?? '',
    tags: board.tags ?? [],
    editable: false,
    preload: false,
    cursorSync: v2.DashboardCursorSync.Crosshair,
    timeSettings: {
      timezone: 'utc',
      from: board.time?.from ?? 'now-6h',
      to: board.time?.to ?? 'now',
      autoRefresh: board.refresh ?? '',
      autoRefreshIntervals: ['30s', '1m', '5m', '15m', '1h'],
      hideTimepicker: false,
      fiscalYearStartMonth: 0,
    },
    links: (board.links ?? []).map((link) => plain(link) as v2.DashboardLink),
    annotations: (board.annotations?.list ?? []).map(annotation),
    variables: (board.templating?.list ?? []).map(variable),
    elements: Object.fromEntries(
      panels.filter(({ type }) => type !== 'row').map((panel) => [elementName(panel), element(panel)]),
    ),
    layout: { kind: 'RowsLayout', spec: { rows: rows(panels) } },
  };
}

/** Classic rows are panels; what follows one belongs to it. */
const panelsOf = (board: Dashboard): Panel[] => (board.panels ?? []) as Panel[];

const elementName = (panel: Panel): string => `panel-${panel.id}`;

function rows(panels: readonly Panel[]): v2.RowsLayoutRowKind[] {
  const made: v2.RowsLayoutRowKind[] = [];
  let items: v2.GridLayoutItemKind[] = [];
  let top = 0;
  for (const panel of panels) {
    const { x, y, w, h } = panel.gridPos ?? { x: 0, y: 0, w: 24, h: 1 };
    if (panel.type === 'row') {
      items = [];
      top = y + 1;
      made.push({
        kind: 'RowsLayoutRow',
        spec: {
          title: panel.title ?? '',
          collapse: false,
          layout: { kind: 'GridLayout', spec: { items } },
        },
      });
      continue;
    }
    items.push({
      kind: 'GridLayoutItem',
      spec: {
        x,
        y: y - top,
        width: w,
        height: h,
        element: { kind: 'ElementReference', name: elementName(panel) },
      },
    });
  }
  return made;
}

function element(panel: Panel): v2.PanelKind {
  const { defaults = {}, overrides = [] } = plain(panel.fieldConfig ?? {}) as Partial<v2.FieldConfigSource>;
  return {
    kind: 'Panel',
    spec: {
      id: panel.id ?? 0,
      title: panel.title ?? '',
      description: panel.description ?? '',
      links: [],
      data: {
        kind: 'QueryGroup',
        spec: {
          queries: (panel.targets ?? []).map((target) => ({
            kind: 'PanelQuery',
            spec: { refId: refId(target), hidden: false, query: query(target) },
          })),
          transformations: [],
          queryOptions: panel.interval === undefined ? {} : { interval: panel.interval },
        },
      },
      vizConfig: {
        kind: 'VizConfig',
        group: panel.type,
        version: '',
        spec: { options: plain(panel.options ?? {}), fieldConfig: { defaults, overrides } },
      },
    },
  };
}

type Target = Record<string, unknown>;
const refId = (target: unknown): string => String((plain(target) as Target)['refId'] ?? 'A');

/** The data source is the dashboard's variable here too. */
function query(target: unknown): v2.DataQueryKind {
  const { refId: _, datasource: __, ...rest } = plain(target) as Target;
  return {
    kind: 'DataQuery',
    group: GRAFANA.datasourceType,
    version: 'v0',
    datasource: { name: '${datasource}' },
    spec: rest,
  };
}

function annotation(item: unknown): v2.AnnotationQueryKind {
  const { name, enable, hide, iconColor, builtIn, target } = plain(item) as Target;
  const common = {
    name: String(name),
    enable: enable === true,
    hide: hide === true,
    iconColor: String(iconColor),
  };
  if (builtIn === 1)
    return {
      kind: 'AnnotationQuery',
      spec: {
        ...common,
        builtIn: true,
        query: {
          kind: 'DataQuery',
          group: 'grafana',
          version: 'v0',
          datasource: { name: '-- Grafana --' },
          spec: {},
        },
      },
    };
  return { kind: 'AnnotationQuery', spec: { ...common, query: query(target) } };
}

function variable(model: VariableModel): v2.VariableKind {
  const { type, name } = model;
  const label = model.label ?? name;
  const common = { name, label, hide: v2.VariableHide.DontHide, skipUrlSync: false };
  const choice = {
    multi: model.multi === true,
    includeAll: model.includeAll === true,
    allowCustomValue: false,
  };
  const options = (plain(model.options ?? []) as v2.VariableOption[]).map((one) => one);
  const current = plain(model.current ?? { text: '', value: '' }) as v2.VariableOption;
  if (type === 'datasource')
    return {
      kind: 'DatasourceVariable',
      spec: {
        ...common,
        ...choice,
        pluginId: GRAFANA.datasourceType,
        refresh: v2.VariableRefresh.OnDashboardLoad,
        regex: '',
        current,
        options,
      },
    };
  if (type === 'query')
    return {
      kind: 'QueryVariable',
      spec: {
        ...common,
        ...choice,
        current,
        options,
        refresh: v2.VariableRefresh.OnTimeRangeChanged,
        sort: v2.VariableSort.AlphabeticalAsc,
        regex: '',
        query: query(model.query),
        definition: model.definition ?? '',
      },
    };
  if (type === 'custom')
    return {
      kind: 'CustomVariable',
      spec: { ...common, ...choice, current, options, query: String(model.query) },
    };
  return {
    kind: 'TextVariable',
    spec: { ...common, current, query: String(model.query ?? ''), description: model.description ?? '' },
  };
}

/** Builders leave functions and undefined fields behind. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
