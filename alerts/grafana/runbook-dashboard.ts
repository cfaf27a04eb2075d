import { readFileSync } from 'node:fs';
import { type Dashboard, DashboardBuilder } from '@grafana/grafana-foundation-sdk/dashboard';
import * as text from '@grafana/grafana-foundation-sdk/text';
import { panelId } from '../../dashboards/house/ids.ts';
import type { Rule } from '../rules/rule.ts';
import { RUNBOOK_DASHBOARD, RUNBOOKS_DIR, runbookPanel } from './runbook-links.ts';

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
