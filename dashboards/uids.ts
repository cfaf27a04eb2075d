/**
 * Uids and titles of the dashboards. Links and rules name a dashboard only through this list, so none can
 * dangle.
 */
export const DASHBOARDS = {
  overview: { uid: 'gatewatch-overview', title: 'Gateway health' },
  failures: { uid: 'gatewatch-failures', title: 'Failures' },
  gateways: { uid: 'gatewatch-gateways', title: 'Gateways' },
  payform: { uid: 'gatewatch-payform', title: 'Payment form' },
  order: { uid: 'gatewatch-order', title: 'Order' },
  pipeline: { uid: 'gatewatch-pipeline', title: 'Pipeline' },
} as const;
export type DashboardName = keyof typeof DASHBOARDS;
