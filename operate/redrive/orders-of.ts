import { randomUUID } from 'node:crypto';
import { ID_KINDS, watchKey, type WatchMessage, type WatchRef } from '../../schemas/watch.ts';
import type { OrdersContext } from '../../collector/orders/context.ts';
import type { WatchMemory } from '../../collector/orders/watch-memory.ts';
import type { WatchRequest } from '../../schemas/watch-message.ts';
import { handleWatchRequests } from '../../collector/orders/watch-requests.ts';
import type { OpenReject } from './open-rejects.ts';

/**
 * Names the orders that these rejects of replies are about. A reject has an id and not its kind: the watch
 * memory knows.
 */
export async function ordersOf(rejects: readonly OpenReject[], memory: WatchMemory): Promise<WatchRef[]> {
  const named = new Map<string, WatchRef[]>();
  for (const { gateway, order_type: orderType, order_id: orderId } of rejects) {
    if (orderType === null || orderId === null) continue;
    const refs = ID_KINDS.map((idKind) => ({ gateway, orderType, idKind, orderId }));
    named.set(`${gateway}|${orderType}|${orderId}`, refs);
  }
  const known = await memory.find([...named.values()].flat());
  return [...named.values()].flatMap((refs) => {
    const watched = refs.filter((ref) => known.has(watchKey(ref)));
    return watched.length > 0 ? watched : refs.slice(0, 1);
  });
}

/** The message that asks for an order. */
export function messageOf({ gateway, orderType, idKind, orderId }: WatchRef): WatchMessage {
  return {
    gateway,
    orderType,
    ...(idKind === 'external-id' ? { externalId: orderId } : { externalTransactionId: orderId }),
  };
}

/** Without a collector that polls: the orders are due when one starts. */
export async function leaveForNextRun(orders: readonly WatchRef[], context: OrdersContext): Promise<void> {
  const requests = orders.map((order): WatchRequest => ({
    message: messageOf(order),
    problem: null,
    source: 'redrive',
    deliveryId: randomUUID(),
    coordinates: null,
  }));
  await handleWatchRequests(requests, context, { watchRequests: requests.length });
}
