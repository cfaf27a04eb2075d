import type { OrderObservationRow } from '../../schemas/rows.ts';
import { currencyCode, decimalText } from '../decode/grammar.ts';

type Identity = Pick<OrderObservationRow, 'gateway' | 'order_type' | 'external_id' | 'observed_at'>;

/** The row of what a callback or a watch message says about an order; its status stays empty. */
export function observationRow(
  kind: 'callback' | 'watch',
  identity: Identity,
  facts: Partial<
    Pick<OrderObservationRow, 'external_transaction_id' | 'channel' | 'amount' | 'currency' | 'abandoned_at'>
  >,
): OrderObservationRow {
  const currency = currencyCode(facts.currency);
  return {
    kind,
    external_transaction_id: '',
    channel: '',
    status: null,
    outcome: null,
    deciding_action: null,
    reason_code: null,
    reason_group: null,
    reason_detail: null,
    history_items: 0,
    created_at: null,
    final_at: null,
    settled_at: null,
    abandoned_at: null,
    ...identity,
    ...facts,
    amount: decimalText(facts.amount, currency),
    amount_refused: 0,
    currency,
  };
}
