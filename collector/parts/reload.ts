import type { LoadedConfig } from '../../schemas/config.ts';
import { renewSecrets } from '../config/renew-secrets.ts';
import { readListenerTls, type Listeners } from '../sources/http/listeners.ts';
import type { Base } from './base.ts';

/** Uses secrets and certificates that were read again. All that can fail comes first. */
export function reload({ config, gateways, log }: Base, listeners: Listeners, fresh: LoadedConfig): void {
  const certificates = readListenerTls(fresh.http);
  const renewed = renewSecrets(config, fresh, gateways);
  listeners.renewTls(certificates);
  log.info(renewed, 'secrets and certificates were read again');
}
