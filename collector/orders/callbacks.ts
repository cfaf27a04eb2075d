import type {
  CallbackDeliveryRow,
  OrderObservationRow,
  OrderWatchRow,
  RejectRow,
} from '../../schemas/rows.ts';
import { received } from '../../schemas/shape.ts';
import { watchKey } from '../../schemas/watch.ts';
import {
  decodeCallback,
  isVerified,
  type CallbackDelivery,
  type DecodedCallback,
} from '../decode/callback.ts';
import { stableId } from '../decode/ids.ts';
import { decimalText, storedDeliveryId, storedGateway } from '../decode/grammar.ts';
import type { Provenance } from '../../schemas/sink.ts';
import { textPolicy, type PipelineContext } from './context.ts';
import { hint } from './observation.ts';
import { takeUp, type OrderNews } from './track.ts';
import { toRow } from './watch-memory.ts';

/**
 * Takes callbacks from delivery to acknowledgement (design: flow). Each becomes a row with its verdict; one
 * that verifies makes the poller read the order now, one that does not is at most a reason to read an order
 * that is watched anyway. Resolves once all rows are stored, the watched orders' state included.
 */
export async function handleCallbacks(
  deliveries: readonly CallbackDelivery[],
  context: PipelineContext,
  provenance: Provenance,
): Promise<void> {
  const rows: CallbackDeliveryRow[] = [];
  const rejects: RejectRow[] = [];
  const verified: { news: OrderNews; decoded: DecodedCallback }[] = [];
  const doubted: OrderNews[] = [];
  for (const sent of deliveries) {
    const delivery = { ...sent, deliveryId: storedDeliveryId(sent.deliveryId, context.fingerprint) };
    const gateway = context.gateways.get(delivery.gateway);
    if (gateway === undefined) {
      rejects.push(unknownGateway(delivery, context));
      context.instruments.rejects.add(1, { reason: 'unknown_gateway' });
      continue;
    }
    const decoded = decodeCallback(delivery, gateway.callbackKeys, textPolicy(gateway, context));
    rows.push(decoded.row);
    context.instruments.callbacks.add(1, { verdict: decoded.verdict });
    if (decoded.callback === null) continue;
    const { externalId, orderType, amount, currency, status } = decoded.callback;
    const ref = { gateway: gateway.name, orderType, idKind: 'external-id', orderId: externalId } as const;
    if (isVerified(decoded.verdict)) {
      verified.push({ news: { ...ref, amount: decimalText(amount), currency, status }, decoded });
    } else {
      doubted.push(ref);
    }
  }
  const taken = await takeUp(
    verified.map(({ news }) => news),
    context,
  );
  const now = context.clock.now();
  const orderWatch: OrderWatchRow[] = [];
  for (const { order, changed } of taken.values()) {
    if (changed) orderWatch.push(toRow(order, now, context.collectorId));
  }
  const orderObservations = verified.map(({ news, decoded }) => observation(news, decoded));
  await context.write({ callbackDeliveries: rows, rejects, orderObservations, orderWatch }, provenance);
  for (const [key, { order, known }] of taken) {
    context.poller.takeUp(key, { order, known }, 'callback');
  }
  for (const ref of doubted) context.poller.nudge(ref.gateway, watchKey(ref));
}

/** The amount is signed, the currency is not. */
function observation(news: OrderNews, { row }: DecodedCallback): OrderObservationRow {
  const { gateway, orderType, orderId, amount, currency } = news;
  return hint(
    'callback',
    { gateway, order_type: orderType, external_id: orderId, observed_at: row.received_at },
    { amount: amount ?? null, currency: currency ?? null },
  );
}

function unknownGateway(delivery: CallbackDelivery, { fingerprint }: PipelineContext): RejectRow {
  return {
    gateway: storedGateway(delivery.gateway, fingerprint),
    reason: 'unknown_gateway',
    reject_id: stableId(`callback|${delivery.deliveryId}|${placeOf(delivery)}`),
    rejected_at: delivery.receivedAt,
    source: delivery.source,
    field: 'gateway',
    expected: 'the name of a configured gateway',
    received: received(delivery.gateway),
    content: `${delivery.body.byteLength} bytes`,
    topic: delivery.coordinates?.topic ?? '',
    kafka_partition: delivery.coordinates?.partition ?? null,
    kafka_offset: delivery.coordinates?.offset ?? null,
    delivery_id: delivery.deliveryId,
    order_type: null,
    order_id: null,
  };
}

/** A producer's retry has the same delivery id in another place: each of its records is accounted for. */
function placeOf({ coordinates }: CallbackDelivery): string {
  return coordinates === null ? '' : `${coordinates.topic}/${coordinates.partition}@${coordinates.offset}`;
}
