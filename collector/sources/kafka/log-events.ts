import type { Logger } from 'pino';
import type { KafkaEvent } from './port.ts';

/**
 * Kafka's events as log lines: what a person should act on is a warning or an error, the rest is for
 * debugging.
 */
export function logKafkaEvent(log: Logger, event: KafkaEvent): void {
  const { type } = event;
  switch (event.type) {
    case 'connected':
      return log.info({ brokers: event.brokers }, 'kafka: connected');
    case 'unreachable':
    case 'crash':
      return log.warn({ reason: event.error.message, retryInMs: event.retryInMs }, `kafka: ${type}`);
    case 'topic_missing':
      return log.warn({ topics: event.topics, reason: event.error.message }, 'kafka: topic missing');
    case 'topic_created':
      return log.info({ topics: event.topics }, 'kafka: topic created');
    case 'read_again':
      return log.warn(
        { partitions: event.partitions },
        'kafka: the store does not know all that the group has read: reading that again',
      );
    case 'group_join':
      return log.info(
        { generation: event.generation, assignment: event.assignment },
        'kafka: joined the group',
      );
    case 'paused':
      return log.warn(
        { ...partitionOf(event), reason: event.error.message, retryInMs: event.retryInMs },
        'kafka: paused',
      );
    case 'resumed':
      return log.info(partitionOf(event), 'kafka: resumed');
    case 'commit_failed':
      return log.warn(
        { ...partitionOf(event), reason: event.error.message },
        'kafka: commit failed, records are read again',
      );
    case 'offset_gap':
      return log.warn(event, 'kafka: records are missing between two offsets');
    case 'stalled':
      return log.error({ partitions: event.partitions }, 'kafka: no progress although there are records');
    case 'fatal':
      return log.error({ reason: event.error.message }, 'kafka: the consumer ended');
    case 'client_log':
      return log.debug({ text: event.message }, 'kafka: client');
    default:
      return log.debug(event, `kafka: ${type}`);
  }
}

function partitionOf(event: { topic: string; partition: number }) {
  return { topic: event.topic, partition: event.partition };
}
