import type { DecodedCode } from '../../schemas/code.ts';
import { OUTCOME_OF_GROUP, STAGES, type Outcome, type Stage } from '../../schemas/dictionary.ts';
import { furthestStep, type FormStep } from '../../schemas/payform.ts';
import type { EpochMicros, OrderRow } from '../../schemas/rows.ts';
import type { WatchedOrder } from '../../schemas/watch.ts';
import { currencyCode, decimalText } from './grammar.ts';
import { inTimeOrder, type DecodedItem, type SeenItem } from './history.ts';

/**
 * What the history says of its order: one fact a name, null where it did not happen (interface document,
 * section 2.4). Times are those of the items.
 */
export interface FoldedHistory {
  /** null: the order is pending. */
  readonly outcome: Outcome | null;
  /** The item that decides: the latest with state SUCCESS or FAILED. The order is final at its time. */
  readonly deciding: DecodedItem | null;
  readonly furthestStep: FormStep | null;
  /** Of failing items, each once, in rising order. */
  readonly reasons: readonly number[];
  /** Where an operation failed, in the order of the stages. */
  readonly failedStages: readonly Stage[];
  readonly items: number;
  /** The first item. */
  readonly createdAt: EpochMicros | null;
  /** The gateway accepted the order: first success at stage 2. */
  readonly gatewayCreatedAt: EpochMicros | null;
  readonly formShownAt: EpochMicros | null;
  readonly formSubmittedAt: EpochMicros | null;
  /** First item that only an order in processing has. */
  readonly processingAt: EpochMicros | null;
  /** First failed operation with a reason of the groups TECH or AUTHZ. */
  readonly firstTechnicalFailureAt: EpochMicros | null;
  readonly firstFailedAt: EpochMicros | null;
  readonly firstPaidAt: EpochMicros | null;
  /** The merchant acknowledged a callback: first 6.1.1.00. */
  readonly merchantCallbackAt: EpochMicros | null;
  readonly lastItemAt: EpochMicros | null;
}

/**
 * Folds the whole history of an order, its items in any order. The one definition of outcome, deciding item,
 * steps and stages: whoever stores one of these facts takes it from here.
 */
export function foldHistory(history: readonly DecodedItem[]): FoldedHistory {
  const items = inTimeOrder(history);
  const deciding = items.findLast(({ code }) => isDeciding(code)) ?? null;
  const firstTime = (meets: (code: DecodedCode) => boolean): EpochMicros | null =>
    items.find(({ code }) => meets(code))?.time ?? null;
  const codes = items.map(({ code }) => code);
  const failedStages = new Set(codes.filter(isFailedOperation).map(({ stage }) => stage));
  return {
    outcome: deciding === null ? null : outcomeOf(deciding.code),
    deciding,
    furthestStep: furthestStep(codes),
    reasons: [...new Set(codes.filter(isFailing).map(({ reasonCode }) => reasonCode ?? 0))].toSorted(
      (a, b) => a - b,
    ),
    failedStages: STAGES.map(({ name }) => name).filter((name) => failedStages.has(name)),
    items: items.length,
    createdAt: items[0]?.time ?? null,
    gatewayCreatedAt: firstTime(({ stage, result }) => stage === 'GATEWAY_CREATE' && result === 'SUCCESS'),
    formShownAt: firstTime(({ stage }) => stage === 'PAYFORM'),
    formSubmittedAt: firstTime(({ action }) => action === '3.1.1.55'),
    processingAt: firstTime(isInProcessing),
    firstTechnicalFailureAt: firstTime(isTechnicalFailure),
    firstFailedAt: firstTime(({ state }) => state === 'FAILED'),
    firstPaidAt: firstTime(({ state }) => state === 'SUCCESS'),
    merchantCallbackAt: firstTime(({ action }) => action === '6.1.1.00'),
    lastItemAt: items.at(-1)?.time ?? null,
  };
}

