import type { Watched } from './poller-port.ts';
import { orderText, type OrderIdentity } from '../decode/ids.ts';
import { NOTHING_KNOWN } from '../decode/known-history.ts';
import type { WatchedOrder } from '../../schemas/watch.ts';
import type { WatchMemory } from './watch-memory.ts';

/**
 * Goes on with orders that an earlier run left unfinished, their stored history included. Returns how many.
 */
export async function resumeOrders(
  memory: WatchMemory,
  pages: AsyncIterable<readonly WatchedOrder[]>,
  resume: (watched: Watched) => void,
): Promise<number> {
  let count = 0;
  for await (const page of pages) {
    const known = await memory.known(page.flatMap(identityOf));
    for (const order of page) {
      const [identity] = identityOf(order);
      const history =
        identity === undefined ? NOTHING_KNOWN : (known.get(orderText(identity)) ?? NOTHING_KNOWN);
      resume({ order, known: history });
      count += 1;
    }
  }
  return count;
}

function identityOf(order: WatchedOrder): OrderIdentity[] {
  const { gateway, orderType, externalId } = order;
  return externalId === '' ? [] : [{ gateway, orderType, externalId }];
}
