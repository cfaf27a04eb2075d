import type { KafkaConfig } from '../../../schemas/config.ts';
import type { KafkaConnectionOptions, KafkaSasl, KafkaTls } from './port.ts';

/**
 * Connection options from the configuration. TLS and SASL settings pass through; only the password is
 * unwrapped, at each login.
 */
export function kafkaConnection(kafka: KafkaConfig): KafkaConnectionOptions {
  const { brokers, clientId, ssl, sasl, clientOptions } = kafka;
  const password = { enumerable: true, get: () => sasl?.password?.reveal() };
  return {
    brokers,
    clientId,
    clientOptions,
    ...(ssl === undefined ? {} : { ssl: ssl as KafkaTls }),
    ...(sasl === undefined
      ? {}
      : { sasl: Object.defineProperty({ ...sasl }, 'password', password) as unknown as KafkaSasl }),
  };
}

/**
 * Which gateway a callback topic's messages are from when they do not say: the topic's, else the only one.
 */
export function gatewayOfTopic(
  kafka: KafkaConfig,
  gateways: readonly string[],
): (topic: string) => string | undefined {
  const only = gateways.length === 1 ? gateways[0] : undefined;
  const byTopic = new Map(
    kafka.callbackTopics.map((entry) =>
      typeof entry === 'string' ? [entry, only] : [entry.topic, entry.gateway ?? only],
    ),
  );
  return (topic) => byTopic.get(topic);
}

export function callbackTopicNames(kafka: KafkaConfig): string[] {
  return kafka.callbackTopics.map((entry) => (typeof entry === 'string' ? entry : entry.topic));
}