/** When a final state was first seen: items that were first seen after it came late. null: none was. */
export function finalSeenAt(items: readonly SeenItem[]): EpochMicros | null {
  const times = items.filter(({ code }) => isDeciding(code)).map(({ observedAt }) => observedAt);
  return times.length === 0 ? null : Math.min(...times);
}

/**
 * The whole row of an order: what its history says, and what status replies, callbacks and watch messages
 * said of it. The same for any order in which items and facts arrived.
 *
 * @param history all items that are known, in any order
 * @param observedAt time of the status reply, callback or watch message after which the row is written
 */
export function foldOrder(
  order: WatchedOrder,
  history: readonly SeenItem[],
  observedAt: EpochMicros,
): OrderRow {
  const items = inTimeOrder(history);
  const folded = foldHistory(items);
  const code = folded.deciding?.code ?? null;
  const finalSeen = finalSeenAt(items);
  const currency = currencyCode(order.currency);
  return {
    gateway: order.gateway,
    order_type: order.orderType,
    external_id: order.externalId,
    external_transaction_id: order.externalTransactionId,
    channel: order.channel,
    status: order.lastStatus,
    amount: decimalText(order.amount, currency),
    amount_source: order.amountSource,
    currency,
    currency_source: order.currencySource,
    outcome: folded.outcome,
    deciding_action: code?.action ?? null,
    reason_code: code?.reasonCode ?? null,
    reason_group: code?.reasonGroup ?? null,
    reason_detail: code?.reasonDetail ?? null,
    furthest_step: folded.furthestStep,
    reasons: folded.reasons,
    failed_stages: folded.failedStages,
    created_at: folded.createdAt,
    gateway_created_at: folded.gatewayCreatedAt,
    form_shown_at: folded.formShownAt,
    form_submitted_at: folded.formSubmittedAt,
    processing_at: folded.processingAt,
    first_technical_failure_at: folded.firstTechnicalFailureAt,
    first_failed_at: folded.firstFailedAt,
    first_paid_at: folded.firstPaidAt,
    final_at: folded.deciding?.time ?? null,
    merchant_callback_at: folded.merchantCallbackAt,
    last_item_at: folded.lastItemAt,
    first_seen_at: order.firstSeenAt,
    observed_at: observedAt,
    settled_at: order.phase === 'settled' ? observedAt : null,
    abandoned_at: order.phase === 'abandoned' ? observedAt : null,
    history_items: folded.items,
    late_items: finalSeen === null ? 0 : items.filter((item) => item.observedAt > finalSeen).length,
    'history.time': items.map(({ time }) => time),
    'history.action': items.map((item) => item.code.action),
    'history.stage': items.map((item) => item.code.stage),
    'history.result': items.map((item) => item.code.result),
    'history.state': items.map((item) => item.code.state),
    'history.reason_code': items.map((item) => item.code.reasonCode),
    'history.occurrence': items.map(({ occurrence }) => occurrence),
    'history.list_position': items.map(({ position }) => position),
    'history.observed_at': items.map((item) => item.observedAt),
  };
}

/** Information that follows a deciding item carries earlier states: it never reopens the order. */
const isDeciding = ({ state }: DecodedCode): boolean => state === 'SUCCESS' || state === 'FAILED';
const isFailedOperation = ({ result }: DecodedCode): boolean => result === 'FAILURE';
/** The operation failed, or the payment did: issuer and risk declines are successful checks. */
const isFailing = (code: DecodedCode): boolean => isFailedOperation(code) || code.state === 'FAILED';
const isTechnicalFailure = (code: DecodedCode): boolean =>
  isFailedOperation(code) && OUTCOME_OF_GROUP[code.reasonGroup ?? 'NONE'] === 'technical_failure';
const isInProcessing = ({ reasonCode, stage, state }: DecodedCode): boolean =>
  reasonCode === 55 || stage === 'CHECK' || stage === 'GATEWAY_CALLBACK' || state === 'PROCESSING';
const outcomeOf = ({ state, reasonGroup }: DecodedCode): Outcome =>
  state === 'SUCCESS' ? 'succeeded' : OUTCOME_OF_GROUP[reasonGroup ?? 'NONE'];
