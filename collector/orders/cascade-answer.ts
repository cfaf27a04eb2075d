import {
  SAFETY_CAVEATS,
  SAFETY_RULES,
  type CascadeAnswer,
  type KnownEvidence,
  type OrderRecord,
  type StatusRequestEvidence,
} from '../../schemas/cascade-safety.ts';
import { endpointOf } from '../../schemas/polling.ts';
import type { EpochMicros } from '../../schemas/rows.ts';
import type { IdKind, WatchedOrder } from '../../schemas/watch.ts';
import {
  cautions,
  failedSince,
  judgeCascade,
  type KnownFacts,
  type StatusFacts,
  type StatusFinding,
} from '../decode/cascade-safety.ts';
import { formatTime } from '../decode/time.ts';
import type { Asked } from './poller-contract.ts';

/** An order with the ids that are known of it, '' for none. */
export type NamedOrder = Pick<WatchedOrder, 'gateway' | 'orderType' | 'externalId' | 'externalTransactionId'>;

/** One status request for an answer. */
export interface AskedRequest {
  readonly idKind: IdKind;
  readonly orderId: string;
  /** null: no reply yet. */
  asked: Asked | null;
  /** What a valid reply says. */
  facts: StatusFacts | null;
  /** Why a reply is not valid. */
  refused: string | null;
}

/** All that is gathered about one order for one answer. */
export interface Inquiry {
  readonly order: NamedOrder;
  /** As it is read at present; null: it is not. */
  tracked: WatchedOrder | null;
  /** By the kind of id. */
  readonly requests: Map<string, AskedRequest>;
  /** What the store has of it; null: it did not answer. */
  stored: { readonly record: OrderRecord | null } | null;
  /** Whoever asked gave less time than this takes. */
  readonly isLate?: boolean;
}

/** Judges what was gathered, and words the answer. */
export function safetyAnswer(inquiry: Inquiry, now: EpochMicros): CascadeAnswer {
  const { order, tracked, stored } = inquiry;
  const requests = [...inquiry.requests.values()];
  const facts = requests.flatMap((request) => request.facts ?? []);
  const findings = inquiry.isLate === true ? [{ ended: 'too_late' } as const] : requests.map(findingOf);
  const known = knownFacts(inquiry);
  const rule = judgeCascade(findings, known);
  const { verdict, section, says } = SAFETY_RULES[rule];
  const since = failedSince(facts);
  const caveats = verdict === 'safe' ? cautions(facts, now) : [];
  const firstNamed = (key: 'externalId' | 'externalTransactionId'): string | null =>
    [order, ...facts, stored?.record].map((one) => one?.[key] ?? '').find((id) => id !== '') ?? null;
  return {
    verdict,
    rule,
    section,
    reason: says,
    caveats: caveats.map((caveat) => ({ caveat, says: SAFETY_CAVEATS[caveat] })),
    since: since === null ? null : formatTime(since),
    order: {
      gateway: order.gateway,
      orderType: order.orderType,
      externalId: firstNamed('externalId'),
      externalTransactionId: firstNamed('externalTransactionId'),
    },
    answeredAt: formatTime(now),
    requests: requests.map((request) => requestEvidence(order, request)),
    known: stored === null ? null : knownEvidence(stored.record, tracked),
  };
}

function findingOf({ asked, facts }: AskedRequest): StatusFinding {
  if (facts !== null) return { ended: 'status', facts };
  if (asked === null) return { ended: 'too_late' };
  return { ended: asked.asked ? 'no_status' : 'not_asked' };
}

/** What speaks of a success counts even where the rest could not be looked up. */
function knownFacts({ order, tracked, stored }: Inquiry): KnownFacts | null {
  const record = stored?.record ?? null;
  const saidSuccess = tracked?.lastStatus === 'Success' || record?.status === 'Success';
  if (stored === null && !saidSuccess) return null;
  return {
    externalId: record?.externalId ?? order.externalId,
    externalTransactionId: record?.externalTransactionId ?? order.externalTransactionId,
    saidSuccess,
    hasSuccessItem: (record?.successItemAt ?? null) !== null,
    hasSuccessCallback: (record?.successCallbackAt ?? null) !== null,
    isAmbiguous: record?.isAmbiguous === true,
  };
}

/** The poller's memory is ahead of the store. */
function knownEvidence(record: OrderRecord | null, tracked: WatchedOrder | null): KnownEvidence {
  return {
    status: tracked?.lastStatus ?? record?.status ?? null,
    lastReplyAt: record?.lastReplyAt ?? null,
    outcome: record?.outcome ?? null,
    historyItems: record?.historyItems ?? 0,
    successItemAt: record?.successItemAt ?? null,
    callback: record?.callback ?? null,
    successCallbackAt: record?.successCallbackAt ?? null,
    phase: tracked?.phase ?? record?.phase ?? null,
    amount: record?.amount ?? tracked?.amount ?? null,
    currency: record?.currency ?? tracked?.currency ?? null,
  };
}

function requestEvidence(order: NamedOrder, request: AskedRequest): StatusRequestEvidence {
  const { idKind, orderId, asked, facts, refused } = request;
  const sent = asked?.asked === true ? asked : null;
  const notSent = asked?.asked === false ? asked.reason : 'timeout';
  const deciding = facts?.deciding ?? null;
  return {
    endpoint: endpointOf({ orderType: order.orderType, idKind }),
    id: orderId,
    askedAt: sent === null ? null : formatTime(sent.askedAt),
    durationMs: sent === null ? null : Math.round(sent.durationMs * 10) / 10,
    httpStatus: sent?.reply.httpStatus ?? null,
    outcome: refused === null ? (sent?.reply.outcome ?? 'unknown') : 'invalid_response',
    errorType: refused ?? (sent === null ? notSent : sent.reply.errorType),
    orderStatus: facts?.orderStatus ?? null,
    historyItems: facts?.items ?? null,
    decidingItem:
      deciding === null
        ? null
        : {
            time: formatTime(deciding.time),
            action: deciding.code.action,
            description: deciding.code.description,
          },
  };
}
