/**
 * Spans of the collector about its own work, each named once; the payments' spans are in `span.ts`.
 * Attributes are these alone: no id of an order, no address, no text of a stranger.
 */
export const OWN_SPANS = {
  statusRead: 'read order status',
  kafkaBatch: 'handle Kafka batch',
  intake: 'take callback',
  insert: 'insert rows',
  job: 'run job',
} as const;
export type OwnSpan = keyof typeof OWN_SPANS;

export const OWN_ATTRIBUTES = {
  gateway: 'gatewatch.gateway',
  endpoint: 'gatewatch.endpoint',
  outcome: 'gatewatch.outcome',
  records: 'gatewatch.records',
  rows: 'gatewatch.rows',
  job: 'gatewatch.job',
  table: 'db.collection.name',
  httpStatus: 'http.response.status_code',
  bytes: 'http.response.body.size',
  errorType: 'error.type',
  topic: 'messaging.destination.name',
} as const;
