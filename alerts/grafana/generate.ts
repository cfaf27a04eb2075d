import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type GeneratedFiles, runGenerator } from '../../dashboards/house/write-out.ts';
import { UTC_WITHOUT_HOLIDAYS } from '../../schemas/config-alerts.ts';
import { INCIDENT_ORDERS, INCIDENT_POPULATION } from '../../schemas/names.ts';
import { incidentOrdersView, incidentPopulationView } from '../count/incident-orders.ts';
import { prometheusFiles } from '../prometheus/files.ts';
import { RULES } from '../rules/all.ts';
import { ruleGroups } from './grafana-rule.ts';
import { INCIDENT_DASHBOARD, incidentDashboard } from './incident-dashboard.ts';
import { alertmanagerFiles, grafanaNotifications } from './notification-files.ts';
import { provisioningFile, yamlFile } from './provisioning.ts';
import { RUNBOOK_DASHBOARD, RUNBOOKS_DIR, runbookDashboard, runbookLinks } from './runbooks.ts';
import { type ShopSettings, shopSettings } from './shop-settings.ts';

/** Everything under alerts/out, by path. */
export function generateAlerts(shop: ShopSettings = {}): GeneratedFiles {
  const { runbookUrl, calendar = UTC_WITHOUT_HOLIDAYS } = shop;
  for (const rule of RULES)
    if (!existsSync(`${RUNBOOKS_DIR}/${rule.name}.md`))
      throw new Error(`rule ${rule.name} has no runbook alerts/runbooks/${rule.name}.md`);
  return new Map([
    [
      'provisioning/alerting/gatewatch-rules.yaml',
      provisioningFile(ruleGroups(RULES), runbookLinks(runbookUrl)),
    ],
    ...within('provisioning/notifications', grafanaNotifications(calendar)),
    ...within('alertmanager', alertmanagerFiles()),
    ...within(
      'prometheus',
      new Map(
        [...prometheusFiles(RULES, runbookLinks(runbookUrl))].map(([name, file]) => [name, yamlFile(file)]),
      ),
    ),
    [`views/${INCIDENT_ORDERS}.sql`, `${SQL_HEAD}${incidentOrdersView(RULES)}`],
    [`views/${INCIDENT_POPULATION}.sql`, `${SQL_HEAD}${incidentPopulationView(RULES)}`],
    [`dashboards/${INCIDENT_DASHBOARD.uid}.json`, `${JSON.stringify(incidentDashboard(), null, 2)}\n`],
    [`dashboards/${RUNBOOK_DASHBOARD.uid}.json`, `${JSON.stringify(runbookDashboard(RULES), null, 2)}\n`],
  ]);
}

const SQL_HEAD =
  '-- Generated from the alert rules by "npm run generate"; a collector applies it when it starts.\n';

const within = (folder: string, files: GeneratedFiles): [string, string][] =>
  [...files].map(([path, text]) => [`${folder}/${path}`, text]);

if (import.meta.main) {
  const shop = shopSettings(process.env);
  if ('problems' in shop) {
    console.error(shop.problems.join('\n'));
    process.exitCode = 2;
  } else {
    const out = fileURLToPath(new URL('../out', import.meta.url));
    process.exitCode = runGenerator(out, generateAlerts(shop.settings), process.argv.slice(2));
  }
}
