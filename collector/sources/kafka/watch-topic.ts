import type { KafkaConfig } from '../../../schemas/config.ts';
import { canonicalId } from '../../../schemas/order-id.ts';
import { watchTopicKey, type WatchMessage } from '../../../schemas/watch.ts';
import { kafkaConnection } from './options.ts';
import { createKafkaProducer } from './producer.ts';

/** Sends requests to the watch topic, where the owner of the order reads them. */
export interface WatchTopic {
  /** Resolves when the brokers have the message. @throws GatewatchError that says what is wrong with them */
  send(message: WatchMessage): Promise<void>;
  stop(): Promise<void>;
}

/** The first message also waits for the connection. */
const SEND_TIMEOUT_MS = 10_000;

export function createWatchTopic(kafka: KafkaConfig): WatchTopic {
  const producer = createKafkaProducer({ ...kafkaConnection(kafka), sendTimeoutMs: SEND_TIMEOUT_MS });
  return {
    async send(message) {
      const { gateway = '', orderType, externalId, externalTransactionId = '' } = message;
      const orderId = externalId === undefined ? externalTransactionId : canonicalId(externalId);
      await producer.send(kafka.watchTopic, {
        key: watchTopicKey({ gateway, orderType, orderId }),
        value: Buffer.from(JSON.stringify(message)),
      });
    },
    stop: () => producer.stop(),
  };
}
