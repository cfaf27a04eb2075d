import type { KafkaRecord } from '../../schemas/kafka.ts';
import { handleCallbacks } from './callbacks.ts';
import type { PipelineContext } from './context.ts';
import {
  coordinatesRange,
  setApart,
  toDelivery,
  toWatchRequest,
  type GatewayOfTopic,
} from './kafka-records.ts';
import { handleWatchRequests } from './watch-requests.ts';

/**
 * What becomes of records: each function resolves when everything that follows from them is stored.
 * @param admit throws while nothing new can be taken in
 */
export function kafkaHandlers(context: PipelineContext, admit: () => void) {
  const take = async (records: readonly KafkaRecord[]) => {
    admit();
    context.instruments.received.add(records.length, { source: 'kafka' });
    const { readable, rejects } = setApart(records, context.clock.now());
    for (const { reason } of rejects) context.instruments.rejects.add(1, { reason });
    if (rejects.length > 0) await context.write({ rejects }, {});
    return {
      readable,
      provenance: { kafkaRecords: records.length, coordinates: coordinatesRange(records) },
    };
  };
  return {
    async callbacks(records: readonly KafkaRecord[], gatewayOf: GatewayOfTopic): Promise<void> {
      const { readable, provenance } = await take(records);
      const deliveries = readable.map((record) => toDelivery(record, gatewayOf, context.clock.now()));
      await handleCallbacks(deliveries, context, provenance);
    },
    async watchRequests(records: readonly KafkaRecord[]): Promise<void> {
      const { readable, provenance } = await take(records);
      await handleWatchRequests(readable.map(toWatchRequest), context, provenance);
    },
  };
}
