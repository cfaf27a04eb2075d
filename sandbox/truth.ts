import type { OrderType, Outcome } from '../schemas/dictionary.ts';
import type { FindingKind } from '../schemas/findings.ts';
import type { FaultName } from './faults.ts';
import { finalOutcome, type Order } from './orders.ts';
import { shownItems, statusAt, timeText } from './reply.ts';

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
  /** What was made to contradict, once it was done; null: nothing was. */
  readonly contradiction: {
    readonly kind: FindingKind;
    readonly faults: readonly FaultName[];
    readonly doneAtMs: number;
  } | null;
  /** The final history as replies show it, in time order; lost items of a rewritten one included. */
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
    contradiction: doneTo(order),
    items: shownItems(order).map((item) => ({
      time: item.rawTime ?? timeText(item.timeUs, order.timeDigits),
      action: item.action,
      visibleAtMs: item.visibleAtMs,
    })),
  };
}

/** A contradiction counts when it was carried out, e.g. when the callback in question was due. */
function doneTo({ contradiction, deeds }: Order): OrderTruth['contradiction'] {
  const done = deeds.find(({ fault }) => fault === contradiction?.faults[0]);
  if (contradiction === null || done === undefined) return null;
  return { kind: contradiction.kind, faults: contradiction.faults, doneAtMs: done.atMs };
}
