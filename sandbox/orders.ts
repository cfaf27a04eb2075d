import type { OrderType, Outcome } from '../schemas/dictionary.ts';
import type { CallbackType } from '../schemas/gateway/callback.ts';
import type { Contradiction } from './contradictions.ts';
import type { FaultName } from './faults.ts';
import { outcomeOf, type Life } from './life.ts';

/** A history item with its date. */
export interface OrderItem {
  readonly action: string;
  /** Microseconds since 1970: the item's place in the list. */
  readonly timeUs: number;
  readonly visibleAtMs: number;
  /** The text to send as it is, for items given by hand; null: written from `timeUs`. */
  readonly rawTime: string | null;
}

/** An order with its whole future. What is visible depends on the time of asking: see `reply.ts`. */
export interface Order {
  readonly sequence: number;
  readonly externalId: string;
  readonly externalTransactionId: string;
  readonly orderType: OrderType;
  readonly channel: string;
  readonly currency: string;
  readonly createdAtMs: number;
  readonly scenario: string;
  readonly timeDigits: 3 | 6;
  readonly callbackUrl: string | null;
  readonly callbackTypes: readonly CallbackType[];
  readonly card: OrderCard | null;
  /** The faults that last for this order; null: its sources agree. */
  readonly contradiction: Contradiction | null;
  /** What those faults have done by now. */
  readonly deeds: Deed[];
  /** History items in the fullest reply that went out undisturbed. */
  itemsShown: number;
  /** In time order; grows only through the admin API. */
  items: OrderItem[];
  /** Each counts from its time on; the first ones from the creation. */
  statuses: { readonly atMs: number; readonly status: string }[];
  amounts: { readonly atMs: number; readonly minor: number }[];
  /** When the last item is visible and the last callback due. */
  settledAtMs: number;
}

/** A fault of the order's contradiction that struck. */
export interface Deed {
  readonly fault: FaultName;
  readonly on: CallbackType | 'reply' | 'history' | 'watch';
  readonly atMs: number;
}

export interface OrderCard {
  readonly holder: string;
  readonly mask: string;
  readonly bankToken: string | null;
  /** Issued with the first success (section 1). */
  readonly storageToken: string | null;
}

/** The orders in memory, found by both ids. */
export interface OrderStore {
  add(order: Order): void;
  byExternalId(type: OrderType, id: string): Order | undefined;
  byTransactionId(type: OrderType, id: string): Order | undefined;
  values(): IterableIterator<Order>;
  readonly size: number;
  /**
   * Drops orders that settled `retentionMs` ago, those that never ended after four times that. Gives back
   * which.
   */
  drop(nowMs: number, retentionMs: number): Order[];
  /** Makes room for one more, by dropping the oldest settled one. False: full of unsettled orders. */
  makeRoom(nowMs: number): boolean;
}

export function createOrderStore(maxOrders: number): OrderStore {
  const orders = new Map<string, Order>();
  const transactions = new Map<string, Order>();
  const remove = (order: Order) => {
    orders.delete(`${order.orderType}|${order.externalId}`);
    transactions.delete(`${order.orderType}|${order.externalTransactionId}`);
  };
  return {
    add(order) {
      orders.set(`${order.orderType}|${order.externalId}`, order);
      transactions.set(`${order.orderType}|${order.externalTransactionId}`, order);
    },
    byExternalId: (type, id) => orders.get(`${type}|${id}`),
    byTransactionId: (type, id) => transactions.get(`${type}|${id}`),
    values: () => orders.values(),
    get size() {
      return orders.size;
    },
    drop(nowMs, retentionMs) {
      const old = [...orders.values()].filter(
        (order) => order.settledAtMs + retentionMs * (finalOutcome(order) === 'pending' ? 4 : 1) < nowMs,
      );
      for (const order of old) remove(order);
      return old;
    },
    makeRoom(nowMs) {
      if (orders.size < maxOrders) return true;
      for (const order of orders.values()) {
        if (order.settledAtMs > nowMs) continue;
        remove(order);
        return true;
      }
      return false;
    },
  };
}

/** Dates a life: items, status and amount changes, counted from `createdAtMs` and shortened by `speed`. */
export function dateLife(
  life: Life,
  at: { createdAtMs: number; speed: number; amountMinor: number },
): Pick<Order, 'items' | 'statuses' | 'amounts' | 'settledAtMs'> {
  const toMs = (us: number) => at.createdAtMs + us / 1000 / at.speed;
  const items = life.items.map(({ action, atUs, visibleAtUs }) => ({
    action,
    timeUs: at.createdAtMs * 1000 + Math.round(atUs / at.speed),
    visibleAtMs: toMs(visibleAtUs),
    rawTime: null,
  }));
  const statuses = [{ atMs: at.createdAtMs, status: 'Processing' }];
  if (life.final) statuses.push({ atMs: toMs(life.final.atUs), status: life.final.status });
  const amounts = [{ atMs: at.createdAtMs, minor: at.amountMinor }];
  if (life.amountChange) {
    const minor = Math.max(Math.round(at.amountMinor * life.amountChange.factor), 1);
    amounts.push({ atMs: toMs(life.amountChange.atUs), minor });
  }
  const last = Math.max(
    ...life.items.map((item) => item.visibleAtUs),
    ...life.callbacks.map((callback) => callback.atUs),
  );
  return { items, statuses, amounts, settledAtMs: toMs(last) };
}

/** Does this fault last for the order? */
export const lasts = (order: Order, fault: FaultName): boolean =>
  order.contradiction?.faults.includes(fault) === true;

/** Inserts by time, after items of the same instant. */
export function insertItem(order: Order, item: OrderItem): void {
  const at = order.items.findLastIndex((other) => other.timeUs <= item.timeUs) + 1;
  order.items.splice(at, 0, item);
  if (order.settledAtMs < item.visibleAtMs) order.settledAtMs = item.visibleAtMs;
}

/** How the order ends or ended, by all its items, the ones still to come included. */
export function finalOutcome(order: Order): Outcome | 'pending' {
  return outcomeOf(order.items.map((item) => item.action));
}
