import type { PollConfig } from '../../schemas/config.ts';
import { FINAL_STATUSES } from '../../schemas/dictionary.ts';
import type {
  OrderObservationRow,
  OrderWatchRow,
  PollRow,
  RejectRow,
  RowBundle,
  SettlementRow,
} from '../../schemas/rows.ts';
import { watchKey, type WatchedOrder } from '../../schemas/watch.ts';
import { decide, inTimeOrder } from '../decode/history.ts';
import { stableId } from '../decode/ids.ts';
import { readKnown, readTold, withTold, type KnownHistory } from '../decode/known-history.ts';
import type { DecodedReply } from '../decode/status-reply.ts';
import { advance } from './advance.ts';
import type { Handled, StatusAnswer } from './poller-port.ts';
import type { PipelineContext } from './context.ts';
import { identify } from './identify.ts';
import { hint } from './observation.ts';
import { toRow } from './watch-memory.ts';

/**
 * Takes an answer of the gateway to acknowledgement: decodes it, makes rows of what is new, advances the
 * order's schedule, and resolves with its next state once everything is stored.
 */
export async function handleAnswer(answer: StatusAnswer, context: PipelineContext): Promise<Handled> {
  const gateway = context.gateways.get(answer.order.gateway);
  if (gateway === undefined) throw new TypeError(`no gateway named ${answer.order.gateway}`);
  const now = context.clock.now();
  const { order, live, known: knownBefore, reply } = await identify(answer, context);
  const told = reply?.ok === true ? reply : null;
  const outcome = reply !== null && !reply.ok ? 'invalid_response' : answer.outcome;
  const facts = {
    outcome,
    orderStatus: told?.orderStatus ?? null,
    final: told?.final === true,
    newItems: told?.newEvents.length ?? 0,
    retryAfterMs: answer.retryAfterMs,
  };
  // Its own reads drive the schedule of an order that is watched under both ids.
  const read =
    live === null ? advance(order, facts, gateway.poll, answer.answeredAt, context.random()) : order;
  const known = told === null ? knownBefore : withTold(told.known, toldText(told.observation));
  const ended = read.phase === 'settled' || read.phase === 'abandoned';
  const settlements = ended && !read.rootSent && read.externalId !== '' ? [settlement(read, known, now)] : [];
  const next = settlements.length > 0 ? { ...read, rootSent: true } : read;
  const orderObservations = observations(reply, knownBefore, next, now);
  const bundle: RowBundle = {
    historyEvents: told?.newEvents ?? [],
    settlements,
    orderObservations,
    polls: [pollRow(answer, outcome, reply)],
    rejects: rejectsOf(answer, reply, gateway.poll, now),
    orderWatch: watchRows(answer, next, live, context.collectorId),
  };
  count(answer, bundle, reply, context);
  await context.write(bundle, { replies: 1, historyItems: told?.items ?? 0 });
  // What ended is forgotten; its history is read back from the store should it open again.
  return { order: next, known: ended ? null : known, outcome };
}

/**
 * The states to persist. They are as of the start of the request: a callback that came while it was under way
 * persisted a later one, so that a crash never forgets that the order is to be read again.
 */
function watchRows(
  { order: asked, startedAt }: StatusAnswer,
  next: WatchedOrder,
  live: WatchedOrder | null,
  collectorId: string,
): OrderWatchRow[] {
  const rows = next === live ? [] : [toRow(next, startedAt, collectorId)];
  if (watchKey(next) === watchKey(asked)) return rows;
  const merged: WatchedOrder = { ...asked, phase: 'merged', externalId: next.externalId };
  return [toRow(merged, startedAt, collectorId), ...rows];
}

/** A reply that was cut off at the size limit has no decoder to refuse it. */
function rejectsOf(
  answer: StatusAnswer,
  reply: DecodedReply | null,
  { maxReplyBytes }: PollConfig,
  now: number,
): readonly RejectRow[] {
  if (answer.errorType !== 'too_large') return reply?.rejects ?? [];
  const { order } = answer;
  return [
    {
      gateway: order.gateway,
      reason: 'reply_too_large',
      reject_id: stableId(`${watchKey(order)}|reply_too_large`),
      rejected_at: now,
      source: answer.cause,
      field: 'body',
      expected: `at most ${maxReplyBytes} bytes`,
      received: `${answer.bodyBytes} bytes or more`,
      content: '',
      topic: '',
      kafka_partition: null,
      kafka_offset: null,
      delivery_id: '',
      order_type: order.orderType,
      order_id: order.orderId,
    },
  ];
}

