import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { houseDashboard } from '../house/dashboard.ts';
import { CHANNEL, GATEWAY, ORDER_TYPE } from '../house/variables.ts';
import { DASHBOARDS } from '../uids.ts';
import * as orders from './panels-orders.ts';
import * as objectives from './panels-objectives.ts';
import * as rules from './panels-rules.ts';

/** Is the gateway healthy now? */
export function overviewDashboard(): Dashboard {
  return houseDashboard({
    ...DASHBOARDS.overview,
    description:
      'Is the gateway healthy now? Top row first: technical success and approval apart, how much of ' +
      'what we know is fresh, and what fires. Then volume, failures and times, what the alert rules saw, ' +
      'and what is left of the objectives. Every number leads on to the orders behind it.',
    variables: [GATEWAY, ORDER_TYPE, CHANNEL],
    rows: [
      {
        key: 'row-health',
        title: 'Health',
        panels: [
          orders.technicalSuccess,
          orders.approval,
          orders.coverage,
          orders.watermarkAge,
          orders.shares,
          orders.firingAlerts,
          rules.firing,
        ],
      },
      {
        key: 'row-orders',
        title: 'Orders',
        panels: [
          orders.outcomes,
          orders.failuresByGroup,
          orders.ordersPerMinute,
          orders.timeToFinal,
          orders.money,
        ],
      },
      {
        key: 'row-symptoms',
        title: 'What alert rules watch',
        panels: [
          rules.techTimeouts,
          rules.authzFailures,
          rules.signatureMismatches,
          rules.slowOrders,
          rules.rulesNow,
        ],
      },
      {
        key: 'row-objectives',
        title: 'Objectives',
        panels: [objectives.technicalObjective, objectives.callbackObjective],
      },
    ],
  });
}
