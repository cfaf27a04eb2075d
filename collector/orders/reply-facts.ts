import type { ReadNews } from '../../schemas/rows.ts';
import { readReplyFacts, type KnownHistory } from '../decode/known-history.ts';
import type { ReplyContent } from '../decode/status-reply.ts';

/** What may change without a new item: a gateway corrects an amount, or names the currency later. */
export type Facts = readonly [
  status: string | null,
  amount: string | null,
  currency: string | null,
  externalTransactionId: string,
];

export function factsOf({ observation }: ReplyContent): string {
  const { status, amount, currency, external_transaction_id } = observation;
  return JSON.stringify([status, amount, currency, external_transaction_id] satisfies Facts);
}

/** Those of the last reply of this run; null: there was none. */
export function readFacts(known: KnownHistory): Facts | null {
  const text = readReplyFacts(known);
  return text === null ? null : (JSON.parse(text) as Facts);
}

/**
 * What a reply says that was not known. The other facts are compared with those of this run's last reply:
 * they are kept in memory only.
 *
 * @param content null: it told nothing
 * @param before the status of the order's last reply, and the other facts of this run's last one, as
 *   `factsOf` writes them; null: there was none
 */
export function newsOf(
  content: ReplyContent | null,
  facts: string | null,
  before: { readonly status: string | null; readonly facts: string | null },
): ReadNews {
  if (content === null) return 'nothing';
  if (content.orderStatus !== before.status) return 'status';
  if (content.newEvents.length > 0 || content.rejects.length > 0) return 'items';
  return before.facts === null || before.facts === facts ? 'nothing' : 'facts';
}
