import { FINAL_STATUSES, ORDER_STATUSES } from '../../schemas/dictionary.ts';
import type { SafetyCaveat, SafetyRuleName } from '../../schemas/cascade-safety.ts';
import { canonicalId } from '../../schemas/order-id.ts';
import type { EpochMicros } from '../../schemas/rows.ts';
import { isMasked } from './grammar.ts';
import { foldHistory } from './fold-order.ts';
import { decodeHistory, type DecodedItem } from './history.ts';
import { readReply, type ReplyContext } from './read-reply.ts';

/** What a valid status reply says, as far as cascading is concerned. */
export interface StatusFacts {
  readonly externalId: string;
  /** '' where the reply does not name it. */
  readonly externalTransactionId: string;
  readonly orderStatus: string;
  readonly items: number;
  /** The latest item with the state success or failed. */
  readonly deciding: DecodedItem | null;
  readonly hasSuccess: boolean;
  /** Items that are malformed, or whose code no format of the interface allows. */
  readonly unreadableItems: number;
  readonly legacyItems: number;
}

/** How one status request ended. */
export type StatusFinding =
  | { readonly ended: 'status'; readonly facts: StatusFacts }
  /** No answer, an error, or a reply that is not valid. */
  | { readonly ended: 'no_status' }
  | { readonly ended: 'not_asked' }
  | { readonly ended: 'too_late' };

/** What was known before. */
export interface KnownFacts {
  /** '' where it is not known. */
  readonly externalId: string;
  readonly externalTransactionId: string;
  readonly saidSuccess: boolean;
  readonly hasSuccessItem: boolean;
  readonly hasSuccessCallback: boolean;
  /** The id asked for leads to several orders. */
  readonly isAmbiguous: boolean;
}

/** Text that is no status or code is not shown, and is compared with nothing. */
const UNREADABLE = () => '~';

type FactsContext = Pick<ReplyContext, 'gateway' | 'orderType' | 'idKind' | 'orderId'> & {
  readonly keepsCardLikeIds: boolean;
  readonly observedAt: EpochMicros;
};

/**
 * Reads the body of a status reply (interface document, sections 2.3, 2.4 and 4.3-4.5). Pure and total.
 *
 * @returns the reason of the refusal when the reply is not valid, or about another order
 */
export function readStatusFacts(
  body: string,
  { keepsCardLikeIds, ...asked }: FactsContext,
): { readonly ok: true; readonly facts: StatusFacts } | { readonly ok: false; readonly reason: string } {
  const read = readReply(body, {
    ...asked,
    channel: '',
    externalTransactionId: '',
    known: '',
    source: 'verify',
    policy: { fingerprint: UNREADABLE, keepsCardLikeIds },
  });
  if (!read.ok) return { ok: false, reason: read.reason };
  const { externalId, externalTransactionId, orderStatus, orderHistory } = read.reply;
  const { items, refused } = decodeHistory(orderHistory ?? [], UNREADABLE);
  const count = (format: string): number => items.filter(({ code }) => code.format === format).length;
  return {
    ok: true,
    facts: {
      externalId,
      externalTransactionId: isMasked(externalTransactionId ?? '') ? '' : (externalTransactionId ?? ''),
      orderStatus,
      items: items.length,
      deciding: foldHistory(items).deciding,
      hasSuccess: items.some(({ code }) => code.state === 'SUCCESS'),
      unreadableItems: refused.length + count('unrecognized'),
      legacyItems: count('legacy'),
    },
  };
}

/**
 * Says whether a payment may be sent to another provider (interface document, section 1, "verify status
 * before cascading"). `failed`, the only safe one, needs status replies alone, all of them `Failed`, about
 * one order, with a readable history, and nothing known that speaks of a success. Pure and total.
 *
 * @param findings one for each id that was asked for
 * @param known null: it could not be looked up
 */
export function judgeCascade(findings: readonly StatusFinding[], known: KnownFacts | null): SafetyRuleName {
  const facts = findings.flatMap((finding) => (finding.ended === 'status' ? [finding.facts] : []));
  const says = (status: string): boolean => facts.some(({ orderStatus }) => orderStatus === status);
  if (says('Success')) return 'payment_succeeded';
  if (facts.some(({ hasSuccess }) => hasSuccess) || known?.hasSuccessItem === true)
    return 'success_in_history';
  if (known?.hasSuccessCallback === true) return 'success_callback';
  if (known?.saidSuccess === true) return 'success_seen_before';
  if (ORDER_STATUSES.some((status) => !FINAL_STATUSES.includes(status) && says(status))) return 'not_final';
  if (disagree(facts, known)) return 'ids_disagree';
  const ended = (how: StatusFinding['ended']): boolean => findings.some((finding) => finding.ended === how);
  if (ended('no_status') || findings.length === 0) return 'status_not_read';
  if (ended('not_asked')) return 'not_asked';
  if (ended('too_late')) return 'too_late';
  if (facts.some(({ orderStatus }) => orderStatus !== 'Failed')) return 'status_not_defined';
  if (facts.some(({ unreadableItems }) => unreadableItems > 0)) return 'history_unreadable';
  return known === null ? 'not_looked_up' : 'failed';
}

/** Replies, and what was known, must name one order. */
function disagree(facts: readonly StatusFacts[], known: KnownFacts | null): boolean {
  const named = known === null ? facts : [...facts, known];
  // A fingerprint stands for an id that was not kept, and is compared with none.
  const isNamed = (id: string): boolean => id !== '' && !isMasked(id);
  const differ = (ids: readonly string[]): boolean => new Set(ids.filter(isNamed).map(canonicalId)).size > 1;
  return (
    known?.isAmbiguous === true ||
    differ(named.map(({ externalId }) => externalId)) ||
    differ(named.map(({ externalTransactionId }) => externalTransactionId))
  );
}

/** Section 2.4, rule 2: items may be appended for about this long after a final status. */
const APPENDED_FOR: EpochMicros = 600_000_000;

/** What somebody who acts on a failure should know. */
export function cautions(facts: readonly StatusFacts[], now: EpochMicros): SafetyCaveat[] {
  const since = failedSince(facts);
  return [
    ...(since !== null && now - since < APPENDED_FOR ? (['recent_failure'] as const) : []),
    ...(since === null ? (['no_failed_item'] as const) : []),
    ...(facts.some(({ legacyItems }) => legacyItems > 0) ? (['legacy_codes'] as const) : []),
    ...(facts.length < 2 ? (['one_id'] as const) : []),
  ];
}

/** When the payment failed, by the histories that were read. */
export function failedSince(facts: readonly StatusFacts[]): EpochMicros | null {
  const times = facts.flatMap(({ deciding }) => (deciding?.code.state === 'FAILED' ? [deciding.time] : []));
  return times.length === 0 ? null : Math.max(...times);
}
