import { readRuleName } from '../../schemas/rule-name.ts';
import { GatewatchError } from '../../schemas/errors.ts';
import { durationSeconds } from './times.ts';
import { RULES } from '../rules/all.ts';
import { isAskedDirectly, isHeartbeat, type Rule } from '../rules/rule.ts';

/** A rule as a backtest tries it. */
export interface Trial {
  /** With the times that are tried. */
  readonly rule: Rule;
  /** The limits that are tried; all others are as configured. */
  readonly limits: Readonly<Record<string, number>>;
}

/** One `RULE.NAME=VALUE` of the command line. */
export interface Override {
  /** The rule's name, its uid, or the name without `Gatewatch`; any case. */
  readonly rule: string;
  /** A limit of the rule, e.g. `shareAbove`; `threshold` for the first of them; `for` or `keepFiringFor`. */
  readonly name: string;
  readonly value: string;
}

/** All rules but the two that watch whether rules are evaluated. */
const REPLAYED = RULES.filter((rule) => !isAskedDirectly(rule) && !isHeartbeat(rule));

/**
 * The rules of these names (without names all), with what `RULE.NAME=VALUE` changes about them.
 *
 * @throws GatewatchError `usage` when there is no such rule, or nothing of it has that name
 */
export function trialsOf(names: readonly string[], changes: readonly string[]): Trial[] {
  for (const name of names) mustExist(name);
  const wanted = REPLAYED.filter(
    (rule) => names.length === 0 || names.some((name) => rule.name === readRuleName(name)),
  );
  const overrides = changes.map(
    (text) => parseOverride(text) ?? refuse(`--set: expected RULE.NAME=VALUE, received ${text}`),
  );
  for (const { rule: name } of overrides) {
    mustExist(name);
    if (!wanted.some((rule) => rule.name === readRuleName(name)))
      refuse(`--set: ${name} is not among the rules that are evaluated`);
  }
  return wanted.map((rule) =>
    overrides.filter((one) => rule.name === readRuleName(one.rule)).reduce(override, { rule, limits: {} }),
  );
}

/** Reads `RULE.NAME=VALUE`; null when it is not of that form. */
export function parseOverride(text: string): Override | null {
  const match = /^([\w-]+)\.(\w+)=(\S+)$/.exec(text);
  return match === null ? null : { rule: match[1] ?? '', name: match[2] ?? '', value: match[3] ?? '' };
}

/** The limits that a rule has by itself, the first of them first. */
export function limitsOf(rule: Rule): Readonly<Record<string, number>> {
  switch (rule.kind) {
    case 'share': {
      const { shareAbove, minimumAffectedOrders } = rule.condition;
      return { shareAbove, minimumAffectedOrders };
    }
    case 'drop': {
      const { below, minimumExpectedOrders } = rule.condition;
      return { below, minimumExpectedOrders };
    }
    case 'gauge':
      return { above: rule.above };
  }
}

/** The names of a rule's times on the command line. */
const TIMES = { for: 'pendingSeconds', keepFiringFor: 'keepFiringSeconds' } as const;

function override({ rule, limits }: Trial, { name, value }: Override): Trial {
  if (name === 'for' || name === 'keepFiringFor') {
    const seconds = value === '0' ? 0 : durationSeconds(value);
    if (seconds === null)
      return refuse(`--set: ${rule.name}.${name}: expected a duration like 5m, received ${value}`);
    return { rule: { ...rule, [TIMES[name]]: seconds }, limits };
  }
  const known = limitsOf(rule);
  const own = name === 'threshold' ? Object.keys(known)[0] : name;
  if (own === undefined || !Object.hasOwn(known, own)) {
    const times = Object.entries(TIMES).map(([key, field]) => `${key} (${rule[field]}s)`);
    const all = [...Object.entries(known).map(([key, now]) => `${key} (${now})`), ...times];
    return refuse(`--set: ${rule.name} has no ${name} to set; it has ${all.join(', ')}`);
  }
  if (!Number.isFinite(Number(value)))
    return refuse(`--set: ${rule.name}.${name}: expected a number, received ${value}`);
  return { rule, limits: { ...limits, [own]: Number(value) } };
}

function mustExist(name: string): void {
  if (REPLAYED.some((rule) => rule.name === readRuleName(name))) return;
  refuse(`there is no rule ${name} to replay; there are ${REPLAYED.map((rule) => rule.name).join(', ')}`);
}

function refuse(message: string): never {
  throw new GatewatchError(message, { code: 'usage' });
}
