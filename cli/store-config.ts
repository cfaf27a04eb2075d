import type { Environment, PartialConfig } from '../schemas/config.ts';
import { loadPartialConfig } from '../collector/config/load.ts';

const SECTIONS = ['clickhouse', 'dataDir', 'embedded', 'retention', 'http', 'log'] as const;

/** What commands need that read or change the store: no gateway, no Kafka. */
export type StoreConfig = PartialConfig<(typeof SECTIONS)[number]>;

/** @throws GatewatchError `config_invalid`, for these sections only */
export function loadStoreConfig(path: string | undefined, env: Environment): StoreConfig {
  return loadPartialConfig(path, env, SECTIONS);
}
