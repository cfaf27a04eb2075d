import type { KafkaRecord } from '../sources/kafka/port.ts';
import { handleCallbacks } from './callbacks.ts';
import type { PipelineContext } from './context.ts';
import { coordinatesRange, toDelivery, toWatchRequest, type GatewayOfTopic } from './kafka-records.ts';
import { handleWatchRequests } from './watch-requests.ts';

/**
 * What becomes of records: each function resolves when everything that follows from them is stored.
 * @param admit throws while nothing new can be taken in
 */
export function kafkaHandlers(context: PipelineContext, admit: () => void) {
  const take = (records: readonly KafkaRecord[]) => {
    admit();
    context.instruments.received.add(records.length, { source: 'kafka' });
    return { kafkaRecords: records.length, coordinates: coordinatesRange(records) };
  };
  return {
    async callbacks(records: readonly KafkaRecord[], gatewayOf: GatewayOfTopic): Promise<void> {
      const provenance = take(records);
      const deliveries = records.map((record) => toDelivery(record, gatewayOf, context.clock.now()));
      await handleCallbacks(deliveries, context, provenance);
    },
    async watchRequests(records: readonly KafkaRecord[]): Promise<void> {
      const provenance = take(records);
      await handleWatchRequests(records.map(toWatchRequest), context, provenance);
    },
  };
}
