import { mkdirSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { alertmanagerFiles } from './notification-files.ts';
import { ALERTMANAGER_ADDRESSES as ADDRESSES } from './notifications.ts';

/**
 * Writes Alertmanager's configuration with the addresses of the environment into a folder: `node
 * alerts/grafana/alertmanager-config.ts FOLDER`. Writes nothing while an address is missing or is one of
 * those that are made for documentation, so that no alert is sent to nobody.
 */
type Environment = Readonly<Record<string, string | undefined>>;

const PLACE = /\$\{(\w+)\}/g;

/** The text with its addresses filled in, or what is wrong with them. */
export function fillAddresses(
  text: string,
  env: Environment,
): { readonly text: string } | { readonly problems: readonly string[] } {
  const names = [...new Set([...text.matchAll(PLACE)].map(([, name = '']) => name))];
  const problems = names.flatMap((name) => {
    const problem = problemWith(name, env[name] ?? '');
    return problem === null ? [] : [`${name}: ${problem}`];
  });
  if (problems.length > 0) return { problems };
  // The value of a YAML string: quoted, whatever it holds.
  return { text: text.replace(PLACE, (_, name: string) => JSON.stringify(env[name])) };
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

if (import.meta.main) {
  const [folder] = process.argv.slice(2);
  const files = [...alertmanagerFiles()].map(
    ([name, text]) => [name, fillAddresses(text, name.endsWith('.yml') ? process.env : {})] as const,
  );
  const problems = files.flatMap(([, filled]) => ('problems' in filled ? filled.problems : []));
  if (folder === undefined) problems.unshift('usage: node alerts/grafana/alertmanager-config.ts FOLDER');
  for (const problem of problems) console.error(problem);
  if (folder === undefined || problems.length > 0) process.exitCode = 2;
  else {
    mkdirSync(folder, { recursive: true });
    for (const [name, filled] of files) if ('text' in filled) writeFileSync(join(folder, name), filled.text);
    console.error(`Alertmanager's configuration is in ${folder}`);
  }
}