/**
 * An unchanged reply says nothing new of the order; the first, a changed and the last one do. So does the
 * first of a run: a crash may have stored a reply's history and not yet what it told of the order.
 *
 * @param known before the reply
 */
function observations(
  reply: DecodedReply | null,
  known: KnownHistory,
  next: WatchedOrder,
  now: number,
): OrderObservationRow[] {
  if (reply?.ok === true) {
    const settledAt = next.phase === 'settled' ? now : null;
    const abandonedAt = next.phase === 'abandoned' ? now : null;
    const unchanged = reply.newEvents.length === 0 && readTold(known) === toldText(reply.observation);
    if (unchanged && settledAt === null && abandonedAt === null) return [];
    return [{ ...reply.observation, settled_at: settledAt, abandoned_at: abandonedAt }];
  }
  if (next.phase !== 'abandoned' || next.externalId === '') return [];
  // A late callback had it read again, and the gateway has forgotten it: its end is known all the same.
  if (FINAL_STATUSES.includes(next.lastStatus ?? '')) return [];
  const identity = {
    gateway: next.gateway,
    order_type: next.orderType,
    external_id: next.externalId,
    observed_at: now,
  };
  return [hint('watch', identity, { abandoned_at: now })];
}

/** What may change without a new item: a gateway corrects an amount, or names the currency later. */
function toldText({ status, amount, currency, external_transaction_id }: OrderObservationRow): string {
  return JSON.stringify([status, amount, currency, external_transaction_id]);
}

/** The record of an order's end, and the source of its root span. */
function settlement(order: WatchedOrder, known: KnownHistory, now: number): SettlementRow {
  const items = inTimeOrder([...readKnown(known).values()]);
  const decision = decide(items);
  return {
    gateway: order.gateway,
    order_type: order.orderType,
    external_id: order.externalId,
    settled_at: now,
    kind: order.phase,
    status: order.lastStatus,
    outcome: decision?.outcome ?? null,
    reason_group: decision?.item.code.reasonGroup ?? null,
    reason_detail: decision?.item.code.reasonDetail ?? null,
    history_items: items.length,
    external_transaction_id: order.externalTransactionId,
    channel: order.channel,
    first_event_at: items[0]?.time ?? order.firstSeenAt,
    last_event_at: items.at(-1)?.time ?? now,
  };
}

function pollRow(answer: StatusAnswer, outcome: PollRow['outcome'], reply: DecodedReply | null): PollRow {
  const { order } = answer;
  const failure = reply !== null && !reply.ok ? (reply.rejects[0]?.reason ?? '') : '';
  return {
    gateway: order.gateway,
    started_at: answer.startedAt,
    poll_id: answer.pollId,
    endpoint: answer.endpoint,
    order_type: order.orderType,
    order_id: order.orderId,
    id_kind: order.idKind,
    cause: answer.cause,
    http_status: answer.httpStatus,
    outcome,
    error_type: failure === '' ? answer.errorType : failure,
    duration_ms: answer.durationMs,
    lateness_ms: answer.latenessMs,
    reply_bytes: answer.bodyBytes,
    items: reply?.ok === true ? reply.items : 0,
    new_items: reply?.ok === true ? reply.newEvents.length : 0,
    refused_items: reply?.ok === true ? reply.refusedItems : 0,
    anomaly: reply?.ok === true ? reply.anomaly : '',
  };
}

function count(
  answer: StatusAnswer,
  bundle: RowBundle,
  reply: DecodedReply | null,
  context: PipelineContext,
): void {
  const { instruments } = context;
  const { gateway } = answer.order;
  const [poll] = bundle.polls ?? [];
  instruments.received.add(1, { source: 'poller' });
  instruments.polls.add(1, { gateway, outcome: poll?.outcome ?? answer.outcome });
  instruments.pollLateness.record(answer.latenessMs / 1000, { gateway });
  instruments.pollDuration.record(answer.durationMs / 1000, { gateway });
  for (const reject of bundle.rejects ?? []) instruments.rejects.add(1, { reason: reject.reason });
  for (const event of bundle.historyEvents ?? []) instruments.decoded.add(1, { format: event.code_format });
  if (reply?.ok === true) instruments.duplicatesAbsorbed.add(reply.items - reply.newEvents.length);
}
