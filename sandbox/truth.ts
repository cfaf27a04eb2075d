import type { OrderType, Outcome } from '../schemas/dictionary.ts';
import { finalOutcome, type Order } from './orders.ts';
import { statusAt, timeText } from './reply.ts';

/**
 * What the sandbox knows of an order, its future included: what a test compares the collector's rows with.
 */
export interface OrderTruth {
  readonly sequence: number;
  readonly externalId: string;
  readonly externalTransactionId: string;
  readonly orderType: OrderType;
  readonly channel: string;
  readonly currency: string;
  readonly scenario: string;
  /** Milliseconds since 1970. */
  readonly createdAtMs: number;
  readonly outcome: Outcome | 'pending';
  /** Status and amount as they are now, and as they will be. */
  readonly status: string;
  readonly finalStatus: string;
  readonly finalAmount: number;
  /** When the last item is visible and the last callback due. */
  readonly settledAtMs: number;
  readonly settled: boolean;
  /** The final history, in time order. */
  readonly items: readonly { readonly time: string; readonly action: string; readonly visibleAtMs: number }[];
}

export function truthOf(order: Order, nowMs: number): OrderTruth {
  return {
    sequence: order.sequence,
    externalId: order.externalId,
    externalTransactionId: order.externalTransactionId,
    orderType: order.orderType,
    channel: order.channel,
    currency: order.currency,
    scenario: order.scenario,
    createdAtMs: order.createdAtMs,
    outcome: finalOutcome(order),
    status: statusAt(order, nowMs),
    finalStatus: statusAt(order, Infinity),
    finalAmount: (order.amounts.at(-1)?.minor ?? 0) / 100,
    settledAtMs: order.settledAtMs,
    settled: order.settledAtMs <= nowMs,
    items: order.items.map((item) => ({
      time: item.rawTime ?? timeText(item.timeUs, order.timeDigits),
      action: item.action,
      visibleAtMs: item.visibleAtMs,
    })),
  };
}
