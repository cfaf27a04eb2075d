import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { isScalar, parseDocument, visit } from 'yaml';
import type { CalendarConfig } from '../../schemas/config-alerts.ts';
import { GatewatchError } from '../../schemas/errors.ts';
import { muteTimings } from './mute-timings.ts';

/**
 * The shipped configuration of Alertmanager names its addresses as `${NAME}`, and Alertmanager reads no
 * environment: here they are filled in. Nothing is written while an address is missing, or is one of those
 * that are made for documentation, so that no alert is sent to nobody.
 */
type Environment = Readonly<Record<string, string | undefined>>;

/** Names in the environment whose values replace `${NAME}`. */
export const ADDRESSES = {
  smarthost: 'GATEWATCH_SMTP_SMARTHOST',
  from: 'GATEWATCH_SMTP_FROM',
  emails: 'GATEWATCH_ALERT_EMAILS',
  webhook: 'GATEWATCH_ALERT_WEBHOOK_URL',
  /** Without it the heartbeat is sent to nobody. */
  heartbeat: 'GATEWATCH_HEARTBEAT_URL',
} as const;

/**
 * Writes the shipped files with the environment's addresses and the shop's office hours into a folder.
 * @throws GatewatchError `config_invalid` with all that is wrong with the addresses
 */
export function writeAlertmanagerConfig(
  shippedFolder: string,
  folder: string,
  env: Environment,
  calendar: CalendarConfig,
): void {
  const files = readdirSync(shippedFolder).map((name) => {
    const text = readFileSync(join(shippedFolder, name), 'utf8');
    return {
      name,
      filled: name.endsWith('.yml') ? fillAddresses(withOfficeHours(text, calendar), env) : { text },
    };
  });
  const problems = files.flatMap(({ filled }) => ('problems' in filled ? filled.problems : []));
  if (problems.length > 0)
    throw new GatewatchError(`Alertmanager's addresses are not complete:\n${problems.join('\n')}`, {
      code: 'config_invalid',
    });
  mkdirSync(folder, { recursive: true });
  for (const { name, filled } of files) if ('text' in filled) writeFileSync(join(folder, name), filled.text);
}

/** The text with mute timings by the shop's clocks. */
function withOfficeHours(text: string, calendar: CalendarConfig): string {
  const config = parseDocument(text);
  config.set('mute_time_intervals', config.createNode(muteTimings(calendar)));
  return config.toString({ lineWidth: 0 });
}

const PLACE = /\$\{(\w+)\}/g;

/** The text with its addresses filled in, or what is wrong with them. */
export function fillAddresses(
  text: string,
  env: Environment,
): { readonly text: string } | { readonly problems: readonly string[] } {
  if ((env[ADDRESSES.heartbeat] ?? '') === '' && text.includes(`\${${ADDRESSES.heartbeat}}`))
    return fillAddresses(withoutHeartbeat(text), env);
  const names = [...new Set([...text.matchAll(PLACE)].map(([, name = '']) => name))];
  const problems = names.flatMap((name) => {
    const problem = problemWith(name, env[name] ?? '');
    return problem === null ? [] : [`${name}: ${problem}`];
  });
  if (problems.length > 0) return { problems };
  // The value of a YAML string: quoted, whatever it holds.
  return { text: text.replace(PLACE, (_, name: string) => JSON.stringify(env[name])) };
}

/** Its receiver stays, with nowhere to send to: the heartbeat must not go where other alerts go. */
function withoutHeartbeat(text: string): string {
  const config = parseDocument(text);
  visit(config, {
    Pair: (_key, { key, value }) =>
      isScalar(key) && key.value === 'webhook_configs' && String(value).includes(ADDRESSES.heartbeat)
        ? visit.REMOVE
        : undefined,
  });
  return config.toString({ lineWidth: 0 });
}

function problemWith(name: string, value: string): string | null {
  if (value === '') return 'is not set';
  const hosts = hostsOf(name, value);
  if (hosts === null) return `is not ${EXPECTED[name] ?? 'known'}`;
  const reserved = hosts.find((host) => isReserved(host));
  return reserved === undefined ? null : `${reserved} is reserved for documentation and reaches nobody`;
}

const EXPECTED: Readonly<Record<string, string>> = {
  [ADDRESSES.smarthost]: 'a mail server of the form host:port',
  [ADDRESSES.from]: 'an e-mail address',
  [ADDRESSES.emails]: 'a list of e-mail addresses, with commas between them',
  [ADDRESSES.webhook]: 'an http or https address',
  [ADDRESSES.heartbeat]: 'an http or https address',
};

/** The hosts that a value names; null when it has another form. */
function hostsOf(name: string, value: string): string[] | null {
  switch (name) {
    case ADDRESSES.smarthost: {
      const host = /^(\[[\da-f:]+\]|[^\s:@/]+):\d{1,5}$/i.exec(value)?.[1];
      return host === undefined ? null : [host];
    }
    case ADDRESSES.from:
      return mailHosts([value]);
    case ADDRESSES.emails:
      return mailHosts(value.split(','));
    default: {
      const url = URL.canParse(value) ? new URL(value) : null;
      return url !== null && /^https?:$/.test(url.protocol) ? [url.hostname] : null;
    }
  }
}

function mailHosts(addresses: readonly string[]): string[] | null {
  const hosts = addresses.map((address) => /^[^\s@<>]+@([^\s@<>]+)$/.exec(address.trim())?.[1]);
  return hosts.every((host) => host !== undefined) ? hosts : null;
}

/** Names of RFC 2606 and RFC 6761 that no one can own, apart from `localhost`. */
const isReserved = (host: string): boolean =>
  isIP(host) === 0 && /(^|\.)(example(\.(com|net|org))?|invalid|test)\.?$/i.test(host);
