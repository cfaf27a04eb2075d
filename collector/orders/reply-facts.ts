import type { ReadNews } from '../../schemas/rows.ts';
import type { WatchedOrder } from '../../schemas/watch.ts';
import type { ReplyContent } from '../decode/status-reply.ts';

/** The order with what a reply says of it besides its history; the same object when that is known. */
export function withReply(order: WatchedOrder, content: ReplyContent): WatchedOrder {
  const { orderStatus, amount, isAmountRefused, currency, externalTransactionId } = content;
  const names = amount !== null || isAmountRefused;
  const updated: WatchedOrder = {
    ...order,
    externalTransactionId,
    lastStatus: orderStatus,
    ...(names ? { amount, amountSource: 'status' } : {}),
    ...(currency === null ? {} : { currency, currencySource: 'status' }),
  };
  const isSame = (Object.keys(updated) as (keyof WatchedOrder)[]).every(
    (name) => updated[name] === order[name],
  );
  return isSame ? order : updated;
}

/**
 * What a reply says that was not known of the order.
 *
 * @param updated the order with what the reply says: `withReply`
 * @param content null: it said nothing
 */
export function newsOf(order: WatchedOrder, updated: WatchedOrder, content: ReplyContent | null): ReadNews {
  if (content === null) return 'nothing';
  if (content.orderStatus !== order.lastStatus) return 'status';
  if (content.newEvents.length > 0 || content.rejects.length > 0) return 'items';
  return updated === order ? 'nothing' : 'facts';
}
