import { fileURLToPath } from 'node:url';
import { panelId } from '../../dashboards/house/ids.ts';

export const RUNBOOKS_DIR = fileURLToPath(new URL('../runbooks', import.meta.url));

/** All runbooks, as a dashboard: whoever can open the links of a page can open these. */
export const RUNBOOK_DASHBOARD = { uid: 'gatewatch-runbooks', title: 'Runbooks' } as const;

/** Key of the panel that holds a rule's runbook. */
export const runbookPanel = (ruleName: string): string => `runbook-${ruleName}`;

/**
 * Where people read the runbooks.
 *
 * @param baseUrl URL of the folder where your team keeps them, e.g. in your repository. @default the
 * dashboard of runbooks
 */
export function runbookLinks(baseUrl = ''): (ruleName: string) => string {
  if (baseUrl !== '') return (ruleName) => `${baseUrl.replace(/\/+$/, '')}/${ruleName}.md`;
  return (ruleName) => `/d/${RUNBOOK_DASHBOARD.uid}?viewPanel=panel-${panelId(runbookPanel(ruleName))}`;
}
