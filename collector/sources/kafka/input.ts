import type { Logger } from 'pino';
import type { GatewayConfig, KafkaConfig } from '../../../schemas/config.ts';
import { createKafkaSource } from './consumer.ts';
import type { KafkaRecord } from '../../../schemas/kafka.ts';
import type { KafkaSource, KafkaSourceOptions } from './port.ts';
import { createKafkaProducer, type ProducedMessage } from './producer.ts';
import { callbackTopicNames, gatewayOfTopic, kafkaConnection } from './options.ts';
import { logKafkaEvent } from './log-events.ts';

/** Partitions of topics that we create ourselves. */
const NEW_TOPIC_PARTITIONS = 6;
/** Some 150 kB: a broker takes a megabyte at once, where nobody changed that. */
const HINTS_A_REQUEST = 500;

export interface KafkaInput {
  readonly source: KafkaSource;
  /** The partitions of the watch topic that this collector has, of how many; null: not known. */
  assignment(): ReturnType<KafkaSource['assignment']>;
  /** How sure that is; null: it has none yet. */
  tenure(): ReturnType<KafkaSource['tenure']>;
  /** Produces a callback of our own intake to its topic. Resolves once the brokers have it. */
  produce(message: ProducedMessage): Promise<void>;
  /** Produces hints to the watch topic. Resolves once the brokers have all of them. */
  produceHints(messages: readonly ProducedMessage[]): Promise<void>;
  stop(): Promise<void>;
}

export interface KafkaHandlers {
  /** Resolves when everything that follows from the records is stored; see `HandleContext.taken`. */
  readonly callbacks: (
    records: readonly KafkaRecord[],
    gatewayOf: (topic: string) => string | undefined,
    taken: () => void,
  ) => Promise<void>;
  readonly watchRequests: (records: readonly KafkaRecord[]) => Promise<void>;
  /** How far the store knows each partition. */
  readonly storedEnds: NonNullable<KafkaSourceOptions['storedEnds']>;
  /** The store does not take rows at present: handlers wait for it. */
  readonly isStoreAway: () => boolean;
  /** The group has assigned its partitions again. */
  readonly assigned: () => void;
}

/**
 * Kafka as configured: a source over the callback topics and the watch topic, and a producer.
 */
export function createKafkaInput(
  kafka: KafkaConfig,
  gateways: ReadonlyMap<string, GatewayConfig>,
  handlers: KafkaHandlers,
  log: Logger,
): KafkaInput {
  const connection = kafkaConnection(kafka);
  const callbackTopics = callbackTopicNames(kafka);
  const gatewayOf = gatewayOfTopic(kafka, [...gateways.keys()]);
  const producer = createKafkaProducer(connection);
  const source = createKafkaSource({
    ...connection,
    groupId: kafka.groupId,
    topics: [...callbackTopics, kafka.watchTopic],
    sessionTimeoutMs: kafka.sessionTimeoutMs,
    storedEnds: handlers.storedEnds,
    isStoreAway: handlers.isStoreAway,
    ...(kafka.createTopics ? { createTopics: { partitions: NEW_TOPIC_PARTITIONS } } : {}),
    onEvent(event) {
      logKafkaEvent(log, event);
      if (event.type === 'group_join') handlers.assigned();
    },
    handle: (records, { taken }) =>
      records[0]?.topic === kafka.watchTopic
        ? handlers.watchRequests(records)
        : handlers.callbacks(records, gatewayOf, taken),
  });
  return {
    source,
    assignment: () => source.assignment(kafka.watchTopic),
    tenure: () => source.tenure(kafka.watchTopic),
    produce: async (message) => void (await producer.send(callbackTopics[0] ?? '', message)),
    async produceHints(messages) {
      for (let from = 0; from < messages.length; from += HINTS_A_REQUEST)
        await producer.sendAll(kafka.watchTopic, messages.slice(from, from + HINTS_A_REQUEST));
    },
    stop: async () => void (await Promise.all([source.stop(), producer.stop()])),
  };
}
