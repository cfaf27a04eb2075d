import type { PollConfig } from '../../schemas/config.ts';
import type { EpochMicros, PollOutcome } from '../../schemas/rows.ts';
import { FACT_SOURCES, type FactSource, type WatchedOrder } from '../../schemas/watch.ts';

/** What a reply says, as far as the order's schedule is concerned. */
export interface ReplyFacts {
  readonly outcome: PollOutcome;
  /** Set when the outcome is `ok`. */
  readonly orderStatus: string | null;
  readonly final: boolean;
  readonly newItems: number;
  /** The latest time among the new items, if there are any. */
  readonly newestItemAt?: EpochMicros | undefined;
  /** The gateway's `Retry-After`, if any, in milliseconds. */
  readonly retryAfterMs: number | null;
}

const SECOND: EpochMicros = 1_000_000;
/**
 * Items come for about ten minutes after a final status. A history that ended a day before it was read, in
 * whatever time zone its gateway dates it, is whole.
 */
const LONG_OVER: EpochMicros = 24 * 3600 * SECOND;

/**
 * The poll policy as a pure function: the order's state after a read, with the time of the next one.
 *
 * Not final: the configured delays, then doubling up to a maximum. Final: re-reads at fixed times after the
 * final status was first seen, and on until a read at or after the last of them brings nothing new: then the
 * order is settled; one whose history ended long ago, with its first read. A reply that says nothing (423,
 * 499 and above, none, any other error) leaves the state unknown: keep reading. An order that is still not
 * final, or brings no reply, after the configured age is given up.
 *
 * @param random a number in [0, 1) for the jitter
 */
export function advance(
  order: WatchedOrder,
  facts: ReplyFacts,
  policy: PollConfig,
  now: EpochMicros,
  random: number,
): WatchedOrder {
  const attempt = order.attempt + 1;
  const tooOld = now - order.watchedSince > policy.giveUpAfterH * 3600 * SECOND;
  const orGiveUp = (next: WatchedOrder): WatchedOrder => (tooOld ? { ...next, phase: 'abandoned' } : next);
  if (facts.outcome !== 'ok')
    return orGiveUp({ ...order, attempt, nextPollAt: retryTime(order, facts, policy, now, random) });
  const lastStatus = facts.orderStatus;
  if (!facts.final) {
    const nextPollAt = now + delay(order.attempt, policy, random);
    return orGiveUp({ ...order, attempt, lastStatus, phase: 'active', finalAt: null, reread: 0, nextPollAt });
  }
  // If the clock was set back, `finalAt` can be in the future: use the earlier of `finalAt` and now.
  const finalAt = Math.min(order.finalAt ?? now, now);
  const upcoming = policy.rereadsS.map((s) => finalAt + s * SECOND).find((at) => at > now);
  const reread = order.finalAt === null ? 0 : order.reread + 1;
  const next = { attempt, lastStatus, finalAt, reread };
  const { newestItemAt = now } = facts;
  // The re-reads count from its end, so that they are over for whoever names it again.
  if (order.finalAt === null && now - newestItemAt > LONG_OVER)
    return { ...order, ...next, finalAt: newestItemAt, phase: 'settled', nextPollAt: now };
  if (upcoming !== undefined) return { ...order, ...next, phase: 'rereading', nextPollAt: upcoming };
  // A history that grows with every read must come to an end as well.
  if (facts.newItems > 0 && !tooOld) {
    return { ...order, ...next, phase: 'rereading', nextPollAt: now + lastGap(policy) };
  }
  return { ...order, ...next, phase: 'settled', nextPollAt: now };
}

/** A settled or abandoned order that a callback or watch message names again is read from the start. */
export function reopen(order: WatchedOrder, now: EpochMicros): WatchedOrder {
  if (order.phase === 'active' || order.phase === 'rereading') return order;
  // Its age counts from now: an old order that comes to life again must not be given up at once.
  return {
    ...order,
    phase: 'active',
    attempt: 0,
    reread: 0,
    finalAt: null,
    nextPollAt: now,
    watchedSince: now,
  };
}

