import { createCollectorTaker, readDue } from '../../operate/backfill/collector-taker.ts';
import type { Taker } from '../../operate/backfill/taker.ts';
import { loadConfig, loadPartialConfig } from '../../collector/config/load.ts';
import { GatewatchError } from '../../schemas/errors.ts';
import type { GlobalOptions } from '../command-context.ts';
import { collectorUrl } from '../collector-client.ts';
import type { Host } from '../host.ts';
import { openStore } from '../../store/open.ts';
import { progressOn } from '../terminal/progress.ts';

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
    const { kafkaConnection } = await import('../../collector/sources/kafka/options.ts');
    const { createKafkaProducer } = await import('../../collector/sources/kafka/producer.ts');
    const { createKafkaTaker } = await import('../../operate/backfill/kafka-taker.ts');
    const producer = createKafkaProducer({
      ...kafkaConnection(config.kafka),
      sendTimeoutMs: SEND_TIMEOUT_MS,
    });
    return createKafkaTaker(producer, config.kafka.watchTopic);
  }
  return storeTaker(host, options);
}

async function storeTaker(host: Host, options: TakerOptions): Promise<Taker> {
  const { systemClock } = await import('../../schemas/system-clock.ts');
  const { createOfflinePipeline } = await import('../../operate/redrive/offline-pipeline.ts');
  const { createStoreTaker } = await import('../../operate/backfill/store-taker.ts');
  const { migrateStore } = await import('./migrate.ts');
  const config = loadConfig(options.config, host.env);
  const opened = await openStore(config, { embedded: 'create', progress: progressOn(host) });
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
