import type { Logger } from 'pino';
import type { GatewayConfig } from '../../schemas/config.ts';
import type { LoadedConfig } from './load.ts';
import { readListenerTls, type Listeners } from '../sources/http/listeners.ts';
import { renewSecrets } from './renew-secrets.ts';

/**
 * Uses the secrets and certificates of a configuration that was read again.
 * @throws GatewatchError `config_invalid`, and nothing has changed
 */
export function createReload(
  current: LoadedConfig,
  gateways: Map<string, GatewayConfig>,
  listeners: Pick<Listeners, 'renewTls'>,
  log: Logger,
): (fresh: LoadedConfig) => void {
  return (fresh) => {
    // All that can fail comes first.
    const certificates = readListenerTls(fresh.http);
    const renewed = renewSecrets(current, fresh, gateways);
    listeners.renewTls(certificates);
    log.info(renewed, 'secrets and certificates were read again');
  };
}
