import type { WatchRequest } from '../../schemas/watch-message.ts';
import { refuse, type Decoded, type Rejected } from '../../schemas/decoded.ts';
import { rejectRow } from '../../schemas/reject-row.ts';
import type { OrderClaimRow, RejectRow, WatchRequestRow } from '../../schemas/rows.ts';
import { stableId } from '../decode/ids.ts';
import type { Problem } from '../../schemas/problem.ts';
import { received } from '../../schemas/shape.ts';
import { isCardLikeId } from '../../schemas/card-search.ts';
import { currencyCode, decimalText, storedChannel, storedGateway } from '../decode/grammar.ts';
import type { Provenance } from '../../schemas/sink.ts';
import type { OrdersContext } from './context.ts';
import { watchClaims } from './claims.ts';
import { applyHints, namedBy, rowsOf, trackAll, type OrderHint } from './hints.ts';

/**
 * What is wrong with each request, null where nothing is: for senders, who get it as the
 * answer and can mend it.
 */
export function judgeWatchRequests(
  requests: readonly WatchRequest[],
  gateways: Gateways,
): (Problem | null)[] {
  return requests.map((request) => {
    const read = readHint(request, gateways);
    return read.ok ? null : read.problem;
  });
}

/**
 * Takes watch requests to acknowledgement: the named orders are polled from then on. The message's amount,
 * currency and channel are kept as hints. Resolves with the problem of each request, null when it was taken.
 */
export async function handleWatchRequests(
  requests: readonly WatchRequest[],
  context: OrdersContext,
  provenance: Provenance,
): Promise<(Problem | null)[]> {
  const now = context.clock.now();
  const rejects: RejectRow[] = [];
  const hints: OrderHint[] = [];
  const watchRequests: WatchRequestRow[] = [];
  const problems: (Problem | null)[] = [];
  for (const request of requests) {
    const read = readHint(request, context.gateways);
    problems.push(read.ok ? null : read.problem);
    if (!read.ok) {
      rejects.push(refusedRow(request, read, context, now));
    } else {
      const kept = keep(read.hint, context);
      hints.push(kept);
      watchRequests.push(requestRow(request, kept, now));
    }
  }
  const changes = await applyHints(hints, context);
  const orderClaims: OrderClaimRow[] = hints
    .filter((one) => one.idKind === 'external-id')
    .flatMap((one) => watchClaims({ ...one, externalId: one.orderId }, one, now));
  await context.write({ watchRequests, orderClaims, rejects, ...rowsOf(changes, context) }, provenance);
  trackAll(changes, 'watch', context);
  return problems;
}

/** What may be kept of the hints that come with an order. */
function keep(named: OrderHint, { fingerprint }: OrdersContext): OrderHint {
  const { channel, amount, currency } = named;
  return {
    ...named,
    channel: channel === undefined ? undefined : storedChannel(channel, fingerprint),
    ...namedBy('watch', { amount: decimalText(amount), currency: currencyCode(currency) }),
  };
}

/** The gateway that a refused request names; null when that is not what is wrong. */
type ReadHint = Decoded<{ readonly hint: OrderHint }, Rejected & { readonly gateway: string | null }>;
/** The gateways that are configured, by name. */
type Gateways = OrdersContext['gateways'];

const malformed = (problem: Problem) => ({ ...refuse('watch_message_malformed', problem), gateway: null });

function readHint({ message, problem }: WatchRequest, gateways: Gateways): ReadHint {
  if (message === null) {
    return malformed(problem ?? { field: 'body', received: 'nothing', expected: 'JSON' });
  }
  const only = gateways.size === 1 ? [...gateways.keys()][0] : undefined;
  const gateway = message.gateway ?? only;
  const config = gateways.get(gateway ?? '');
  if (gateway === undefined || config === undefined) {
    const expected = `one of ${[...gateways.keys()].join(', ')}`;
    const wrong = { field: 'gateway', received: received(gateway), expected };
    return { ...refuse('unknown_gateway', wrong), gateway: gateway ?? '' };
  }
  const { externalId, externalTransactionId } = message;
  for (const field of ['externalId', 'externalTransactionId'] as const) {
    if (config.cardLikeIds === 'keep' || !isCardLikeId(message[field] ?? '')) continue;
    const expected = 'an id that does not look like a card number (or cardLikeIds: keep)';
    return malformed({ field, received: 'digits like a card number', expected });
  }
  const orderId = externalId ?? externalTransactionId ?? '';
  return {
    ok: true,
    hint: {
      gateway,
      orderType: message.orderType,
      idKind: externalId === undefined ? 'transaction-id' : 'external-id',
      orderId,
      channel: message.channel,
      amount: message.amount,
      currency: message.currency,
      externalTransactionId,
    },
  };
}

/** A request that was taken is a row of its own: several may name one order, and each must be found again. */
function requestRow(request: WatchRequest, named: OrderHint, now: number): WatchRequestRow {
  return {
    gateway: named.gateway,
    received_at: now,
    request_id: request.deliveryId,
    order_type: named.orderType,
    id_kind: named.idKind,
    order_id: named.orderId,
    channel: named.channel ?? '',
    amount: named.amount ?? null,
    currency: named.currency ?? null,
    source: request.source,
    topic: request.coordinates?.topic ?? '',
    kafka_partition: request.coordinates?.partition ?? null,
    kafka_offset: request.coordinates?.offset ?? null,
  };
}

function refusedRow(
  request: WatchRequest,
  { reason, problem, gateway }: Extract<ReadHint, { ok: false }>,
  { fingerprint }: OrdersContext,
  now: number,
): RejectRow {
  return rejectRow({
    gateway: gateway === null ? '' : storedGateway(gateway, fingerprint),
    reason,
    rejectId: stableId(`watch|${request.deliveryId}`),
    rejectedAt: now,
    source: request.source,
    problem,
    coordinates: request.coordinates,
    deliveryId: request.deliveryId,
    orderType: request.message?.orderType ?? null,
  });
}
