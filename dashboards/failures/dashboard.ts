import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { houseDashboard } from '../house/dashboard.ts';
import { CHANNEL, GATEWAY, ORDER_TYPE, REASON_GROUP, REASON_VARIABLE, STAGE } from '../house/variables.ts';
import { DASHBOARDS } from '../uids.ts';
import * as panels from './panels.ts';

/** What fails, and where? */
export function failuresDashboard(): Dashboard {
  return houseDashboard({
    ...DASHBOARDS.failures,
    description:
      'What fails, and where? Stages against reasons, what changed since last week, codes that nobody ' +
      'knows, and the orders behind each number. Choose stage, group and reason above, or click a cell.',
    variables: [GATEWAY, ORDER_TYPE, CHANNEL, STAGE, REASON_GROUP, REASON_VARIABLE],
    rows: [
      {
        key: 'row-where',
        title: 'Where and why',
        panels: [panels.failingShare, panels.failuresByReason, panels.failuresByStageAndReason],
      },
      {
        key: 'row-affected',
        title: 'Affected orders',
        panels: [panels.failedOrders],
      },
      {
        key: 'row-new',
        title: 'What is new',
        panels: [panels.reasonsAgainstLastWeek, panels.unknownCodes],
      },
    ],
  });
}
