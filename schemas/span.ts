import type { EpochMicros } from './rows.ts';

/** Attribute names of payment spans: gatewatch's semantic convention (docs/reference/spans.md). */
export const SPAN_ATTRIBUTES = {
  gateway: 'payment.gateway',
  orderType: 'payment.order_type',
  externalId: 'payment.external_id',
  externalTransactionId: 'payment.external_transaction_id',
  channel: 'payment.channel',
  action: 'payment.action',
  codeFormat: 'payment.code_format',
  stage: 'payment.stage',
  result: 'payment.result',
  state: 'payment.state',
  reasonCode: 'payment.reason_code',
  reasonGroup: 'payment.reason_group',
  reasonDetail: 'payment.reason_detail',
  catalogued: 'payment.catalogued',
  occurrence: 'payment.occurrence',
  /** Root span only. */
  status: 'payment.status',
  /** Root span only: by the deciding item, see `measures.ts`. */
  outcome: 'payment.outcome',
  /** Root span only: number of history items. */
  historyItems: 'payment.history_items',
  /** Root span only: `settled` or `abandoned`. */
  closure: 'payment.closure',
  /** Where not all traces are exported: one that is stands for 1 / rate orders. */
  samplingRate: 'payment.sampling.rate',
  /** The reason detail, on failures only. */
  errorType: 'error.type',
} as const;

/** One span as data: what leaves the collector, before any library sees it. */
export interface SpanData {
  /** 32 hex digits. */
  readonly traceId: string;
  /** 16 hex digits. */
  readonly spanId: string;
  readonly parentSpanId: string | null;
  readonly name: string;
  readonly start: EpochMicros;
  readonly end: EpochMicros;
  /** W3C's `tracestate`. @default none */
  readonly traceState?: string;
  readonly error: { readonly message: string } | null;
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
}
