import type { PollRow, ReadNews } from '../../schemas/rows.ts';
import type { DecodedReply } from '../decode/status-reply.ts';
import type { PolledReply } from './poller-contract.ts';

/** The row of a status request. */
export function pollRow(
  reply: PolledReply,
  outcome: PollRow['outcome'],
  decoded: DecodedReply | null,
  news: ReadNews,
): PollRow {
  const { order } = reply;
  const content = decoded?.ok === true ? decoded : null;
  return {
    gateway: order.gateway,
    started_at: reply.startedAt,
    poll_id: reply.pollId,
    endpoint: reply.endpoint,
    order_type: order.orderType,
    order_id: order.orderId,
    id_kind: order.idKind,
    cause: reply.cause,
    http_status: reply.httpStatus,
    outcome,
    error_type: decoded?.ok === false ? decoded.reason : reply.errorType,
    duration_ms: reply.durationMs,
    lateness_ms: reply.latenessMs,
    reply_bytes: reply.bodyBytes,
    items: content?.items ?? 0,
    new_items: content?.newEvents.length ?? 0,
    refused_items: content?.refusedItems ?? 0,
    anomaly: content?.anomaly ?? '',
    missing_items: content?.missing.count ?? 0,
    missing_item: content?.missing.first ?? '',
    news,
  };
}
