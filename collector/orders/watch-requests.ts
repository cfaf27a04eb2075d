import type { WatchRequest } from '../../schemas/watch-message.ts';
import { refuse, type Decoded, type Rejected } from '../../schemas/decoded.ts';
import type { Coordinates } from '../../schemas/kafka.ts';
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
import { coordinatesRange } from './coordinates.ts';
import { applyHints, namedBy, rowsOf, trackAll, type TrackedChange } from './hints.ts';
import type { OrderHint } from './order-hint.ts';
import { divideByOwner } from './owner-hint.ts';

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
 * currency and channel are kept as hints. Those of orders that another collector owns are handed to that one.
 * Hints of other collectors name orders of ours: a callback's is read at once, as the callback would be.
 * Resolves with the problem of each request, null when it was taken.
 */
export async function handleWatchRequests(
  requests: readonly WatchRequest[],
  context: OrdersContext,
  provenance: Provenance,
): Promise<(Problem | null)[]> {
  const now = context.clock.now();
  const { problems, rejects, asked, hinted } = readRequests(requests, context, now);
  const { ours, others } = divideByOwner(asked.hints, context);
  await context.handOver?.(others);
  const changes = await applyHints([...hinted.hints, ...ours], context);
  const orderClaims: OrderClaimRow[] = asked.hints
    .filter((one) => one.idKind === 'external-id')
    .flatMap((one) => watchClaims({ ...one, externalId: one.orderId }, one, now));
  const stored = context.write(
    { watchRequests: asked.rows, orderClaims, rejects, ...rowsOf(changes, context) },
    { ...provenance, hintCoordinates: coordinatesRange(hinted.places) },
  );
  const isCalled = ({ cause }: TrackedChange) => cause === 'callback';
  const all = [...changes.values()];
  trackAll(all.filter(isCalled), context);
  await stored;
  trackAll(
    all.filter((one) => !isCalled(one)),
    context,
  );
  return problems;
}

/** What was named, by whom, and what could not be read. */
function readRequests(requests: readonly WatchRequest[], context: OrdersContext, now: number) {
  const problems: (Problem | null)[] = [];
  const rejects: RejectRow[] = [];
  const asked = { hints: [] as OrderHint[], rows: [] as WatchRequestRow[] };
  const hinted = { hints: [] as OrderHint[], places: [] as Coordinates[] };
  for (const request of requests) {
    const read = readHint(request, context.gateways);
    problems.push(read.ok ? null : read.problem);
    if (!read.ok) {
      rejects.push(refusedRow(request, read, context, now));
      continue;
    }
    const kept = keep(read.hint, context);
    if (isOfCollector(request)) {
      hinted.hints.push(kept);
      if (request.coordinates !== null) hinted.places.push(request.coordinates);
    } else {
      asked.hints.push(kept);
      asked.rows.push(requestRow(request, kept, now));
    }
  }
  return { problems, rejects, asked, hinted };
}

/** What may be kept of the hints that come with an order. */
function keep(named: OrderHint, { fingerprint }: OrdersContext): OrderHint {
  const { cause, channel, amount, currency } = named;
  return {
    ...named,
    channel: channel === undefined ? undefined : storedChannel(channel, fingerprint),
    ...namedBy(cause, { amount: decimalText(amount), currency: currencyCode(currency) }),
  };
}

/** The gateway that a refused request names; null when that is not what is wrong. */
type ReadHint = Decoded<{ readonly hint: OrderHint }, Rejected & { readonly gateway: string | null }>;
/** The gateways that are configured, by name. */
type Gateways = OrdersContext['gateways'];

/** It comes from another collector, which is no merchant's request. */
const isOfCollector = ({ hint }: WatchRequest): boolean => hint !== undefined;

const malformed = (request: WatchRequest, problem: Problem) => ({
  ...refuse(isOfCollector(request) ? 'hint_malformed' : 'watch_message_malformed', problem),
  gateway: null,
});

function readHint(request: WatchRequest, gateways: Gateways): ReadHint {
  const named = namedOrder(request);
  if (named === null) {
    const nothing = { field: 'body', received: 'nothing', expected: 'JSON' };
    return malformed(request, request.problem ?? nothing);
  }
  const only = gateways.size === 1 ? [...gateways.keys()][0] : undefined;
  const gateway = named.gateway ?? only;
  const config = gateways.get(gateway ?? '');
  if (gateway === undefined || config === undefined) {
    const expected = `one of ${[...gateways.keys()].join(', ')}`;
    const wrong = { field: 'gateway', received: received(gateway), expected };
    return { ...refuse('unknown_gateway', wrong), gateway: gateway ?? '' };
  }
  const { idKind, orderId, externalTransactionId = '' } = named;
  const ids = [
    [idKind === 'external-id' ? 'externalId' : 'externalTransactionId', orderId],
    ['externalTransactionId', externalTransactionId],
  ] as const;
  for (const [field, id] of ids) {
    if (config.cardLikeIds === 'keep' || !isCardLikeId(id)) continue;
    const expected = 'an id that does not look like a card number (or cardLikeIds: keep)';
    return malformed(request, { field, received: 'digits like a card number', expected });
  }
  return { ok: true, hint: { ...named, gateway } };
}

/** The order that a request names; null when it could not be read. */
function namedOrder({
  message,
  hint = null,
}: WatchRequest): (Omit<OrderHint, 'gateway'> & { readonly gateway?: string | undefined }) | null {
  if (hint !== null) return hint;
  if (message === null) return null;
  const { externalId, externalTransactionId } = message;
  return {
    gateway: message.gateway,
    orderType: message.orderType,
    idKind: externalId === undefined ? 'transaction-id' : 'external-id',
    orderId: externalId ?? externalTransactionId ?? '',
    cause: 'watch',
    channel: message.channel,
    amount: message.amount,
    currency: message.currency,
    externalTransactionId,
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
    orderType: (request.hint ?? request.message)?.orderType ?? null,
  });
}
