import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { houseDashboard } from '../house/dashboard.ts';
import { CHANNEL, GATEWAY, ORDER_TYPE } from '../house/variables.ts';
import { DASHBOARDS } from '../uids.ts';
import * as panels from './panels.ts';

/** Do payers get through the payment form? */
export function payformDashboard(): Dashboard {
  return houseDashboard({
    ...DASHBOARDS.payform,
    description:
      'Do payers get through the payment form? How many submit, where the others stop, and what ' +
      'happens at the confirmation; then the orders themselves.',
    variables: [GATEWAY, ORDER_TYPE, CHANNEL],
    rows: [
      {
        key: 'row-form',
        title: 'The form',
        panels: [panels.submitted, panels.cancelled, panels.confirmFailures, panels.funnel, panels.exits],
      },
      {
        key: 'row-form-time',
        title: 'Over time',
        panels: [panels.submittedOverTime, panels.timeOnForm],
      },
      { key: 'row-form-orders', title: 'Orders', panels: [panels.exitedOrders] },
    ],
  });
}
