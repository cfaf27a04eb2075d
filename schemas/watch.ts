import { z } from 'zod';
import type { OrderType } from './dictionary.ts';
import { ORDER_TYPES } from './dictionary.ts';
import {
  canonicalId,
  EXTERNAL_ID_GRAMMAR,
  isExternalId,
  isTransactionId,
  TRANSACTION_ID_GRAMMAR,
} from './order-id.ts';
import type { EpochMicros } from './rows.ts';

/** Which of the two ids an order is known by (interface document, sections 4.3-4.5). */
export const ID_KINDS = ['external-id', 'transaction-id'] as const;
export type IdKind = (typeof ID_KINDS)[number];

/**
 * `active`: not final yet. `rereading`: final, late items may come. `merged`: goes on under its service id.
 */
export const WATCH_PHASES = ['active', 'rereading', 'settled', 'abandoned', 'merged'] as const;
export type WatchPhase = (typeof WATCH_PHASES)[number];

/** Who names an order's amount or currency: of two, the later one of this list counts. */
export const FACT_SOURCES = ['callback', 'watch', 'status'] as const;
export type FactSource = (typeof FACT_SOURCES)[number];

/** The poller's memory of one order, as persisted in `order_watch`. Times are wall clock. */
export interface WatchedOrder {
  readonly gateway: string;
  readonly orderType: OrderType;
  readonly idKind: IdKind;
  /** The id the order is polled by. */
  readonly orderId: string;
  readonly phase: WatchPhase;
  readonly nextPollAt: EpochMicros;
  /** Polls made since the order was taken up or reopened. */
  readonly attempt: number;
  /** Re-reads made since the final status was first seen. */
  readonly reread: number;
  /** When gatewatch first heard of the order. Never changes: the order's row is stored by it. */
  readonly firstSeenAt: EpochMicros;
  /** When it was taken up, or again: its age counts from then. */
  readonly watchedSince: EpochMicros;
  /** When the final status was first seen, or null. */
  readonly finalAt: EpochMicros | null;
  readonly lastStatus: string | null;
  /** The service's id once known, else ''. */
  readonly externalId: string;
  readonly externalTransactionId: string;
  readonly channel: string;
  readonly amount: string | null;
  /** Who named the amount, also where it cannot be kept. */
  readonly amountSource: FactSource | null;
  readonly currency: string | null;
  readonly currencySource: FactSource | null;
  /** The order's root span row was written. */
  readonly rootSent: boolean;
}

/** Why an order is polled now. */
export type PollCause = 'schedule' | 'callback' | 'watch' | 'reread' | 'probe';

const id = z.string().min(1).max(200);

/**
 * A message of the watch topic, and the body of `POST /orders`: "poll this order". At least
 * one of the two ids; unknown fields are ignored.
 */
export const watchMessageSchema = z
  .object({
    gateway: z.string().max(64).optional(),
    orderType: z.enum(ORDER_TYPES),
    externalId: id.refine(isExternalId, EXTERNAL_ID_GRAMMAR).transform(canonicalId).optional(),
    externalTransactionId: id.refine(isTransactionId, TRANSACTION_ID_GRAMMAR).optional(),
    channel: z.string().max(64).optional(),
    amount: z
      .union([z.number(), z.string().max(64)])
      .transform(String)
      .pipe(z.string().regex(/^-?\d+(\.\d+)?$/, 'a decimal number such as 100.50'))
      .optional(),
    currency: z
      .string()
      .max(16)
      .transform((code) => code.toUpperCase())
      .optional(),
  })
  .refine((message) => message.externalId !== undefined || message.externalTransactionId !== undefined, {
    path: ['externalId'],
    message: 'an externalId or an externalTransactionId',
  });
export type WatchMessage = z.infer<typeof watchMessageSchema>;

/** Names one watched order. */
export type WatchRef = Pick<WatchedOrder, 'gateway' | 'orderType' | 'idKind' | 'orderId'>;

/** The key under which an order is watched: unique over gateways, types and both kinds of id. */
export function watchKey({ gateway, orderType, idKind, orderId }: WatchRef): string {
  return `${gateway}|${orderType}|${idKind}|${orderId}`;
}

/** The gateway of a watch key: no gateway's name has a bar in it. */
export function gatewayOfKey(key: string): string {
  return key.slice(0, key.indexOf('|'));
}

/**
 * The key of an order's messages on the watch topic. Which collector owns an order goes by the partition of
 * this key (decision 13): every producer of watch messages uses it.
 */
export function watchTopicKey({ gateway, orderType, orderId }: Omit<WatchRef, 'idKind'>): string {
  return `${gateway}|${orderType}|${orderId}`;
}

/** The same of a row of `order_watch`, as an expression of ClickHouse's SQL. */
export const WATCH_TOPIC_KEY_SQL = `concat(gateway, '|', toString(order_type), '|', order_id)`;
