import type { WatchRequest } from '../../schemas/watch-message.ts';
import type { OrderObservationRow, RejectRow, WatchRequestRow } from '../../schemas/rows.ts';
import { stableId } from '../decode/ids.ts';
import type { Problem } from '../../schemas/problem.ts';
import { received } from '../../schemas/shape.ts';
import { isCardLikeId } from '../../schemas/card-search.ts';
import { currencyCode, decimalText, storedChannel, storedGateway } from '../decode/grammar.ts';
import type { Provenance } from '../../schemas/sink.ts';
import type { PipelineContext } from './context.ts';
import { hint } from './observation.ts';
import { takeUp, type OrderNews } from './track.ts';
import { toRow } from './watch-memory.ts';

/**
 * What is wrong with each request, null where nothing is: for senders who are told, and can mend it
 * themselves.
 */
export function judgeWatchRequests(
  requests: readonly WatchRequest[],
  gateways: Gateways,
): (Problem | null)[] {
  return requests.map((request) => {
    const read = readNews(request, gateways);
    return 'problem' in read ? read.problem : null;
  });
}

/**
 * Takes watch requests to acknowledgement: the named orders are polled from then on. The message's amount,
 * currency and channel are kept as hints. Resolves with the problem of each request, null when it was taken.
 */
export async function handleWatchRequests(
  requests: readonly WatchRequest[],
  context: PipelineContext,
  provenance: Provenance,
): Promise<(Problem | null)[]> {
  const now = context.clock.now();
  const rejects: RejectRow[] = [];
  const news: OrderNews[] = [];
  const watchRequests: WatchRequestRow[] = [];
  const problems: (Problem | null)[] = [];
  for (const request of requests) {
    const read = readNews(request, context.gateways);
    if ('problem' in read) {
      problems.push(read.problem);
      rejects.push(rejectRow(request, read, context, now));
      context.instruments.rejects.add(1, {
        reason: read.gateway === null ? 'watch_message_malformed' : 'unknown_gateway',
      });
    } else {
      problems.push(null);
      const kept = keep(read, context);
      news.push(kept);
      watchRequests.push(requestRow(request, kept, now));
    }
  }
  const taken = await takeUp(news, context);
  const orderObservations: OrderObservationRow[] = news
    .filter((one) => one.idKind === 'external-id')
    .map((one) => observation(one, now));
  const orderWatch = [...taken.values()]
    .filter(({ changed }) => changed)
    .map(({ order }) => toRow(order, now, context.collectorId));
  await context.write({ watchRequests, orderObservations, rejects, orderWatch }, provenance);
  for (const [key, { order, known }] of taken) {
    context.poller.takeUp(key, { order, known }, 'watch');
  }
  return problems;
}

/** What may be kept of the hints that come with an order. */
function keep(news: OrderNews, { fingerprint }: PipelineContext): OrderNews {
  const { channel, amount, currency } = news;
  return {
    ...news,
    channel: channel === undefined ? undefined : storedChannel(channel, fingerprint),
    amount: decimalText(amount),
    currency: currencyCode(currency),
  };
}

type Read = OrderNews | { problem: Problem; gateway: string | null };
/** The gateways that are configured, by name. */
type Gateways = PipelineContext['gateways'];

function readNews({ message, problem }: WatchRequest, gateways: Gateways): Read {
  if (message === null) {
    return { problem: problem ?? { field: 'body', received: 'nothing', expected: 'JSON' }, gateway: null };
  }
  const only = gateways.size === 1 ? [...gateways.keys()][0] : undefined;
  const gateway = message.gateway ?? only;
  const config = gateways.get(gateway ?? '');
  if (gateway === undefined || config === undefined) {
    const expected = `one of ${[...gateways.keys()].join(', ')}`;
    return { problem: { field: 'gateway', received: received(gateway), expected }, gateway: gateway ?? '' };
  }
  const { externalId, externalTransactionId } = message;
  for (const field of ['externalId', 'externalTransactionId'] as const) {
    if (config.cardLikeIds === 'keep' || !isCardLikeId(message[field] ?? '')) continue;
    const expected = 'an id that does not look like a card number (or cardLikeIds: keep)';
    return { problem: { field, received: 'digits like a card number', expected }, gateway: null };
  }
  const orderId = externalId ?? externalTransactionId ?? '';
  return {
    gateway,
    orderType: message.orderType,
    idKind: externalId === undefined ? 'transaction-id' : 'external-id',
    orderId,
    channel: message.channel,
    amount: message.amount,
    currency: message.currency,
    externalTransactionId,
  };
}

/** A request that was taken is a row of its own: several may name one order, and each must be found again. */
function requestRow(request: WatchRequest, news: OrderNews, now: number): WatchRequestRow {
  return {
    gateway: news.gateway,
    received_at: now,
    request_id: request.deliveryId,
    order_type: news.orderType,
    id_kind: news.idKind,
    order_id: news.orderId,
    channel: news.channel ?? '',
    amount: news.amount ?? null,
    currency: news.currency ?? null,
    source: request.source,
    topic: request.coordinates?.topic ?? '',
    kafka_partition: request.coordinates?.partition ?? null,
    kafka_offset: request.coordinates?.offset ?? null,
  };
}

function observation(news: OrderNews, now: number): OrderObservationRow {
  return hint(
    'watch',
    { gateway: news.gateway, order_type: news.orderType, external_id: news.orderId, observed_at: now },
    {
      external_transaction_id: news.externalTransactionId ?? '',
      channel: news.channel ?? '',
      amount: news.amount ?? null,
      currency: news.currency ?? null,
    },
  );
}

function rejectRow(
  request: WatchRequest,
  { problem, gateway }: Extract<Read, { problem: Problem }>,
  { fingerprint }: PipelineContext,
  now: number,
): RejectRow {
  return {
    gateway: gateway === null ? '' : storedGateway(gateway, fingerprint),
    reason: gateway === null ? 'watch_message_malformed' : 'unknown_gateway',
    reject_id: stableId(`watch|${request.deliveryId}`),
    rejected_at: now,
    source: request.source,
    field: problem.field,
    expected: problem.expected,
    received: problem.received,
    content: '',
    topic: request.coordinates?.topic ?? '',
    kafka_partition: request.coordinates?.partition ?? null,
    kafka_offset: request.coordinates?.offset ?? null,
    delivery_id: request.deliveryId,
    order_type: request.message?.orderType ?? null,
    order_id: null,
  };
}
