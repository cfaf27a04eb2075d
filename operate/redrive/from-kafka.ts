import type { RejectResolutionRow } from '../../schemas/rows.ts';
import { handleCallbacks } from '../../collector/orders/callbacks.ts';
import {
  coordinatesRange,
  toDelivery,
  toWatchRequest,
  type GatewayOfTopic,
} from '../../collector/orders/kafka-records.ts';
import { handleWatchRequests } from '../../collector/orders/watch-requests.ts';
import type { KafkaRecord } from '../../schemas/kafka.ts';
import type { OfflinePipeline } from './offline-pipeline.ts';
import type { OpenReject } from './open-rejects.ts';

export interface KafkaTopics {
  readonly callbacks: readonly string[];
  readonly watch: string;
  readonly gatewayOf: GatewayOfTopic;
}

/** Where a record lies, as text. */
export const placeText = (place: {
  topic: string;
  partition: number | null;
  offset: number | string | null;
}) => `${place.topic}/${place.partition}@${place.offset}`;

/** Kafka's rejects by the place of their record; several may stand for one record. */
export function byPlace(rejects: readonly OpenReject[]): Map<string, OpenReject[]> {
  const places = new Map<string, OpenReject[]>();
  for (const reject of rejects) {
    const list = places.get(placeText(reject)) ?? [];
    list.push(reject);
    places.set(placeText(reject), list);
  }
  return places;
}

/**
 * Takes records of one partition, whose rejects are given, through the collector's own steps. Resolves with
 * the rejects that this has set right, once all rows are acknowledged; the others would be rejected again.
 *
 * Identities are those of the first time: what was stored meanwhile is not stored twice, and a callback was
 * received when it was rejected.
 */
export async function takeAgain(
  found: readonly KafkaRecord[],
  rejects: ReadonlyMap<string, readonly OpenReject[]>,
  topics: KafkaTopics,
  pipeline: OfflinePipeline,
): Promise<OpenReject[]> {
  const { context } = pipeline;
  const records = found.filter((record) => record.unreadable === undefined);
  const rejectsOf = (record: KafkaRecord) => rejects.get(placeText(record)) ?? [];
  const provenance = { kafkaRecords: records.length, coordinates: coordinatesRange(records) };
  const [first] = records;
  if (first === undefined) return [];
  if (first.topic === topics.watch) {
    const problems = await handleWatchRequests(records.map(toWatchRequest), context, provenance);
    return records.flatMap((record, index) => (problems[index] === null ? rejectsOf(record) : []));
  }
  const deliveries = records.map((record) => {
    const rejectedAt = rejectsOf(record).map((reject) => reject.rejected_at);
    return toDelivery(record, topics.gatewayOf, Math.min(context.clock.now(), ...rejectedAt));
  });
  await handleCallbacks(deliveries, context, provenance);
  return records.flatMap((record, index) =>
    context.gateways.has(deliveries[index]?.gateway ?? '') ? rejectsOf(record) : [],
  );
}

export function resolutionOf(
  { gateway, reason, reject_id }: OpenReject,
  resolution: 'stored' | 'read_again',
  resolvedAt: number,
): RejectResolutionRow {
  return { gateway, reason, reject_id, resolved_at: resolvedAt, resolution };
}
