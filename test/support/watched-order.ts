import type { WatchedOrder } from '../../schemas/watch.ts';

export const SECOND = 1_000_000;
export const HOUR = 3600 * SECOND;
/** 2026-11-21T10:15:30Z. */
export const T0 = 1_795_256_130 * SECOND;

/** An order as it is when it was just taken up. */
export function watchedOrder(more: Partial<WatchedOrder> = {}): WatchedOrder {
  const orderId = more.orderId ?? 'order-1';
  const byExternalId = (more.idKind ?? 'external-id') === 'external-id';
  return {
    gateway: 'acme-eu',
    orderType: 'Deposit',
    idKind: 'external-id',
    orderId,
    phase: 'active',
    nextPollAt: T0,
    attempt: 0,
    reread: 0,
    firstSeenAt: T0,
    watchedSince: T0,
    finalAt: null,
    lastStatus: null,
    externalId: byExternalId ? orderId : '',
    externalTransactionId: byExternalId ? '' : orderId,
    channel: '',
    amount: null,
    amountSource: null,
    currency: null,
    currencySource: null,
    rootSent: false,
    ...more,
  };
}
