import { hash } from 'node:crypto';
import type { OrderType } from '../../schemas/dictionary.ts';
import type { EpochMicros } from '../../schemas/rows.ts';
import type { SpanRef } from '../../schemas/span.ts';
import type { WatchedOrder } from '../../schemas/watch.ts';
import { formatTime } from './time.ts';

/** What makes an order unique. */
export interface OrderIdentity {
  readonly gateway: string;
  readonly orderType: OrderType;
  readonly externalId: string;
}

/**
 * By way of hexadecimal digits: asked for bytes, `hash` makes a buffer outside the heap, which costs as much
 * as hashing.
 */
export function sha256Bytes(content: string | Uint8Array): Uint8Array {
  return Buffer.from(hash('sha256', content, 'hex'), 'hex');
}

const sha256 = (text: string): string => hash('sha256', text, 'hex');

/** `gateway|Deposit or Withdrawal|externalId`: the text that all ids of an order are made of. */
export function orderText(order: OrderIdentity): string {
  return `${order.gateway}|${order.orderType}|${order.externalId}`;
}

/** The order's trace id: 32 hex digits. One order is one trace. */
export function traceId(order: OrderIdentity): string {
  return sha256(orderText(order)).slice(0, 32);
}

/** The id of the order's root span: 16 hex digits. */
export function rootSpanId(order: OrderIdentity): string {
  return sha256(`${orderText(order)}|root`).slice(0, 16);
}

/** The order's root span, as the target of a link. */
export function rootSpanRef(order: OrderIdentity): SpanRef {
  return { traceId: traceId(order), spanId: rootSpanId(order) };
}

/** The root span of an order that is watched; null while its own id is not known. */
export function orderSpanOf(
  watched: Pick<WatchedOrder, 'gateway' | 'orderType' | 'idKind' | 'orderId' | 'externalId'>,
): SpanRef | null {
  const externalId = watched.idKind === 'external-id' ? watched.orderId : watched.externalId;
  if (externalId === '') return null;
  return rootSpanRef({ gateway: watched.gateway, orderType: watched.orderType, externalId });
}

/** The id of one history item's span: 16 hex digits. */
export function itemSpanId(
  order: OrderIdentity,
  item: { eventTime: EpochMicros; action: string; occurrence: number },
): string {
  return sha256(`${orderText(order)}|${formatTime(item.eventTime)}|${item.action}|${item.occurrence}`).slice(
    0,
    16,
  );
}

/** A short stable id of some text, for rows that need an identity of their own. 32 hex digits. */
export function stableId(text: string): string {
  return sha256(text).slice(0, 32);
}
