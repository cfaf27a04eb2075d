import type { WatchedOrder } from '../../schemas/watch.ts';
import { watchClaims } from './claims.ts';
import type { OrdersContext } from './context.ts';
import { namedBy } from './hints.ts';
import type { OrderHint } from './order-hint.ts';
import type { IdentifiedReply } from './identify.ts';
import { pollRow } from './poll-row.ts';
import type { AppliedReply, PolledReply } from './poller-contract.ts';
import { toRow } from './watch-store.ts';

/**
 * True when this collector does not go on with the order of a reply: another one has read it to its end, or
 * owns it under the gateway's own id, which the reply to the merchant's id names first.
 */
export function goesOnElsewhere(
  { order: asked }: PolledReply,
  { order, isOver }: IdentifiedReply,
  { owns, handOver }: OrdersContext,
): boolean {
  return isOver || (order.idKind !== asked.idKind && handOver !== null && !owns(order));
}

/** Stores that the order was read, and nothing of the reply: the owner reads it, too, or has done so. */
export async function leaveOrder(
  reply: PolledReply,
  { order, isOver, loadedIn }: IdentifiedReply,
  context: OrdersContext,
): Promise<AppliedReply> {
  const { order: asked, outcome, readAt, startedAt } = reply;
  const left: WatchedOrder = isOver ? order : { ...asked, phase: 'merged', externalId: order.externalId };
  if (!isOver) await context.handOver?.([hintAbout(order)]);
  await context.write(
    {
      polls: [pollRow(reply, outcome, null, 'nothing')],
      orderClaims: isOver ? [] : watchClaims(order, asked, startedAt),
      orderWatch: isOver ? [] : [toRow(left, startedAt, context.collectorId)],
    },
    { replies: 1 },
  );
  return { order: left, known: null, loadedIn, readAt, outcome };
}

/** What the watch message said that named the order by the merchant's id. */
function hintAbout(order: WatchedOrder): OrderHint {
  const { gateway, orderType, idKind, orderId, channel, externalTransactionId } = order;
  const amount = order.amountSource === 'watch' ? order.amount : null;
  const currency = order.currencySource === 'watch' ? order.currency : null;
  const named = namedBy('watch', { amount, currency });
  return { gateway, orderType, idKind, orderId, cause: 'watch', channel, externalTransactionId, ...named };
}
