import type { OrderObservationRow, RejectRow, WatchRequestRow } from '../../schemas/rows.ts';
import type { WatchMessage } from '../../schemas/watch.ts';
import { stableId } from '../decode/ids.ts';
import type { Problem } from '../decode/problem.ts';
import { redact } from '../decode/redact.ts';
import type { Provenance } from '../sinks/port.ts';
import type { PipelineContext } from './context.ts';
import { hint } from './observation.ts';
import { takeUp, type OrderNews } from './take-up.ts';
import { toRow } from './watch-memory.ts';

/** A decoded watch message, or why it could not be decoded, with where it came from. */
export interface WatchRequest {
  readonly message: WatchMessage | null;
  readonly problem: Problem | null;
  readonly source: 'kafka' | 'http' | 'backfill' | 'redrive';
  /** Equal for the same message however often it is read. */
  readonly deliveryId: string;
  readonly coordinates: {
    readonly topic: string;
    readonly partition: number;
    readonly offset: number;
  } | null;
}

/** What is wrong with each request, null where nothing is: for senders who are told, and can mend it themselves. */
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
 * Takes watch requests to acknowledgement: the named orders are polled from then on. The message's amount, currency and
 * channel are kept as hints. Resolves with the problem of each request, null when it was taken.
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
      rejects.push(rejectRow(request, read.problem, read.gateway, now));
      context.instruments.rejects.add(1, {
        reason: read.gateway === null ? 'watch_message_malformed' : 'unknown_gateway',
      });
    } else {
      problems.push(null);
      news.push(read);
      watchRequests.push(requestRow(request, read, now));
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

type Read = OrderNews | { problem: Problem; gateway: string | null };
/** Names of the gateways that are configured. */
type Gateways = Pick<ReadonlySet<string>, 'has' | 'keys' | 'size'>;

function readNews({ message, problem }: WatchRequest, gateways: Gateways): Read {
  if (message === null) {
    return { problem: problem ?? { field: 'body', received: 'nothing', expected: 'JSON' }, gateway: null };
  }
  const only = gateways.size === 1 ? [...gateways.keys()][0] : undefined;
  const gateway = message.gateway ?? only;
  if (gateway === undefined || !gateways.has(gateway)) {
    const expected = `one of ${[...gateways.keys()].join(', ')}`;
    const received = gateway === undefined ? 'nothing' : redact(gateway);
    return { problem: { field: 'gateway', received, expected }, gateway: gateway ?? '' };
  }
  const { externalId, externalTransactionId } = message;
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

function rejectRow(request: WatchRequest, problem: Problem, gateway: string | null, now: number): RejectRow {
  return {
    gateway: gateway === null ? '' : redact(gateway),
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
