import { refuse, type Decoded } from '../../schemas/decoded.ts';
import type { OrderType } from '../../schemas/dictionary.ts';
import { statusReplySchema, type StatusReply } from '../../schemas/gateway/status-reply.ts';
import { hasNumberId, isNumberId, parseKeepingSources } from '../../schemas/json.ts';
import { canonicalId } from '../../schemas/order-id.ts';
import { firstProblem, type Problem } from '../../schemas/problem.ts';
import type { EpochMicros } from '../../schemas/rows.ts';
import { received } from '../../schemas/shape.ts';
import type { SpanRef } from '../../schemas/span.ts';
import type { IdKind } from '../../schemas/watch.ts';
import { isKeepableId, storedId, storedStatus, type TextPolicy } from './grammar.ts';
import type { HistoryWindow } from './history-window.ts';
import type { KnownHistory } from './known-history.ts';

/** What the reply was asked for, and what is already known of the order. */
export interface ReplyContext {
  readonly gateway: string;
  readonly orderType: OrderType;
  readonly idKind: IdKind;
  readonly orderId: string;
  readonly channel: string;
  readonly externalTransactionId: string;
  readonly known: KnownHistory;
  readonly observedAt: EpochMicros;
  readonly source: string;
  /** When the callback was received that asked for the read. @default none did */
  readonly callbackAt?: EpochMicros | null;
  /** The collector's own span of the read. @default none is exported */
  readonly readSpan?: SpanRef | null;
  readonly policy: TextPolicy;
  /** Times of the items that are stored. @default ANY_TIME */
  readonly window?: HistoryWindow;
}

/** The reply with every text as a row keeps it. */
export function readReply(body: string, context: ReplyContext): Decoded<{ readonly reply: StatusReply }> {
  const { policy } = context;
  let input: unknown;
  try {
    // Some servers put a byte order mark before their JSON.
    input = parseReply(body.startsWith('\u{feff}') ? body.slice(1) : body);
  } catch {
    // The parser's message quotes the input, which may hold card data: it is not repeated.
    const length = `${body.length} characters of something else`;
    return refuse('reply_truncated', { field: 'body', received: length, expected: 'JSON' });
  }
  const parsed = statusReplySchema.safeParse(input);
  if (!parsed.success) return refuse('reply_malformed', firstProblem(parsed.error, input));
  const reply = parsed.data;
  const mismatch = mismatchOf(reply, context);
  if (mismatch !== null) return refuse('id_mismatch', mismatch);
  // Asked by the merchant's id, the gateway names its own: under that the order is filed and read from now
  // on.
  const isOwn =
    context.idKind === 'external-id' ||
    isKeepableId('external-id', reply.externalId, policy.keepsCardLikeIds);
  if (!isOwn) {
    const problem = { field: 'externalId', received: received(reply.externalId), expected: 'an id' };
    return refuse('reply_malformed', problem);
  }
  const { externalTransactionId } = reply;
  return {
    ok: true,
    reply: {
      ...reply,
      externalId: canonicalId(reply.externalId),
      orderStatus: storedStatus(reply.orderStatus, policy.fingerprint),
      externalTransactionId:
        externalTransactionId === null || externalTransactionId === undefined || externalTransactionId === ''
          ? externalTransactionId
          : storedId('transaction-id', externalTransactionId, policy),
    },
  };
}

/** An amount of more digits than a double holds. */
const LONG_AMOUNT = /"amount"\s*:\s*-?[\d.]{16}/;
const PLAIN_NUMBER = /^-?[\d.]{1,63}$/;

/** The reply; ids that are numbers as texts, and so the amount where a number would be another one. */
function parseReply(body: string): unknown {
  const hasLongAmount = LONG_AMOUNT.test(body);
  if (!hasLongAmount && !hasNumberId(body)) return JSON.parse(body);
  return parseKeepingSources(
    body,
    (key, source) =>
      isNumberId(key, source) || (hasLongAmount && key === 'amount' && PLAIN_NUMBER.test(source)),
  );
}

/** A reply about another order than the one asked for must never be filed under either. */
function mismatchOf(reply: StatusReply, context: ReplyContext): Problem | null {
  const asked = context.idKind === 'external-id' ? reply.externalId : reply.externalTransactionId;
  const field = context.idKind === 'external-id' ? 'externalId' : 'externalTransactionId';
  if (asked !== null && asked !== undefined && canonicalId(asked) !== canonicalId(context.orderId)) {
    return { field, received: 'another id', expected: 'the id asked for' };
  }
  const orderType = reply.orderType?.toLowerCase();
  if (orderType !== undefined && orderType !== context.orderType.toLowerCase()) {
    return { field: 'orderType', received: 'another type', expected: context.orderType };
  }
  return null;
}
