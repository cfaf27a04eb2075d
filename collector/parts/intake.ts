import { OWN_ATTRIBUTES } from '../../schemas/own-spans.ts';
import { acknowledgedWithin } from '../backpressure.ts';
import type { Orders } from '../orders/orders.ts';
import { toKafkaMessage } from '../orders/to-kafka-message.ts';
import type { ListenerParts } from '../sources/http/listeners.ts';
import type { KafkaInput } from '../sources/kafka/input.ts';
import { withSpan } from '../telemetry/own-spans.ts';
import type { Base } from './base.ts';

/** How long a sender of callbacks waits for its answer at most. */
const INTAKE_DEADLINE_MS = 5_000;

/** Callbacks over HTTP: onto Kafka where there is one, and into the store otherwise. */
export function createIntake(
  { config, gateways, stamp, health, instruments }: Base,
  orders: Orders,
  kafka: KafkaInput | null,
): ListenerParts['intake'] {
  return {
    onReceived: () => instruments.received.add(1, { source: 'http' }),
    accept: (delivery) =>
      withSpan('intake', { [OWN_ATTRIBUTES.gateway]: delivery.gateway }, async () => {
        // With Kafka a callback is durable without the store.
        if (kafka !== null)
          return kafka.produce(
            toKafkaMessage(delivery, gateways, config.kafka?.callbackBodies, orders.examiner),
          );
        const received = { ...delivery, receivedAt: stamp(), source: 'http', coordinates: null } as const;
        await health.whenReady(() =>
          acknowledgedWithin(orders.takeCallbacks([received], { httpDeliveries: 1 }), INTAKE_DEADLINE_MS),
        );
      }),
  };
}
