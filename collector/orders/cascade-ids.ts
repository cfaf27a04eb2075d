import type { CascadeQuery } from '../../schemas/cascade-safety.ts';
import type { Clock } from '../../schemas/clock.ts';
import type { GatewayConfig } from '../../schemas/config.ts';
import { ORDER_TYPES } from '../../schemas/dictionary.ts';
import { canonicalId } from '../../schemas/order-id.ts';
import { ID_KINDS, watchKey, type IdKind, type WatchedOrder } from '../../schemas/watch.ts';
import { readStatusFacts } from '../decode/cascade-safety.ts';
import type { AskedRequest, Inquiry, NamedOrder } from './cascade-answer.ts';
import type { Asked, AskStatus } from './poller-contract.ts';

/** The order in the poller's memory that the query means; null: none, or more than one fits. */
export function findTracked(
  { id, gateway, type, by }: CascadeQuery,
  gateways: readonly string[],
  tracked: (key: string) => WatchedOrder | undefined,
): WatchedOrder | null {
  const found: WatchedOrder[] = [];
  for (const name of gateway === undefined ? gateways : [gateway])
    for (const orderType of type === undefined ? ORDER_TYPES : [type])
      for (const idKind of by === undefined ? ID_KINDS : [by]) {
        const orderId = idKind === 'external-id' ? canonicalId(id) : id;
        const order = tracked(watchKey({ gateway: name, orderType, idKind, orderId }));
        if (order !== undefined) found.push(order);
      }
  return found.length === 1 ? (found[0] ?? null) : null;
}

/** What the order can be asked for by: each id for which no request was made. */
export function otherIds(
  order: NamedOrder,
  asked: ReadonlyMap<string, unknown>,
): { readonly idKind: IdKind; readonly orderId: string }[] {
  const ids = [
    { idKind: 'external-id', orderId: order.externalId },
    { idKind: 'transaction-id', orderId: order.externalTransactionId },
  ] as const;
  return ids.filter(({ idKind, orderId }) => orderId !== '' && !asked.has(idKind));
}

export interface AskOptions {
  readonly config: GatewayConfig;
  readonly clock: Clock;
  readonly ask: AskStatus;
  readonly leftMs: () => number;
}

/** Asks for the order by one of its ids, and enters how that ended. */
export async function askOrder(
  ref: { readonly idKind: IdKind; readonly orderId: string },
  { order, requests }: Inquiry,
  { config, clock, ask, leftMs }: AskOptions,
): Promise<void> {
  const request: AskedRequest = { ...ref, asked: null, facts: null, refused: null };
  requests.set(ref.idKind, request);
  request.asked = await ask(asWatched(order, ref), leftMs());
  const body = bodyOf(request.asked);
  if (body === null) return;
  const read = readStatusFacts(body, {
    gateway: order.gateway,
    orderType: order.orderType,
    ...ref,
    keepsCardLikeIds: config.cardLikeIds === 'keep',
    observedAt: clock.now(),
  });
  if (read.ok) request.facts = read.facts;
  else request.refused = read.reason;
}

const bodyOf = (asked: Asked): string | null =>
  asked.asked && asked.reply.outcome === 'ok' ? asked.reply.body : null;

/** The order in the form in which the gateway is asked for it. It is tracked nowhere. */
function asWatched(
  order: NamedOrder,
  ref: { readonly idKind: IdKind; readonly orderId: string },
): WatchedOrder {
  return {
    ...order,
    ...ref,
    phase: 'active',
    nextPollAt: 0,
    attempt: 0,
    reread: 0,
    firstSeenAt: 0,
    watchedSince: 0,
    finalAt: null,
    lastStatus: null,
    channel: '',
    amount: null,
    amountSource: null,
    currency: null,
    currencySource: null,
    rootSent: false,
  };
}
