import { isLoopback, nameOfHost } from '../../schemas/host.ts';
import type { LoadedConfig } from '../../schemas/config.ts';
import { ok, warn, type Check, type Finding } from './check.ts';

/** What a valid configuration says, and what in it is probably not meant. */
export function configCheck(config: LoadedConfig): Check {
  return {
    name: 'configuration',
    async run() {
      const names = config.gateways.map((gateway) => gateway.name).join(', ');
      const callbacks = config.kafka === undefined ? 'over HTTP only' : 'from Kafka and over HTTP';
      const store = config.clickhouse?.url ?? `the embedded ClickHouse in ${config.dataDir}`;
      const summary = `From ${config.origin}: gateways ${names}; callbacks ${callbacks}; rows go to ${withoutLogin(store)}.`;
      return [ok('configuration', summary), ...config.gateways.flatMap(doubts)];
    },
  };
}

function doubts(gateway: LoadedConfig['gateways'][number]): Finding[] {
  const findings: Finding[] = [];
  const url = new URL(gateway.secureUrl);
  const name = `gateway ${gateway.name}: configuration`;
  if (gateway.callbackKeys.length === 0) {
    const advice =
      'Set callbackKeys, or GATEWATCH_CALLBACK_KEY, to the private key that the gateway gave you.';
    findings.push(warn(name, 'No key to verify callbacks with: every callback counts as not valid.', advice));
  }
  if (url.protocol === 'http:' && !isLoopback(nameOfHost(url.host) ?? '')) {
    findings.push(warn(name, 'The bearer token travels unencrypted.', 'Use the https address.'));
  }
  return findings;
}

function withoutLogin(text: string): string {
  return text.replace(/\/\/[^/@]*@/, '//');
}
