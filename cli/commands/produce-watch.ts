import type { KafkaConfig } from '../../schemas/config.ts';
import { keyOfWatchMessage, type WatchMessage } from '../../schemas/watch.ts';
import { kafkaConnection } from '../../collector/sources/kafka/options.ts';
import { createKafkaProducer } from '../../collector/sources/kafka/producer.ts';

/** The first message also waits for the connection. */
const SEND_TIMEOUT_MS = 10_000;

/**
 * Leaves watch messages on the watch topic (design: Kafka). Resolves when the brokers have them all.
 * @throws GatewatchError that says what is wrong with the brokers
 */
export async function produceWatchMessages(
  kafka: KafkaConfig,
  messages: readonly WatchMessage[],
): Promise<void> {
  const producer = createKafkaProducer({ ...kafkaConnection(kafka), sendTimeoutMs: SEND_TIMEOUT_MS });
  try {
    for (const message of messages) {
      await producer.send(kafka.watchTopic, {
        key: keyOfWatchMessage(message),
        value: Buffer.from(JSON.stringify(message)),
      });
    }
  } finally {
    await producer.stop();
  }
}
