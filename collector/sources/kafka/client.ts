import { Kafka, type KafkaConfig, logLevel, type RetryOptions } from 'kafkajs';
import { boundFetches } from './bounded-fetch.ts';
import { registerCodecs } from './codecs.ts';
import { patchKafkajs } from './kafkajs-patches.ts';
import type { KafkaConnectionOptions } from './port.ts';

const CONNECTION_TIMEOUT_MS = 3000;
const REQUEST_TIMEOUT_MS = 10_000;

export interface ClientOptions extends KafkaConnectionOptions {
  retry: RetryOptions;
  onLog?(level: 'warn' | 'error', message: string): void;
}

/** A kafkajs client with this product's defaults: every codec, no output of its own, bounded requests. */
export function createClient(options: ClientOptions): Kafka {
  registerCodecs();
  boundFetches();
  patchKafkajs();
  const config: KafkaConfig = {
    clientId: options.clientId ?? 'gatewatch',
    brokers: [...options.brokers],
    connectionTimeout: CONNECTION_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    retry: options.retry,
    logLevel: logLevel.WARN,
    logCreator: () => (entry) => {
      const level = entry.level === logLevel.ERROR ? 'error' : 'warn';
      options.onLog?.(level, `${entry.namespace}: ${entry.log.message}`);
    },
    ...(options.ssl === undefined ? {} : { ssl: options.ssl }),
    ...(options.sasl === undefined ? {} : { sasl: options.sasl as NonNullable<KafkaConfig['sasl']> }),
    ...(options.clientOptions as Partial<KafkaConfig> | undefined),
  };
  return new Kafka(config);
}
