import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { fileURLToPath } from 'node:url';
import { watermarksView } from '../schemas/measures.ts';
import { VIEWS } from '../schemas/names.ts';
import { type GeneratedFiles, runGenerator } from './house/write-out.ts';
import { failuresDashboard } from './failures/dashboard.ts';
import { gatewaysDashboard } from './gateways/dashboard.ts';
import { orderDashboard } from './order/dashboard.ts';
import { overviewDashboard } from './overview/dashboard.ts';
import { payformDashboard } from './payform/dashboard.ts';
import { pipelineDashboard } from './pipeline/dashboard.ts';
import { dashboardProvider, datasource } from './provisioning.ts';

/** Every dashboard, built. */
const buildDashboards = (): Dashboard[] => [
  overviewDashboard(),
  failuresDashboard(),
  gatewaysDashboard(),
  payformDashboard(),
  orderDashboard(),
  pipelineDashboard(),
];

/** Everything under dashboards/out, by path. */
export function generateDashboards(): GeneratedFiles {
  const boards = buildDashboards().map((board): [string, string] => [
    `grafana/dashboards/gatewatch/${board.uid}.json`,
    json(board),
  ]);
  return new Map([
    ...boards,
    [`views/${VIEWS.gatewayWatermarks}.sql`, `${SQL_HEAD}${watermarksView()}`],
    ['grafana/provisioning/dashboards/gatewatch.yaml', dashboardProvider()],
    ['grafana/provisioning/datasources/gatewatch.yaml', datasource()],
  ]);
}

const SQL_HEAD =
  '-- Generated from the measures by "npm run generate"; a collector applies it when it starts.\n';

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

if (import.meta.main)
  process.exitCode = runGenerator(
    fileURLToPath(new URL('out', import.meta.url)),
    generateDashboards(),
    process.argv.slice(2),
  );
