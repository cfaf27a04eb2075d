import { yieldToEventLoop } from '../../schemas/deadline.ts';
import { rejectRow } from '../../schemas/reject-row.ts';
import type { CallbackDeliveryRow, RejectRow } from '../../schemas/rows.ts';
import { received } from '../../schemas/shape.ts';
import { watchKey, type WatchRef } from '../../schemas/watch.ts';
import { decodeCallback, isVerified, type CallbackDelivery } from '../decode/callback.ts';
import { stableId } from '../decode/ids.ts';
import { currencyCode, decimalText, storedGateway } from '../decode/grammar.ts';
import type { Provenance } from '../../schemas/sink.ts';
import { textPolicy, type OrdersContext } from './context.ts';
import { divideByOwner } from './owner-hint.ts';
import { applyHints, namedBy, rowsOf, trackAll } from './hints.ts';
import type { OrderHint } from './order-hint.ts';

/** Some 25 ms of work, after which the event loop gets its turn: senders wait for the intake. */
const CALLBACKS_PER_YIELD = 1_000;

/**
 * Takes callbacks from delivery to acknowledgement. Each becomes a row with its verdict. One whose
 * signature is right makes the poller read the order now, or, where another collector owns it, becomes a
 * hint to that one; a wrong one at most brings forward the next read of an order that is watched already.
 * Resolves once all rows are stored, the states of watched orders included, and the brokers have the hints;
 * the reads do not wait for that.
 * @param taken called when all that is left is to wait for the store
 */
export async function handleCallbacks(
  deliveries: readonly CallbackDelivery[],
  context: OrdersContext,
  provenance: Provenance,
  taken: () => void = () => undefined,
): Promise<void> {
  const rows: CallbackDeliveryRow[] = [];
  const rejects: RejectRow[] = [];
  const verified: OrderHint[] = [];
  const doubted: WatchRef[] = [];
  for (const [index, delivery] of deliveries.entries()) {
    if (index % CALLBACKS_PER_YIELD === CALLBACKS_PER_YIELD - 1) await yieldToEventLoop();
    const gateway = context.gateways.get(delivery.gateway);
    if (gateway === undefined) {
      rejects.push(unknownGateway(delivery, context));
      continue;
    }
    const { examiner } = context;
    const secrets = { keys: gateway.callbackKeys, seal: gateway.token };
    const decoded = decodeCallback(delivery, secrets, textPolicy(gateway, context), (mismatch) =>
      examiner.examine(gateway, mismatch),
    );
    rows.push(decoded.row);
    if (decoded.callback === null) continue;
    const { externalId, orderType, amount, currency, status } = decoded.callback;
    const ref = { gateway: gateway.name, orderType, idKind: 'external-id', orderId: externalId } as const;
    if (isVerified(decoded.verdict)) {
      if (amount !== null) {
        const signed = { externalId, status, amount, orderType };
        examiner.remember(gateway.name, signed, delivery.signatures[0] ?? '');
      }
      const calledAt = decoded.row.received_at;
      // The amount is signed, the currency is not.
      const facts = { amount: decimalText(amount), currency: currencyCode(currency) };
      verified.push({ ...ref, cause: 'callback', ...namedBy('callback', facts), status, calledAt });
    } else {
      doubted.push(ref);
    }
  }
  const { ours, others } = divideByOwner(verified, context);
  const changes = await applyHints(ours, context);
  const handedOver = context.handOver?.(others);
  const stored = context.write(
    { callbackDeliveries: rows, rejects, ...rowsOf(changes, context) },
    provenance,
  );
  // Orders are read meanwhile, so that a callback and the history that it brings share a batch. Where nothing
  // of it comes to be stored the callback is not acknowledged, and comes again.
  trackAll(changes.values(), context);
  for (const ref of doubted) context.tracked.nudge(watchKey(ref));
  taken();
  await Promise.all([stored, handedOver]);
}

function unknownGateway(delivery: CallbackDelivery, { fingerprint }: OrdersContext): RejectRow {
  return rejectRow({
    gateway: storedGateway(delivery.gateway, fingerprint),
    reason: 'unknown_gateway',
    rejectId: stableId(`callback|${delivery.deliveryId}|${placeOf(delivery)}`),
    rejectedAt: delivery.receivedAt,
    source: delivery.source,
    problem: {
      field: 'gateway',
      received: received(delivery.gateway),
      expected: 'the name of a configured gateway',
    },
    content: `${delivery.body.byteLength} bytes`,
    coordinates: delivery.coordinates,
    deliveryId: delivery.deliveryId,
  });
}

/** A producer's retry repeats the delivery id at another offset: the audit counts each record. */
function placeOf({ coordinates }: CallbackDelivery): string {
  return coordinates === null ? '' : `${coordinates.topic}/${coordinates.partition}@${coordinates.offset}`;
}
