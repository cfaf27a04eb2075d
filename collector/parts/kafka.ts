import type { OpenedStore } from '../../store/open.ts';
import { storedEnds, type KafkaPartition } from '../../store/stored-offsets.ts';
import type { Orders } from '../orders/orders.ts';
import type { KafkaInput } from '../sources/kafka/input.ts';
import { tracedBatches } from '../telemetry/traced-ports.ts';
import type { Base } from './base.ts';
import type { Sinks } from './sinks.ts';

/** Records of Kafka into orders; null: no Kafka is configured. */
export async function connectKafka(
  { config, gateways, log }: Base,
  { store }: OpenedStore,
  { sink }: Sinks,
  orders: Orders,
): Promise<KafkaInput | null> {
  if (config.kafka === undefined) return null;
  // The client and its codecs are loaded where they are used.
  const { createKafkaInput } = await import('../sources/kafka/input.ts');
  const handlers = {
    callbacks: tracedBatches(orders.takeCallbackRecords),
    watchRequests: tracedBatches(orders.takeWatchRecords),
    isStoreAway: () => sink.status().state === 'retrying',
    assigned: orders.assignmentChanged,
    storedEnds: (partitions: readonly KafkaPartition[]) => storedEnds(store, partitions),
  };
  return createKafkaInput(config.kafka, gateways, handlers, log);
}
