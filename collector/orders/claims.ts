import type { EpochMicros, OrderClaimRow } from '../../schemas/rows.ts';
import type { OrderFacts } from './advance.ts';
import type { OrderIdentity } from '../decode/ids.ts';
import { currencyCode, decimalText } from '../decode/grammar.ts';

/** What a status reply or a watch message says of an order, for whoever compares them. */
export function claimRow(
  kind: 'watch' | 'status_reply',
  { gateway, orderType, externalId }: OrderIdentity,
  claim: { readonly status: string | null; readonly amount: string | null; readonly currency: string | null },
  observedAt: EpochMicros,
): OrderClaimRow {
  const currency = currencyCode(claim.currency);
  return {
    gateway,
    order_type: orderType,
    external_id: externalId,
    observed_at: observedAt,
    kind,
    status: claim.status,
    amount: decimalText(claim.amount, currency),
    currency,
  };
}

/** What a watch message says of an order; none where it names neither amount nor currency. */
export function watchClaims(
  order: OrderIdentity,
  { amount = null, currency = null }: Pick<OrderFacts, 'amount' | 'currency'>,
  observedAt: EpochMicros,
): OrderClaimRow[] {
  if (amount === null && currency === null) return [];
  return [claimRow('watch', order, { status: null, amount, currency }, observedAt)];
}
