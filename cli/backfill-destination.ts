import { collectorUrl } from '../operate/collector-client.ts';
import { createCollectorDestination, readDue } from '../operate/backfill/collector-destination.ts';
import {
  createKafkaDestination,
  createStoreDestination,
  type Destination,
} from '../operate/backfill/destination.ts';
import { loadConfig, loadPartialConfig } from '../collector/config/load.ts';
import { GatewatchError } from '../schemas/errors.ts';
import type { GlobalOptions } from './command-context.ts';
import type { Host } from './terminal/host.ts';
import { openStore, schemaMigrator } from '../store/open.ts';
import { progressOn } from './terminal/progress.ts';

export interface DestinationOptions extends GlobalOptions {
  /** Wait while more orders than this are due to be polled. */
  readonly maxDue: number;
}

/** The running collector; else Kafka, when it is configured; else the store. */
export async function chooseDestination(host: Host, options: DestinationOptions): Promise<Destination> {
  const { http, kafka } = loadPartialConfig(options.config, host.env, ['http', 'kafka']);
  const url = collectorUrl({ http });
  if ((await readDue(url)) !== null) return createCollectorDestination({ url, maxDue: options.maxDue });
  if (kafka !== undefined) {
    const { createWatchTopic } = await import('../collector/sources/kafka/watch-topic.ts');
    return createKafkaDestination(createWatchTopic(kafka), kafka.watchTopic);
  }
  const { createOfflineCollector } = await import('../collector/offline.ts');
  const { systemClock } = await import('../schemas/system-clock.ts');
  const config = loadConfig(options.config, host.env);
  const opened = await openStore(config, { embedded: 'create', progress: progressOn(host) });
  await schemaMigrator(opened.store, config.retention).run();
  const { store, keyFile } = opened;
  const { gateways } = config;
  const ingest = await createOfflineCollector({
    store,
    keyFile,
    gateways,
    clock: systemClock,
    purpose: 'backfill',
  });
  return createStoreDestination(ingest, async () => {
    await ingest.stop();
    await opened.close();
  });
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
