import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The package's folder: that of the sources in the repository, one further up once compiled into `dist/`. */
const ROOT = findRoot(dirname(fileURLToPath(import.meta.url)));

/** Path of a file that the package ships beside its code: migrations, rules, dashboards. */
export function packageFile(path: string): string {
  return join(ROOT, path);
}

/** The numbered SQL files. */
export const MIGRATIONS_FOLDER = packageFile('schemas/sql');
/** Payment spans as views, generated from their contract. */
export const TRACE_VIEWS_FILE = packageFile('store/out/views/traces.sql');
/**
 * Definitions of views that hold no rows, in the order in which they can be made. The last are generated
 * and read the views before them.
 */
export const DERIVED_VIEW_FILES: readonly string[] = [
  'store/views/events.sql',
  'store/views/orders.sql',
  'store/views/callbacks.sql',
  'store/views/operation.sql',
  'store/views/alerting.sql',
  'store/views/findings.sql',
  'dashboards/out/views/gateway_watermarks.sql',
  'dashboards/out/views/order_quarters.sql',
  'dashboards/out/views/poll_counts.sql',
  'store/out/views/traces.sql',
  'alerts/out/views/incident_orders.sql',
  'alerts/out/views/incident_population.sql',
].map(packageFile);
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
