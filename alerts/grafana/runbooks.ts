import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Dashboard, DashboardBuilder } from '@grafana/grafana-foundation-sdk/dashboard';
import * as text from '@grafana/grafana-foundation-sdk/text';
import { panelId } from '../../dashboards/house/ids.ts';
import { runbookPanel, RUNBOOKS } from '../explain/links.ts';
import type { Rule } from '../rules/rule.ts';

export const RUNBOOKS_DIR = fileURLToPath(new URL('../runbooks', import.meta.url));

/** All runbooks, as a dashboard: whoever can open the links of a page can open these. */
export const RUNBOOK_DASHBOARD = { ...RUNBOOKS, title: 'Runbooks' } as const;

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

/** One panel a runbook, one below the other: a link shows one of them alone. */
export function runbookDashboard(rules: readonly Rule[]): Dashboard {
  const builder = new DashboardBuilder(RUNBOOK_DASHBOARD.title)
    .uid(RUNBOOK_DASHBOARD.uid)
    .description('What to do when a rule fires. A page links to the panel of its rule.')
    .tags(['gatewatch'])
    .readonly()
    .timezone('utc');
  for (const { name } of rules)
    builder.withPanel(
      new text.PanelBuilder()
        .id(panelId(runbookPanel(name)))
        .title(name)
        .span(24)
        .height(20)
        .mode(text.TextMode.Markdown)
        .content(readFileSync(`${RUNBOOKS_DIR}/${name}.md`, 'utf8')),
    );
  return builder.build();
}
