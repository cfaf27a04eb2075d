import type { FullCallback } from '../schemas/gateway/callback.ts';
import type { ExternalParams, FullStatusReply, HistoryItem } from '../schemas/gateway/status-reply.ts';
import { lasts, type Order, type OrderItem } from './orders.ts';

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

/** All items that replies ever show, those of the future included. */
export function shownItems(order: Order): readonly OrderItem[] {
  if (lasts(order, 'http_404')) return [];
  if (!lasts(order, 'callback_unrecorded')) return order.items;
  return order.items.filter(({ action }) => !action.startsWith('6.'));
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

/** A currency that is not the order's. */
export const otherCurrency = ({ currency }: Order): string => (currency === 'USD' ? 'EUR' : 'USD');

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
