import type { Environment, LoadedConfig, StoreConfig } from '../../schemas/config.ts';
import { GatewatchError } from '../../schemas/errors.ts';
import type { SignedFields } from '../../schemas/gateway/callback.ts';
import type { Verdict } from '../../schemas/rows.ts';
import { isLoopback, nameOfHost } from '../../schemas/host.ts';
import { Secret } from '../../schemas/secret.ts';
import { fail, ok, warn, type Check, type Finding } from './check.ts';
import { gatewayCheck, type GatewayPort } from './gateway-check.ts';
import { diskCheck, nodeCheck, portCheck } from './host-checks.ts';
import { kafkaCheck, type SurveyKafka } from './kafka-check.ts';
import { storeCheck, type Progress } from './store-check.ts';

/** What the doctor needs of the collector and of its host. */
export interface DoctorPorts {
  readonly nodeVersion: string;
  readonly env: Environment;
  readonly progress: Progress;
  /** @throws GatewatchError `config_invalid` */
  readonly loadConfig: () => LoadedConfig;
  /** The sections about the store only. @throws GatewatchError `config_invalid` */
  readonly loadStoreConfig: () => StoreConfig;
  readonly gateway: GatewayPort;
  readonly surveyKafka: SurveyKafka;
  readonly verifySignature: VerifySignature;
  readonly sendSpans: (config: LoadedConfig) => SendSpans;
}

/**
 * All that can be checked with the configuration as it is; one that is not valid may still say
 * where the store is.
 */
export function chooseChecks(ports: DoctorPorts): Check[] {
  const config = attempt(ports.loadConfig);
  const isValid = !(config instanceof GatewatchError);
  const stored = isValid ? config : attempt(ports.loadStoreConfig);
  const checks = [configCheck(config), nodeCheck(ports.nodeVersion), signatureCheck(ports.verifySignature)];
  if (!(stored instanceof GatewatchError)) {
    checks.push(storeCheck(stored, ports.progress), portCheck(stored));
    if (stored.clickhouse === undefined) checks.push(diskCheck(stored.dataDir));
  }
  if (!isValid) return checks;
  if (config.kafka !== undefined) checks.push(kafkaCheck(config.kafka, ports.surveyKafka));
  const gateways = config.gateways.map((gateway) => gatewayCheck(gateway, ports.gateway));
  checks.push(...gateways, otlpCheck(ports.env, ports.sendSpans(config)));
  return checks;
}

function attempt<T>(load: () => T): T | GatewatchError {
  try {
    return load();
  } catch (error) {
    if (error instanceof GatewatchError) return error;
    throw error;
  }
}

/** What a valid configuration says, and what in it is probably not meant; or why it is not valid. */
function configCheck(config: LoadedConfig | GatewatchError): Check {
  const name = 'configuration';
  return {
    name,
    async run() {
      if (config instanceof GatewatchError) {
        const advice = 'Gateways and Kafka are not checked until this is mended.';
        return [fail(name, config.message, advice)];
      }
      const names = config.gateways.map((gateway) => gateway.name).join(', ');
      const callbacks = config.kafka === undefined ? 'over HTTP only' : 'from Kafka and over HTTP';
      const store = config.clickhouse?.url ?? `the embedded ClickHouse in ${config.dataDir}`;
      const summary =
        `From ${config.origin}: gateways ${names}; callbacks ${callbacks}; ` +
        `rows go to ${store.replace(/\/\/[^/@]*@/, '//')}.`;
      return [ok(name, summary), ...linkDoubts(config), ...config.gateways.flatMap(doubts)];
    },
  };
}

/** People open links of pages on other machines than this one. */
function linkDoubts({ alerts, http }: LoadedConfig): Finding[] {
  if (!alerts.evaluate || alerts.externalUrl !== '') return [];
  const text = `Links in pages lead to this collector's console at ${http.host}:${http.port}.`;
  const advice =
    'Set alerts.externalUrl to an address of it, or of Grafana, that people who are paged can open.';
  return [warn('alerts: configuration', text, advice)];
}

function doubts(gateway: LoadedConfig['gateways'][number]): Finding[] {
  const findings: Finding[] = [];
  const url = new URL(gateway.secureUrl);
  const name = `gateway ${gateway.name}: configuration`;
  if (gateway.historyTimeZone !== undefined)
    findings.push(ok(name, `Times of its history are read as the clock of ${gateway.historyTimeZone}.`));
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

/** The worked example: what a callback's signature must come out as (interface document, section 6.3). */
const EXAMPLE = {
  callback: {
    externalId: '7d9f2c1e-4b7a-4d53-9a51-0c9f6a1b2c3d',
    status: 'Success',
    amount: '100.00',
    orderType: 'Deposit',
  },
  key: '0123456789abcdef0123456789abcdef',
  signature: '9ce5e776a8d73a461c51e31824490304ac191fc8f8743e9134253d2211e0a570',
} as const;

/** Verifies a callback's signature with the collector's own code. */
export type VerifySignature = (callback: SignedFields, signature: string, keys: readonly Secret[]) => Verdict;

/**
 * Signatures are computed right, and a change is noticed: a mismatch is then about the key or the sender.
 */
function signatureCheck(verify: VerifySignature): Check {
  const name = 'signatures';
  return {
    name,
    async run() {
      const keys = [new Secret(EXAMPLE.key)];
      const right = verify(EXAMPLE.callback, EXAMPLE.signature, keys);
      const changed = verify({ ...EXAMPLE.callback, amount: '100.0' }, EXAMPLE.signature, keys);
      if (right === 'valid' && changed === 'mismatch') return [ok(name, 'The worked example verifies.')];
      return [
        fail(name, 'The worked example does not verify.', 'This installation is broken: install it again.'),
      ];
    },
  };
}

/**
 * Sends an (empty) export as the collector sends its spans; null when the environment asks for none.
 * @throws Error that says what is wrong with the receiver
 */
export type SendSpans = (() => Promise<void>) | null;

/** Does the OTLP receiver take an export, where spans are to be sent? */
function otlpCheck(env: Environment, send: SendSpans): Check {
  const name = 'traces';
  return {
    name,
    async run() {
      if (send === null) {
        return [ok(name, 'Not sent: OTEL_EXPORTER_OTLP_ENDPOINT is not set, or traces are switched off.')];
      }
      const endpoint = env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] ?? env['OTEL_EXPORTER_OTLP_ENDPOINT'] ?? '';
      const where = URL.canParse(endpoint) ? new URL(endpoint).host : 'the configured endpoint';
      try {
        await send();
        return [ok(name, `The OTLP receiver at ${where} takes spans.`)];
      } catch (error) {
        const advice =
          'Check OTEL_EXPORTER_OTLP_ENDPOINT (OTLP over HTTP, usually port 4318) and its headers.';
        return [fail(name, `${where}: ${(error as Error).message}.`, advice)];
      }
    },
  };
}
