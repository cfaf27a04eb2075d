/** Names that cross a boundary, each written once. */

export const DATABASE = 'gatewatch';

/** Public views. Queries of dashboards, alerts and analysts use these only. */
export const VIEWS = {
  orders: 'orders',
  historyEvents: 'history_events',
  orderTimeline: 'order_timeline',
  orderMoney: 'order_money',
  orderTrace: 'order_trace',
  otelTraces: 'otel_traces',
  otelTraceTimes: 'otel_traces_trace_id_ts',
  callbackArrivals: 'callback_arrivals',
  callbackVerdicts: 'callback_verdicts',
  callbacks: 'callbacks',
  polls: 'polls',
  rejects: 'rejects',
  watchRequests: 'watch_requests',
  collectorStatus: 'collector_status',
  gatewayStatus: 'gateway_status',
  gatewayStatusHourly: 'gateway_status_hourly',
  gatewayWatermarks: 'gateway_watermarks',
  annotations: 'annotations',
  storeTables: 'store_tables',
  alertSettings: 'alert_settings',
  alertStates: 'alert_states',
  alertHistory: 'alert_history',
  alertEvaluations: 'alert_evaluations',
  alertSilences: 'alert_silences',
  findings: 'findings',
} as const;

/** Parameterized view: the orders behind a page. */
export const INCIDENT_ORDERS = 'incident_orders';
/** The same for all orders that the rule saw, with what they have in common. */
export const INCIDENT_POPULATION = 'incident_population';
/** Views that are called with a page's rule, gateway, window and instant. */
export const PAGE_VIEWS: readonly string[] = [INCIDENT_ORDERS, INCIDENT_POPULATION];

/** The newest report of each collector about each gateway within each hour. */
export const GATEWAY_STATUS_BY_HOUR = 'gateway_status_hourly_store';

/** Physical tables that the sink writes. */
export const TABLES = {
  historyEvents: 'history_events_store',
  orders: 'orders_store',
  orderClaims: 'order_claims_store',
  callbackDeliveries: 'callback_deliveries_store',
  polls: 'polls_store',
  rejects: 'rejects_store',
  rejectResolutions: 'reject_resolutions_store',
  watchRequests: 'watch_requests_store',
  settlements: 'settlements_store',
  orderWatch: 'order_watch',
  ingestLedger: 'ingest_ledger',
  jobs: 'jobs_store',
  collectorStatus: 'collector_status_store',
  gatewayStatus: 'gateway_status_store',
  annotations: 'annotations_store',
  alertSettings: 'alert_settings_store',
  alertStates: 'alert_states_store',
  alertEvaluations: 'alert_evaluations_store',
  alertSilences: 'alert_silences_store',
  fingerprintKeys: 'fingerprint_keys_store',
} as const;
export type TableKey = keyof typeof TABLES;

/** Jobs in the background, as the store, metrics, spans and the log name them. */
export const JOBS = {
  evaluation: 'evaluate rules',
  findings: 'compare sources',
  payments: 'count payments',
  spans: 'export spans',
  /** The lease of the collector that runs the others. */
  lease: 'run jobs',
} as const;
export type JobName = (typeof JOBS)[keyof typeof JOBS];

/**
 * Physical tables that the comparison of sources keeps for itself, by statements of its own: what it found,
 * and which code followed which.
 */
export const FINDING_TABLES = {
  findings: 'findings_store',
  moves: 'code_moves_store',
} as const;

/**
 * Physical tables that payment metrics keep for themselves, by statements of their own: what was counted,
 * and the sums of it.
 */
export const PAYMENT_COUNT_TABLES = {
  counts: 'payment_counts_store',
  totals: 'payment_totals_store',
} as const;

/** Default Kafka topics. */
export const TOPICS = { callbacks: 'gateway.callbacks', orders: 'gateway.orders' } as const;

/** Header names, lower case. Lookups ignore case. */
export const HEADERS = {
  signature: 'signature',
  gateway: 'gateway',
  deliveryId: 'delivery-id',
  bodySha256: 'body-sha256',
  bodySeal: 'body-seal',
  signatureCause: 'signature-cause',
  /** On the watch topic: not a watch message, but a hint of a collector to the order's owner. */
  ownerHint: 'gatewatch-hint',
} as const;

/** Data source uid and type that dashboards and rules refer to. */
export const GRAFANA = {
  datasourceType: 'grafana-clickhouse-datasource',
  datasourceUid: 'clickhouse-gatewatch',
  folderTitle: 'Payment gateway',
  folderUid: 'gatewatch',
} as const;

/** The alert rules that gatewatch ships. The names stand in pages, settings and runbooks: append only. */
export const ALERT_RULES = [
  'GatewatchTechTimeouts',
  'GatewatchProviderUnreachable',
  'GatewatchRequestsRepeated',
  'GatewatchGatewayUnreachable',
  'GatewatchAuthzFailures',
  'GatewatchAccessRefused',
  'GatewatchSignatureMismatches',
  'GatewatchCallbackKeyBroken',
  'GatewatchForgedCallbacks',
  'GatewatchPreviousKeyInUse',
  'GatewatchContractBroken',
  'GatewatchBalanceExhausted',
  'GatewatchBusinessRefusals',
  'GatewatchAmountChanged',
  'GatewatchAntifraudSpike',
  'GatewatchAntifraudSilent',
  'GatewatchPayformDropOff',
  'GatewatchIssuerDeclines',
  'GatewatchUnknownCodes',
  'GatewatchTechnicalBurnFast',
  'GatewatchTechnicalBurnSlow',
  'GatewatchApprovalDrop',
  'GatewatchTrafficDrop',
  'GatewatchStuckProcessing',
  'GatewatchMerchantCallbackMissing',
  'GatewatchSuccessAfterFailed',
  'GatewatchCollectorSilent',
  'GatewatchCircuitOpen',
  'GatewatchPictureBehind',
  'GatewatchConsumerLag',
  'GatewatchTransactionOpen',
  'GatewatchRejects',
  'GatewatchRereadCoverage',
  'GatewatchClockSkew',
  'GatewatchHistoryMisdated',
  'GatewatchEvaluationsLate',
  'GatewatchHeartbeat',
  'GatewatchOrdersNotFound',
  'GatewatchFindingsGateway',
  'GatewatchFindingsMerchant',
  'GatewatchFindingsStranger',
  'GatewatchSlow',
  'GatewatchPayersGiveUp',
  'GatewatchReadsSlow',
] as const;
export type AlertRuleName = (typeof ALERT_RULES)[number];
