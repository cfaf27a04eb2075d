import type { OrderType } from '../schemas/dictionary.ts';
import { CALLBACK_TYPES } from '../schemas/gateway/callback.ts';
import type { OrderDesk } from './open-order.ts';
import { insertItem, type Order, type OrderItem, type OrderStore } from './orders.ts';
import { createRandom } from './random.ts';

/** A history item by hand. Times are not touched by `speed`. */
export interface SeededItem {
  /** Sent as it is, any text. */
  readonly action: string;
  /** Sent as it is, any text. Wins over `offsetMs`. */
  readonly time?: string;
  /**
   * Milliseconds after (or, negative, before) the order's creation, or for an appended item after now.
   * @default 0
   */
  readonly offsetMs?: number;
  /** When replies begin to show it, counted from now. @default at its own time */
  readonly visibleAfterMs?: number;
}

/**
 * An order by hand, for tests: its history and status are what is given here, and nothing happens by itself.
 */
export interface SeededOrder {
  /** @default made up */
  readonly externalId?: string;
  /** @default made up */
  readonly externalTransactionId?: string;
  /** @default 'Deposit' */
  readonly orderType?: OrderType;
  /** @default 'seeded' */
  readonly channel?: string;
  /** @default 100 */
  readonly amount?: number;
  /** @default 'EUR' */
  readonly currency?: string;
  /** @default 'Processing' */
  readonly status?: string;
  readonly callbackUrl?: string;
  /** @default none */
  readonly items?: readonly SeededItem[];
}

export interface SeededOrders {
  create(seeded: SeededOrder): Order | 'exists';
  append(order: Order, item: SeededItem): void;
  setStatus(order: Order, change: { status?: string; amount?: number }): void;
}

export function createSeededOrders(parts: {
  seed: string;
  now: () => number;
  desk: OrderDesk;
  orders: OrderStore;
}): SeededOrders {
  const { desk, orders, now } = parts;
  return {
    create(seeded) {
      const random = createRandom(parts.seed, 'seeded', desk.nextSequence);
      const orderType = seeded.orderType ?? 'Deposit';
      const externalId = seeded.externalId ?? random.uuid();
      const externalTransactionId = seeded.externalTransactionId ?? `seeded-${random.hex(12)}`;
      if (orders.byExternalId(orderType, externalId)) return 'exists';
      if (orders.byTransactionId(orderType, externalTransactionId)) return 'exists';
      const nowMs = Math.floor(now());
      const order = desk.adopt({
        externalId,
        externalTransactionId,
        orderType,
        channel: seeded.channel ?? 'seeded',
        currency: seeded.currency ?? 'EUR',
        createdAtMs: nowMs,
        scenario: 'seeded',
        timeDigits: 3,
        callbackUrl: seeded.callbackUrl ?? null,
        callbackTypes: CALLBACK_TYPES,
        card: null,
        contradiction: null,
        deeds: [],
        itemsShown: 0,
        items: [],
        statuses: [{ atMs: nowMs, status: seeded.status ?? 'Processing' }],
        amounts: [{ atMs: nowMs, minor: Math.round((seeded.amount ?? 100) * 100) }],
        settledAtMs: nowMs,
      });
      for (const item of seeded.items ?? []) insertItem(order, dated(item, nowMs, order));
      return order;
    },
    append: (order, item) => insertItem(order, dated(item, now(), order)),
    setStatus(order, { status, amount }) {
      if (status !== undefined) order.statuses.push({ atMs: now(), status });
      if (amount !== undefined) order.amounts.push({ atMs: now(), minor: Math.round(amount * 100) });
    },
  };
}

function dated(item: SeededItem, nowMs: number, order: Order): OrderItem {
  const written = item.time === undefined ? nowMs + (item.offsetMs ?? 0) : parseTime(item.time);
  // A time that cannot be read keeps the place in which it was given.
  const timeUs = Number.isNaN(written)
    ? (order.items.at(-1)?.timeUs ?? nowMs * 1000)
    : Math.floor(written * 1000);
  const visibleAtMs = item.visibleAfterMs === undefined ? timeUs / 1000 : nowMs + item.visibleAfterMs;
  return { action: item.action, timeUs, visibleAtMs, rawTime: item.time ?? null };
}

/** Times without a zone count as UTC. */
function parseTime(text: string): number {
  return Date.parse(/(Z|[+-]\d\d:?\d\d)$/i.test(text) ? text : `${text}Z`);
}