/**
 * A settled order of which somebody says what is known already, e.g. by sending a callback again: one read,
 * after which it is settled again unless that read finds something new.
 */
export function rereadOnce(order: WatchedOrder, now: EpochMicros): WatchedOrder {
  // Its age counts from now as well: a read without a reply is repeated, and gives up no order that has come
  // to its end.
  return { ...order, phase: 'rereading', nextPollAt: now, watchedSince: now };
}

/** What somebody says of an order. */
export interface OrderFacts {
  readonly channel?: string | undefined;
  /** null with a source: one that cannot be kept. */
  readonly amount?: string | null | undefined;
  /** Missing or null: nobody named one. */
  readonly amountSource?: FactSource | null | undefined;
  readonly currency?: string | null | undefined;
  readonly currencySource?: FactSource | null | undefined;
  readonly externalTransactionId?: string | undefined;
  readonly rootSent?: boolean | undefined;
}

/**
 * What is known of the order with these facts, too. Amount and currency are those of the best source, and
 * its newest; of the others the first counts. Returns the same object when there is nothing to learn.
 */
export function learn(order: WatchedOrder, facts: OrderFacts): WatchedOrder {
  const amount = better(order.amount, order.amountSource, facts.amount, facts.amountSource);
  const currency = better(order.currency, order.currencySource, facts.currency, facts.currencySource);
  const learned = {
    channel: order.channel || (facts.channel ?? ''),
    amount: amount.value,
    amountSource: amount.source,
    currency: currency.value,
    currencySource: currency.source,
    externalTransactionId: order.externalTransactionId || (facts.externalTransactionId ?? ''),
    rootSent: order.rootSent || facts.rootSent === true,
  };
  const isSame = (Object.keys(learned) as (keyof typeof learned)[]).every(
    (name) => learned[name] === order[name],
  );
  return isSame ? order : { ...order, ...learned };
}

function better(
  value: string | null,
  source: FactSource | null,
  other: string | null | undefined,
  otherSource: FactSource | null | undefined,
): { readonly value: string | null; readonly source: FactSource | null } {
  const isBetter = otherSource !== undefined && otherSource !== null && rank(otherSource) > rank(source);
  // What a status reply said is set as it is applied: here it may be that of an earlier one.
  const isNewer = otherSource === source && source !== 'status';
  return isBetter || isNewer ? { value: other ?? null, source: otherSource ?? null } : { value, source };
}

const rank = (source: FactSource | null): number => (source === null ? -1 : FACT_SOURCES.indexOf(source));

function retryTime(
  order: WatchedOrder,
  facts: ReplyFacts,
  policy: PollConfig,
  now: EpochMicros,
  random: number,
): EpochMicros {
  // One answer, of whatever stands before the gateway, must not make us blind to an order for long.
  const wanted = Math.min((facts.retryAfterMs ?? 0) * 1000, policy.maxDelayS * SECOND);
  return now + Math.max(wanted, delay(order.attempt, policy, random));
}

function delay(attempt: number, policy: PollConfig, random: number): EpochMicros {
  const listed = policy.delaysS[attempt];
  const last = policy.delaysS.at(-1) ?? policy.maxDelayS;
  const doublings = Math.min(attempt - policy.delaysS.length + 1, 30);
  const seconds = listed ?? Math.min(last * 2 ** doublings, policy.maxDelayS);
  return Math.round(seconds * SECOND * (1 + policy.jitter * (2 * random - 1)));
}

function lastGap(policy: PollConfig): EpochMicros {
  const [last, before] = [policy.rereadsS.at(-1) ?? 60, policy.rereadsS.at(-2) ?? 0];
  return Math.max(last - before, 1) * SECOND;
}
