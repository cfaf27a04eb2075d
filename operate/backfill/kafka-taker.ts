import { keyOfWatchMessage, type WatchMessage } from '../../schemas/watch.ts';
import type { KafkaProducer } from '../../collector/sources/kafka/producer.ts';
import type { Taker } from './taker.ts';

/** Messages under way at once. */
const AT_ONCE = 50;

/** Leaves orders on the watch topic, where the next collector finds them. */
export function createKafkaTaker(producer: KafkaProducer, topic: string): Taker {
  const send = (message: WatchMessage) =>
    producer.send(topic, {
      key: keyOfWatchMessage(message),
      value: Buffer.from(JSON.stringify(message)),
    });
  return {
    name: `Kafka topic ${topic}`,
    ready: async () => undefined,
    async take(messages) {
      const todo = messages.values();
      const lane = async (): Promise<void> => {
        for (const message of todo) await send(message);
      };
      await Promise.all(Array.from({ length: AT_ONCE }, lane));
      return new Map();
    },
    close: () => producer.stop(),
  };
}
