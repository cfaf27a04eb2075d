import { readKeyList } from './key-list.ts';
import type { Environment } from '../../schemas/config.ts';
import { readSecretFile, type Findings } from './substitute.ts';

export type Settings = Record<string, unknown>;

/**
 * The variables of each section of the configuration: key below the section (none: the section itself) to
 * variable.
 */
const VARIABLES = {
  kafka: { brokers: 'GATEWATCH_KAFKA_BROKERS' },
  clickhouse: {
    url: 'GATEWATCH_CLICKHOUSE_URL',
    username: 'GATEWATCH_CLICKHOUSE_USER',
    password: 'GATEWATCH_CLICKHOUSE_PASSWORD',
    database: 'GATEWATCH_CLICKHOUSE_DATABASE',
  },
  http: { host: 'GATEWATCH_HTTP_HOST', port: 'GATEWATCH_HTTP_PORT', hosts: 'GATEWATCH_HTTP_HOSTS' },
  embedded: { port: 'GATEWATCH_EMBEDDED_PORT' },
  alerts: { timeZone: 'GATEWATCH_TIME_ZONE', holidays: 'GATEWATCH_HOLIDAYS' },
  log: { level: 'GATEWATCH_LOG_LEVEL' },
} as const;

const GATEWAY_VARIABLES = {
  name: 'GATEWATCH_GATEWAY_NAME',
  secureUrl: 'GATEWATCH_GATEWAY_URL',
  token: 'GATEWATCH_GATEWAY_TOKEN',
  callbackKeys: 'GATEWATCH_CALLBACK_KEY',
} as const;

const TOP_LEVEL = { dataDir: 'GATEWATCH_DATA_DIR', collectorId: 'GATEWATCH_COLLECTOR_ID' } as const;

/** The variable that a setting can come from, by its key (`gateways.0.token`). */
export function variableOf(path: string): string | undefined {
  const [section = '', ...rest] = path.split('.');
  const names: Readonly<Record<string, Readonly<Record<string, string>>>> = VARIABLES;
  if (section === 'gateways')
    return rest[0] === '0' ? (GATEWAY_NAMES[rest[1] ?? ''] ?? undefined) : undefined;
  return names[section]?.[rest.join('.')];
}

const GATEWAY_NAMES: Readonly<Record<string, string>> = GATEWAY_VARIABLES;

/** Variables that hold several values, separated by commas. */
const LISTS: ReadonlySet<string> = new Set([
  'GATEWATCH_KAFKA_BROKERS',
  'GATEWATCH_HTTP_HOSTS',
  'GATEWATCH_HOLIDAYS',
]);

/**
 * Lays the GATEWATCH_* variables over the file's settings. They are enough for one gateway;
 * with several gateways in the file, the gateway variables are refused, as it would be
 * unclear which one is meant. Every one can also be given as `..._FILE`. An empty variable counts as not set.
 *
 * @param wanted says which sections are needed; variables of the others are not even read
 */
export function fromEnvironment(
  file: Settings,
  env: Environment,
  findings: Findings,
  wanted: (section: string) => boolean,
): Settings {
  const settings: Settings = { ...file };
  for (const [section, variables] of Object.entries(VARIABLES)) {
    if (wanted(section)) overlay(settings, section, readAll(variables, `${section}.`, env, findings));
  }
  if (wanted('gateways')) overlayGateway(settings, env, findings);
  const topLevel = Object.entries(TOP_LEVEL).filter(([key]) => wanted(key));
  return Object.assign(settings, readAll(Object.fromEntries(topLevel), '', env, findings));
}

function overlay(settings: Settings, section: string, values: Settings): void {
  if (Object.keys(values).length === 0) return;
  const present = settings[section];
  // Anything but a mapping stays as it is, for the schema to complain of.
  if (present === undefined || isMapping(present)) settings[section] = { ...present, ...values };
}

function overlayGateway(settings: Settings, env: Environment, findings: Findings): void {
  const values = readAll(GATEWAY_VARIABLES, 'gateways.0.', env, findings);
  if (Object.keys(values).length === 0) return;
  const listed: unknown = settings['gateways'] ?? [];
  if (!Array.isArray(listed)) return;
  if (listed.length > 1) {
    const set = Object.keys(values).map((key) => GATEWAY_VARIABLES[key as keyof typeof GATEWAY_VARIABLES]);
    findings.problems.push(
      `${set.join(', ')}: the file lists several gateways, so it is unclear which one is meant; set this in the file`,
    );
    for (const key of Object.keys(values)) findings.origins.delete(`gateways.0.${key}`);
    return;
  }
  const first: unknown = listed[0] ?? {};
  if (isMapping(first)) settings['gateways'] = [{ name: 'gateway', ...first, ...values }];
}

function readAll(
  variables: Readonly<Record<string, string>>,
  prefix: string,
  env: Environment,
  findings: Findings,
): Settings {
  const values: Settings = {};
  for (const [key, name] of Object.entries(variables)) {
    const path = prefix + key;
    const text = readVariable(name, path, env, findings);
    if (text === undefined) continue;
    const file = env[`${name}_FILE`] ?? '';
    findings.origins.set(path, file === '' ? name : `${name}_FILE, ${file}`);
    if (name === GATEWAY_VARIABLES.callbackKeys) values[key] = keyList(text, name, path, findings);
    else values[key] = LISTS.has(name) ? commaList(text) : text;
  }
  return values;
}

function commaList(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function keyList(text: string, name: string, path: string, findings: Findings): readonly string[] {
  const keys = readKeyList(text);
  if (!('problem' in keys)) return keys;
  findings.problems.push(`${name}: ${keys.problem}`);
  findings.unusable.add(path);
  return [];
}

function readVariable(name: string, path: string, env: Environment, findings: Findings): string | undefined {
  const value = env[name];
  const file = env[`${name}_FILE`];
  if (file === undefined || file === '') return value === '' ? undefined : value;
  if (value !== undefined && value !== '') {
    findings.problems.push(`${name}: set both directly and as ${name}_FILE; unset one of them`);
  }
  const content = readSecretFile(file);
  if (content === undefined) {
    findings.problems.push(`${name}_FILE: ${file} cannot be read`);
    findings.unusable.add(path);
  }
  return content;
}

export function isMapping(value: unknown): value is Settings {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
