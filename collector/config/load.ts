import { hostname } from 'node:os';
import { z } from 'zod';
import {
  configSchema,
  STORE_SECTIONS,
  type Config,
  type Environment,
  type LoadedConfig,
  type PartialConfig,
  type StoreConfig,
} from '../../schemas/config.ts';
import { type CalendarConfig, calendarConfigSchema } from '../../schemas/config-alerts.ts';
import { GatewatchError } from '../../schemas/errors.ts';
import { fromEnvironment, isMapping, type Settings } from './environment.ts';
import { explain, valueAt } from './explain.ts';
import { readSettingsFile } from './settings-file.ts';
import { substitute, type Findings } from './substitute.ts';

/**
 * Reads the configuration once: the file named by `path` or GATEWATCH_CONFIG, with
 * `${NAME}` and `${file:PATH}` filled in; then the GATEWATCH_* variables, which win.
 * @throws GatewatchError `config_invalid` that lists every problem with key, received and expected
 */
export function loadConfig(path: string | undefined, env: Environment): LoadedConfig {
  return load(path, env, configSchema, () => true);
}

/**
 * The same for commands that need some sections only: the others may be missing or wrong, and their secrets
 * are not even read. Keys that no section has are still problems, since a misspelt `clickhouse` must not pass
 * for none.
 */
export function loadPartialConfig<K extends keyof Config>(
  path: string | undefined,
  env: Environment,
  sections: readonly K[],
): PartialConfig<K> {
  const wanted = new Set<string>([...sections, 'collectorId']);
  const shape = Object.entries(configSchema.shape).map(([key, schema]) => [
    key,
    wanted.has(key) ? schema : z.unknown().optional(),
  ]);
  const schema = z.strictObject(Object.fromEntries(shape) as typeof configSchema.shape);
  const loaded = load(path, env, schema, (section) => wanted.has(section));
  // The rest was not checked, and may hold secrets as plain text.
  const kept = Object.entries(loaded).filter(([key]) => wanted.has(key) || key === 'origin');
  return Object.freeze(Object.fromEntries(kept)) as PartialConfig<K>;
}

/**
 * The reader's zone and holidays alone. Commands that only show times do not need what else stands under
 * `alerts`: the secrets of receivers may not be theirs to read.
 * @throws GatewatchError `config_invalid`, for these two only
 */
export function loadCalendar(path: string | undefined, env: Environment): CalendarConfig {
  const shape = Object.keys(configSchema.shape).map((key) => [
    key,
    key === 'alerts' ? calendarConfigSchema.prefault({}) : z.unknown().optional(),
  ]);
  const schema = z.strictObject(Object.fromEntries(shape) as typeof configSchema.shape);
  const own = Object.keys(calendarConfigSchema.shape);
  const { alerts } = load(path, env, schema, (section) => section === 'alerts', own);
  return { timeZone: alerts.timeZone, holidays: alerts.holidays };
}

/** @param only the keys that are needed of a section that is. @default all */
function load(
  path: string | undefined,
  env: Environment,
  schema: z.ZodType<Config>,
  wanted: (section: string) => boolean,
  only?: readonly string[],
): LoadedConfig {
  const file = path ?? (env['GATEWATCH_CONFIG'] === '' ? undefined : env['GATEWATCH_CONFIG']);
  const findings: Findings = { problems: [], unusable: new Set(), origins: new Map() };
  const written = file === undefined ? {} : readSettingsFile(file, findings.problems);
  if (written === null) throw configError(findings.problems);
  const filled = Object.fromEntries(
    Object.entries(written).map(([key, value]) => [
      key,
      wanted(key) ? substitute(picked(value, only), env, findings, key) : value,
    ]),
  );
  const raw = fromEnvironment(filled, env, findings, wanted);
  const parsed = parse(schema, raw, findings);
  if (!parsed.success) {
    for (const issue of parsed.error.issues) findings.problems.push(...problemsOf(issue, raw, findings));
  }
  if (!parsed.success || findings.problems.length > 0) throw configError(findings.problems);
  const collectorId = parsed.data.collectorId ?? hostname();
  return deepFreeze({ ...parsed.data, collectorId, origin: file ?? 'the environment' });
}

const picked = (section: unknown, only: readonly string[] | undefined): unknown =>
  only === undefined || !isMapping(section)
    ? section
    : Object.fromEntries(Object.entries(section).filter(([key]) => only.includes(key)));

/**
 * Values from outside are texts. Where the schema turns one down because it wants a number or a truth value,
 * and the text is one, it is read as such; so a token made of digits stays a text.
 */
function parse(schema: z.ZodType<Config>, raw: Settings, findings: Findings) {
  const first = schema.safeParse(raw);
  if (first.success) return first;
  let changed = false;
  for (const issue of first.error.issues) {
    if (issue.code !== 'invalid_type' && issue.code !== 'invalid_union') continue;
    const text = valueAt(raw, issue.path);
    const value = findings.origins.has(issue.path.map(String).join('.')) ? scalar(text) : undefined;
    const parent = valueAt(raw, issue.path.slice(0, -1)) as Record<PropertyKey, unknown> | undefined;
    const key = issue.path.at(-1);
    if (value === undefined || parent === undefined || key === undefined) continue;
    parent[key] = value;
    changed = true;
  }
  return changed ? schema.safeParse(raw) : first;
}

function scalar(text: unknown): number | boolean | undefined {
  if (typeof text !== 'string') return undefined;
  if (/^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  return text === 'true' ? true : text === 'false' ? false : undefined;
}

function problemsOf(issue: z.core.$ZodIssue, raw: Settings, findings: Findings): string[] {
  if (issue.path.length === 1 && issue.path[0] === 'gateways' && raw['gateways'] === undefined) {
    return [
      'gateways: nothing configured. Give a file with --config or GATEWATCH_CONFIG, or for one gateway set ' +
        'GATEWATCH_GATEWAY_URL and GATEWATCH_GATEWAY_TOKEN',
    ];
  }
  return explain(issue, raw, findings);
}

function configError(problems: readonly string[]): GatewatchError {
  const lines = problems.map((problem) => `  - ${problem}`).join('\n');
  const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`;
  return new GatewatchError(`The configuration has ${count}:\n${lines}`, { code: 'config_invalid' });
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}

/**
 * The sections that commands need which only read or change the store.
 * @throws GatewatchError `config_invalid`, for these sections only
 */
export function loadStoreConfig(path: string | undefined, env: Environment): StoreConfig {
  return loadPartialConfig(path, env, STORE_SECTIONS);
}
