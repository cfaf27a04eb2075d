import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { houseDashboard } from '../house/dashboard.ts';
import { GATEWAY, ORDER_ID, ORDER_TYPE } from '../house/variables.ts';
import { DASHBOARDS } from '../uids.ts';
import * as panels from './panels.ts';

/** What happened to this order? */
export function orderDashboard(): Dashboard {
  return houseDashboard({
    ...DASHBOARDS.order,
    description:
      'What happened to this order? Enter its id in the service (externalId) or your own (externalTransactionId), or come here from a ' +
      'table. Head, states, every item with its meaning, the trace, callbacks with our verdict, and ' +
      'our reads.',
    variables: [ORDER_ID, GATEWAY, ORDER_TYPE],
    rows: [
      {
        key: 'row-order',
        title: 'The order',
        panels: [panels.head, panels.states, panels.timeline],
      },
      {
        key: 'row-order-sides',
        title: 'Callbacks and reads',
        panels: [panels.callbacks, panels.polls],
      },
      { key: 'row-order-trace', title: 'Trace', panels: [panels.trace] },
    ],
  });
}
