import { createCollectorTaker, readDue } from '../backfill/collector-taker.ts';
import type { Taker } from '../backfill/taker.ts';
import { loadConfig, loadPartialConfig } from '../config/load.ts';
import { GatewatchError } from '../errors.ts';
import type { GlobalOptions } from './command-context.ts';
import { collectorUrl } from './collector-client.ts';
import type { Host } from './host.ts';
import { openStore } from './open-store.ts';

export interface TakerOptions extends GlobalOptions {
  /** Wait while more orders than this are due to be polled. */
  readonly maxDue: number;
}

/** The first message also waits for the connection. */
const SEND_TIMEOUT_MS = 10_000;

/** The running collector; else Kafka, when it is configured; else the store. */
export async function chooseTaker(host: Host, options: TakerOptions): Promise<Taker> {
  const config = loadPartialConfig(options.config, host.env, ['http', 'kafka']);
  const url = collectorUrl(config);
  if ((await readDue(url)) !== null) return createCollectorTaker({ url, maxDue: options.maxDue });
  if (config.kafka !== undefined) {
    const { kafkaConnection } = await import('../runtime/kafka-options.ts');
    const { createKafkaProducer } = await import('../sources/kafka/producer.ts');
    const { createKafkaTaker } = await import('../backfill/kafka-taker.ts');
    const producer = createKafkaProducer({
      ...kafkaConnection(config.kafka),
      sendTimeoutMs: SEND_TIMEOUT_MS,
    });
    return createKafkaTaker(producer, config.kafka.watchTopic);
  }
  return storeTaker(host, options);
}

async function storeTaker(host: Host, options: TakerOptions): Promise<Taker> {
  const { systemClock } = await import('../clock.ts');
  const { createOfflinePipeline } = await import('../redrive/offline-pipeline.ts');
  const { createStoreTaker } = await import('../backfill/store-taker.ts');
  const { migrateStore } = await import('./migrate.ts');
  const config = loadConfig(options.config, host.env);
  const opened = await openStore(config, host, { create: true });
  await migrateStore(opened.store, config.retention);
  const pipeline = await createOfflinePipeline({
    store: opened.store,
    gateways: config.gateways,
    clock: systemClock,
    purpose: 'backfill',
  });
  return createStoreTaker(pipeline, () => opened.close());
}

/** The configured gateways' names; null where this machine does not have their settings. */
export function knownGateways(host: Host, options: GlobalOptions): string[] | null {
  try {
    const { gateways } = loadPartialConfig(options.config, host.env, ['gateways']);
    return gateways.map((gateway) => gateway.name);
  } catch (error) {
    if (error instanceof GatewatchError) return null;
    throw error;
  }
}
