import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const OVERVIEW = fileURLToPath(
  new URL('../../../dashboards/out/grafana/dashboards/gatewatch/gatewatch-overview.json', import.meta.url),
);

export interface OverviewPanel {
  readonly id: number;
  readonly title: string;
  /** The SQL that Grafana sends, with its macros and variables. */
  readonly sql: string;
}

/** A panel of the dashboard Gateway health as it is generated. @throws Error when there is none */
export function overviewPanel(title: string): OverviewPanel {
  const { panels } = JSON.parse(readFileSync(OVERVIEW, 'utf8')) as {
    panels: { id: number; title: string; targets?: { rawSql: string }[] }[];
  };
  const found = panels.find((panel) => panel.title === title);
  if (found === undefined) throw new Error(`no panel has the title ${title}`);
  return { id: found.id, title, sql: found.targets?.[0]?.rawSql ?? '' };
}
