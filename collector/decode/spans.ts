import type { OrderType } from '../../schemas/dictionary.ts';
import type { HistoryEventRow, SettlementRow } from '../../schemas/rows.ts';
import { SPAN_ATTRIBUTES as A, type SpanData } from '../../schemas/span.ts';
import { decode } from './code.ts';
import { itemSpanId, rootSpanId, traceId, type OrderIdentity } from './ids.ts';

type Attributes = Record<string, string | number | boolean>;

/** The span of one history item: from the item before it, as first seen, to the item (decision 6). */
export function itemSpan(row: HistoryEventRow): SpanData {
  const order = identityOf(row);
  const code = decode(row.action);
  const failed = code.result === 'FAILURE';
  const attributes: Attributes = {
    ...orderAttributes(row),
    [A.action]: row.action,
    [A.codeFormat]: code.format,
    [A.catalogued]: code.catalogued,
    [A.occurrence]: row.occurrence,
  };
  if (code.stage !== null) attributes[A.stage] = code.stage;
  if (code.result !== null) attributes[A.result] = code.result;
  if (code.state !== null) attributes[A.state] = code.state;
  if (code.reasonCode !== null) attributes[A.reasonCode] = code.reasonCode;
  if (code.reasonGroup !== null) attributes[A.reasonGroup] = code.reasonGroup;
  if (code.reasonDetail !== null) attributes[A.reasonDetail] = code.reasonDetail;
  if (failed && code.reasonDetail !== null) attributes[A.errorType] = code.reasonDetail;
  return {
    traceId: traceId(order),
    spanId: itemSpanId(order, { eventTime: row.event_time, action: row.action, occurrence: row.occurrence }),
    parentSpanId: rootSpanId(order),
    name: code.stage === null ? `payment ${code.format} code` : `payment ${code.stage} ${code.result}`,
    start: row.span_start,
    end: row.event_time,
    error: failed ? { message: code.description ?? row.action } : null,
    attributes,
  };
}

/** The root span of an order: from its first item to its last, sent when the order settles or is given up. */
export function rootSpan(row: SettlementRow): SpanData {
  const order = identityOf(row);
  const attributes: Attributes = {
    ...orderAttributes(row),
    [A.historyItems]: row.history_items,
    [A.closure]: row.kind,
  };
  if (row.status !== null) attributes[A.status] = row.status;
  if (row.outcome !== null) attributes[A.outcome] = row.outcome;
  if (row.reason_group !== null) attributes[A.reasonGroup] = row.reason_group;
  if (row.reason_detail !== null) attributes[A.reasonDetail] = row.reason_detail;
  return {
    traceId: traceId(order),
    spanId: rootSpanId(order),
    parentSpanId: null,
    name: `payment ${row.order_type}`,
    start: row.first_event_at,
    end: row.last_event_at,
    error: null,
    attributes,
  };
}

interface OrderColumns {
  readonly gateway: string;
  readonly order_type: string;
  readonly external_id: string;
  readonly external_transaction_id: string;
  readonly channel: string;
}

function identityOf(row: OrderColumns): OrderIdentity {
  return { gateway: row.gateway, orderType: row.order_type as OrderType, externalId: row.external_id };
}

function orderAttributes(row: OrderColumns): Attributes {
  const attributes: Attributes = {
    [A.gateway]: row.gateway,
    [A.orderType]: row.order_type,
    [A.externalId]: row.external_id,
  };
  if (row.external_transaction_id !== '') attributes[A.externalTransactionId] = row.external_transaction_id;
  if (row.channel !== '') attributes[A.channel] = row.channel;
  return attributes;
}
