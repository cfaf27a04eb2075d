import { createHash } from 'node:crypto';
import { signatureBase, type FullCallback } from '../schemas/gateway/callback.ts';
import type { ExternalParams, FullStatusReply, HistoryItem } from '../schemas/gateway/status-reply.ts';
import type { Secret } from '../schemas/secret.ts';
import type { Order } from './orders.ts';

/**
 * The status reply of an order as it is at `nowMs` (sections 2.3 and 4.3-4.5): nothing of its future shows.
 */
export function statusReply(order: Order, nowMs: number): FullStatusReply {
  return {
    externalId: order.externalId,
    externalTransactionId: order.externalTransactionId,
    orderStatus: statusAt(order, nowMs),
    amount: amountAt(order, nowMs) / 100,
    currency: order.currency,
    orderType: order.orderType,
    externalParams: externalParams(order, nowMs),
    orderHistory: historyAt(order, nowMs),
  };
}

/** A callback's body (section 6.2). Its amount is text, unlike in a status reply. */
export function callbackBody(order: Order, nowMs: number, status: string): FullCallback {
  return {
    externalId: order.externalId,
    status,
    amount: (amountAt(order, nowMs) / 100).toFixed(2),
    currency: order.currency,
    orderType: order.orderType,
    externalParams: externalParams(order, nowMs),
  };
}

/** Hexadecimal SHA-256 over the four signed fields and the private key (section 6.3). */
export function sign(callback: FullCallback, key: Secret): string {
  return createHash('sha256').update(signatureBase(callback, key.reveal())).digest('hex');
}

export function historyAt(order: Order, nowMs: number): HistoryItem[] {
  return order.items
    .filter((item) => item.visibleAtMs <= nowMs)
    .map((item) => ({ time: item.rawTime ?? timeText(item.timeUs, order.timeDigits), action: item.action }));
}

export function statusAt(order: Order, nowMs: number): string {
  return order.statuses.findLast(({ atMs }) => atMs <= nowMs)?.status ?? 'Processing';
}

export function amountAt(order: Order, nowMs: number): number {
  return (order.amounts.findLast(({ atMs }) => atMs <= nowMs) ?? order.amounts[0])?.minor ?? 0;
}

/** ISO 8601 UTC, with three or six digits after the second. */
export function timeText(timeUs: number, digits: 3 | 6): string {
  const ms = Math.floor(timeUs / 1000);
  const text = new Date(ms).toISOString();
  return digits === 3 ? text : `${text.slice(0, -1)}${String(timeUs - ms * 1000).padStart(3, '0')}Z`;
}

/**
 * Card data shows up once it is given, by the request or by the payer; the tokens come with the success
 * (section 1).
 */
function externalParams(order: Order, nowMs: number): ExternalParams {
  const { card } = order;
  const submitted =
    order.channel === 'card' ||
    order.channel === 'token' ||
    order.items.some((item) => SHOWS_CARD.test(item.action) && item.visibleAtMs <= nowMs);
  const paid = statusAt(order, nowMs) === 'Success';
  if (!card || !(submitted || paid))
    return { cardToken: null, cardStorageToken: null, cardHolder: '', cardNumber: '' };
  return {
    cardToken: paid ? card.bankToken : null,
    cardStorageToken: paid ? card.storageToken : null,
    cardHolder: card.holder,
    cardNumber: card.mask,
  };
}

const SHOWS_CARD = /^(3\.1\.|[45]\.)/;
