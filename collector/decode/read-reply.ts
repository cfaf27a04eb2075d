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
import { readAmount, type ReadAmount } from './amount.ts';
import { currencyCode, isKeepableId, storedId, storedStatus, type TextPolicy } from './grammar.ts';
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
  /** Whose clock the history's times are of (`gateways[].historyTimeZone`). @default UTC */
  readonly historyTimeZone?: string | undefined;
  /** Times of the items that are stored. @default ANY_TIME */
  readonly window?: HistoryWindow;
}

/** A status reply with every text as a row keeps it. */
export interface ReadReply {
  readonly externalId: string;
  readonly orderStatus: string;
  /** Null: the reply names none. */
  readonly externalTransactionId: string | null;
  readonly amount: string | null;
  /** The reply names an amount that cannot be kept: no other source's stands in its place. */
  readonly isAmountRefused: boolean;
  readonly isAmountRounded: boolean;
  readonly currency: string | null;
  readonly orderHistory: readonly unknown[];
  /** Fields that are not needed and could not be read. */
  readonly dropped: readonly Problem[];
}

/** Reads a reply by an allow-list. An odd field that is not needed is dropped, and the rest counts. */
export function readReply(body: string, context: ReplyContext): Decoded<{ readonly reply: ReadReply }> {
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
  const { externalTransactionId, orderType } = optionalTexts(reply);
  const mismatch = mismatchOf({ externalId: reply.externalId, externalTransactionId, orderType }, context);
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
  const currency = currencyCode(reply.currency);
  const amount = readAmount(reply.amount, currency);
  return {
    ok: true,
    reply: {
      externalId: canonicalId(reply.externalId),
      orderStatus: storedStatus(reply.orderStatus, policy.fingerprint),
      externalTransactionId:
        externalTransactionId === null || externalTransactionId === ''
          ? null
          : storedId('transaction-id', externalTransactionId, policy),
      amount: amount.text,
      isAmountRefused: amount.note === 'refused',
      isAmountRounded: amount.note === 'rounded',
      currency,
      orderHistory: reply.orderHistory ?? [],
      dropped: droppedFields(reply, { amount, currency }),
    },
  };
}

const LONGEST_ID = 200;

/** Texts that a reply may leave out; null also where it has something else in their place. */
function optionalTexts({ externalTransactionId, orderType }: StatusReply) {
  const isId = typeof externalTransactionId === 'string' && externalTransactionId.length <= LONGEST_ID;
  return {
    externalTransactionId: isId ? externalTransactionId : null,
    orderType: typeof orderType === 'string' ? orderType : null,
  };
}

/** Fields that are there and could not be read. */
function droppedFields(
  reply: StatusReply,
  read: { readonly amount: ReadAmount; readonly currency: string | null },
): Problem[] {
  const texts = optionalTexts(reply);
  const isThere = (value: unknown): boolean => value !== null && value !== undefined && value !== '';
  const dropped: Problem[] = [];
  const drop = (field: keyof StatusReply, expected: string): void =>
    void dropped.push({ field, received: received(reply[field]), expected });
  if (read.amount.note === 'refused')
    drop('amount', 'a decimal number below 10^21, of at most twelve digits before zeros and nine decimals');
  if (isThere(reply.currency) && read.currency === null) drop('currency', 'a currency code such as EUR');
  if (isThere(reply.orderType) && texts.orderType === null) drop('orderType', 'Deposit or Withdrawal');
  if (isThere(reply.externalTransactionId) && texts.externalTransactionId === null)
    drop('externalTransactionId', `a text of at most ${LONGEST_ID} characters`);
  return dropped;
}

/** An amount of more digits than a double holds. */
const LONG_AMOUNT = /"amount"\s*:\s*-?[\d.]{16}/;
const PLAIN_NUMBER = /^-?[\d.]+$/;

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
function mismatchOf(
  reply: {
    readonly externalId: string;
    readonly externalTransactionId: string | null;
    readonly orderType: string | null;
  },
  context: ReplyContext,
): Problem | null {
  const field = context.idKind === 'external-id' ? 'externalId' : 'externalTransactionId';
  const asked = reply[field];
  if (asked !== null && canonicalId(asked) !== canonicalId(context.orderId)) {
    return { field, received: 'another id', expected: 'the id asked for' };
  }
  const orderType = reply.orderType?.toLowerCase();
  if (orderType !== undefined && orderType !== context.orderType.toLowerCase()) {
    return { field: 'orderType', received: 'another type', expected: context.orderType };
  }
  return null;
}
