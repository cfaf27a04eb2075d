import { FINAL_STATUSES } from '../../schemas/dictionary.ts';
import { GatewatchError, type ErrorCode } from '../../schemas/errors.ts';
import { HEADERS } from '../../schemas/names.ts';
import type { OwnerHint } from '../../schemas/owner-hint.ts';
import { watchKey, watchTopicKey } from '../../schemas/watch.ts';
import type { OrdersContext } from './context.ts';
import type { OrderHint } from './order-hint.ts';

/** A hint as a message of the watch topic: its key leads it to the partition of the order's owner. */
export interface OwnerHintMessage {
  readonly key: string;
  readonly value: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
}

/** Hands messages to the watch topic. Resolves when the brokers have all of them. */
export type ProduceHints = (messages: readonly OwnerHintMessage[]) => Promise<void>;

/** Of named orders those that this collector goes on with, and those whose owner is to be given a hint. */
export function divideByOwner(
  hints: readonly OrderHint[],
  { owns, handOver }: Pick<OrdersContext, 'owns' | 'handOver'>,
): { readonly ours: readonly OrderHint[]; readonly others: readonly OrderHint[] } {
  const isOurs = (hint: OrderHint): boolean => handOver === null || owns(hint);
  const others = hints.filter((hint) => !isOurs(hint));
  return { ours: others.length === 0 ? hints : hints.filter(isOurs), others };
}

/**
 * Hands hints over to the owners of their orders (decision 42).
 * @throws GatewatchError that is retryable, whatever is wrong: what named the orders is not acknowledged, and
 * comes again
 */
export function createHandOver(produce: ProduceHints): NonNullable<OrdersContext['handOver']> {
  return async (hints) => {
    if (hints.length === 0) return;
    try {
      await produce(toMessages(hints));
    } catch (cause) {
      const { message, code } = cause as Error & { code?: ErrorCode };
      throw new GatewatchError(`A hint could not be handed to the owner of its order: ${message}`, {
        code: cause instanceof GatewatchError && code !== undefined ? code : 'internal',
        retryable: true,
        cause,
      });
    }
  };
}

/**
 * One message for all hints that name an order alike, so that a sender who repeats a callback cannot multiply
 * them. Final statuses stay apart: one that differs from the known one opens the order again.
 */
export function toMessages(hints: readonly OrderHint[]): OwnerHintMessage[] {
  const merged = new Map<string, OrderHint>();
  for (const hint of hints) {
    const { cause, status = '' } = hint;
    const key = `${watchKey(hint)}|${cause}|${FINAL_STATUSES.includes(status) ? status : ''}`;
    const earlier = merged.get(key);
    merged.set(key, earlier === undefined ? hint : merge(earlier, hint));
  }
  return [...merged.values()].map(toMessage);
}

/** What was named last counts; of channel, id and time what was named first. */
function merge(earlier: OrderHint, later: OrderHint): OrderHint {
  return {
    ...later,
    amount: later.amount ?? earlier.amount,
    currency: later.currency ?? earlier.currency,
    channel: earlier.channel || later.channel,
    externalTransactionId: earlier.externalTransactionId || later.externalTransactionId,
    calledAt: earlier.calledAt ?? later.calledAt,
  };
}

function toMessage(hint: OrderHint): OwnerHintMessage {
  const { gateway, orderType, idKind, orderId, cause, status, calledAt } = hint;
  const value: OwnerHint = {
    gateway,
    orderType,
    idKind,
    orderId,
    cause,
    // Texts that are empty or null say nothing.
    ...(status ? { status } : {}),
    ...(calledAt === undefined ? {} : { calledAt }),
    ...(hint.externalTransactionId ? { externalTransactionId: hint.externalTransactionId } : {}),
    ...(hint.channel ? { channel: hint.channel } : {}),
    ...(hint.amount ? { amount: hint.amount } : {}),
    ...(hint.currency ? { currency: hint.currency } : {}),
  };
  return {
    key: watchTopicKey(hint),
    value: Buffer.from(JSON.stringify(value)),
    headers: { [HEADERS.ownerHint]: '1' },
  };
}
