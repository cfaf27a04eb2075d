import { createHash } from 'node:crypto';
import type { CallbackDelivery } from '../../collector/decode/callback.ts';
import type { CallbackType } from '../../schemas/gateway/callback.ts';
import type { HttpReply } from '../../schemas/polling.ts';
import { BENT_CALLBACKS, OUTAGE, type StoryOrder } from './story.ts';

/** What the gateway of the story says of an order at an instant: status replies and callbacks. */

export const CALLBACK_KEY = '0123456789abcdef0123456789abcdef';

/** The reply to a status request at `atMs` (sections 2.3 and 4.3-4.5). */
export function replyAt(order: StoryOrder | undefined, gateway: string, atMs: number): HttpReply {
  if (gateway === OUTAGE.gateway && atMs >= OUTAGE.from && atMs < OUTAGE.to)
    return { ...NO_BODY, httpStatus: 503, outcome: 'unknown', errorType: 'http_503' };
  if (order === undefined || atMs < order.createdAt)
    return { ...NO_BODY, httpStatus: 404, outcome: 'not_found', errorType: 'http_404' };
  const body = JSON.stringify({
    externalId: order.externalId,
    externalTransactionId: order.externalTransactionId,
    orderStatus: statusAt(order, atMs),
    amount: amountAt(order, atMs) / 100,
    currency: order.currency,
    orderType: order.orderType,
    orderHistory: order.life.items
      .filter(({ visibleAtUs }) => order.createdAt + visibleAtUs / 1000 <= atMs)
      .map(({ action, atUs }) => ({ time: timeText(order.createdAt, atUs), action })),
  });
  return { ...NO_BODY, httpStatus: 200, outcome: 'ok', errorType: '', body, bodyBytes: body.length };
}

const NO_BODY = { body: null, bodyBytes: 0, retryAfterMs: null } as const;

const statusAt = ({ life, createdAt }: StoryOrder, atMs: number): string =>
  life.final !== null && createdAt + life.final.atUs / 1000 <= atMs ? life.final.status : 'Processing';

function amountAt({ life, createdAt, amountMinor }: StoryOrder, atMs: number): number {
  const change = life.amountChange;
  const isChanged = change !== null && createdAt + change.atUs / 1000 <= atMs;
  return isChanged ? Math.round(amountMinor * change.factor) : amountMinor;
}

/** Times with microseconds, as some gateways send them. */
function timeText(createdAt: number, atUs: number): string {
  const ms = createdAt + Math.floor(atUs / 1000);
  return `${new Date(ms).toISOString().slice(0, -1)}${String(atUs % 1000).padStart(3, '0')}Z`;
}

export interface SentCallback {
  readonly atMs: number;
  readonly delivery: CallbackDelivery;
}

/** All callbacks of an order, as they arrive. */
export const callbacksOf = (order: StoryOrder): SentCallback[] =>
  order.life.callbacks.flatMap(({ type, atUs }) =>
    sent(order, type, order.createdAt + Math.ceil(atUs / 1000)),
  );

function sent(order: StoryOrder, type: CallbackType, atMs: number): SentCallback[] {
  const bent = BENT_CALLBACKS.find(
    ({ gateway, from, minutes }) =>
      gateway === order.gateway && atMs >= from && atMs < from + minutes * 60_000,
  )?.how;
  if (bent === 'missing') return [];
  const amount = amountAt(order, atMs) + (bent === 'other_amount' ? 100 : 0);
  const fields = {
    externalId: order.externalId,
    status: STATUS_OF[type] ?? statusAt(order, atMs),
    amount: (amount / 100).toFixed(2),
    currency: order.currency,
    orderType: order.orderType,
  };
  const key = bent === 'wrong_signature' ? 'the-key-of-somebody-else' : CALLBACK_KEY;
  const delivery = (copy: number): CallbackDelivery => ({
    gateway: order.gateway,
    body: Buffer.from(JSON.stringify(fields)),
    signatures: bent === 'unsigned' ? [] : [signature(fields, key)],
    deliveryId: `${order.externalId}-${type}-${copy}`,
    receivedAt: (atMs + copy) * 1000,
    source: 'http',
    coordinates: null,
  });
  const first = { atMs, delivery: delivery(0) };
  return bent === 'sent_twice' ? [first, { atMs: atMs + 30_000, delivery: delivery(30_000) }] : [first];
}

const STATUS_OF: Readonly<Record<CallbackType, string | null>> = {
  Create: 'Created',
  Progress: 'Processing',
  Success: 'Success',
  Failed: 'Failed',
  AmountChanged: null,
};

/** Section 6.3. */
function signature(
  { externalId, status, amount, orderType }: Readonly<Record<string, string>>,
  key: string,
): string {
  return createHash('sha256').update([externalId, status, amount, orderType, key].join(';')).digest('hex');
}
