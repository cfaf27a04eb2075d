import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The package's folder: that of the sources in the repository, one further up once compiled into `dist/`. */
const ROOT = findRoot(dirname(fileURLToPath(import.meta.url)));

/** Path of a file that the package ships beside its code: schema, rules, dashboards. */
export function packageFile(path: string): string {
  return join(ROOT, path);
}

/** One file for each table. */
export const TABLES_FOLDER = packageFile('schemas/tables');
/** One file for each view that is written by hand. */
const VIEWS_FOLDER = packageFile('schemas/views');
/** Payment spans as views, generated from their contract. */
export const TRACE_VIEWS_FILE = packageFile('store/out/views/traces.sql');
/** The table of orders, and the view that is generated from it. */
export const ORDERS_TABLE_FILE = join(TABLES_FOLDER, 'orders_store.sql');
export const ORDERS_VIEW_FILE = packageFile('store/out/views/orders.sql');
/** Definitions of views that hold no rows: those written by hand, and those generated. */
export const VIEW_FILES: readonly string[] = [
  ...readdirSync(VIEWS_FOLDER)
    .toSorted()
    .map((file) => join(VIEWS_FOLDER, file)),
  TRACE_VIEWS_FILE,
  ORDERS_VIEW_FILE,
  ...[
    'dashboards/out/views/gateway_watermarks.sql',
    'alerts/out/views/incident_orders.sql',
    'alerts/out/views/incident_population.sql',
  ].map(packageFile),
];
/** The generated configuration of Alertmanager, without addresses. */
export const ALERTMANAGER_FOLDER = packageFile('alerts/out/alertmanager');
/** The generated dashboards, classic JSON. */
export const DASHBOARDS_FOLDER = packageFile('dashboards/out/grafana/dashboards/gatewatch');
/** The dashboard that alerts lead to, which nobody opens by hand. */
export const ALERT_DASHBOARDS_FOLDER = packageFile('alerts/out/dashboards');
/** The console's page, once `npm run build` has bundled it. */
export const PAGE_FOLDER = packageFile('dist/page');

/** The package's version, from its manifest. */
export const VERSION: string = (
  JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as { version: string }
).version;

function findRoot(start: string): string {
  for (let folder = start; ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json'))) return folder;
    if (folder === dirname(folder)) throw new Error(`no package.json above ${start}`);
  }
}
