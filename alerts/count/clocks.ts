import type { CountingRule } from '../rules/rule.ts';
import { FIRST_ITEM, sqlText, view, withWatermarks } from '../../schemas/measures.ts';
import { WINDOWS } from '../../schemas/windows.ts';
import { type Calendar, calendarsOf } from './calendar.ts';
import { ITEMS } from './tables.ts';
import { END_STEP_SECONDS } from './windows.ts';

/** What a pass must know before it counts: where windows end, and what the configuration says. */
export interface Clocks {
  /** By gateway: up to when our picture of it is complete, in seconds since 1970. */
  readonly watermarks: ReadonlyMap<string, number>;
  /** By rule, gateway and setting, with bars between. */
  readonly settings: ReadonlyMap<string, number>;
  /** By gateway, where the configuration has one. */
  readonly calendars: ReadonlyMap<string, Calendar>;
  readonly overrides: SettingOverrides;
}

/** Numbers that go before what the configuration says, for all gateways: by rule, then by setting. */
export type SettingOverrides = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** Our own polls and the callbacks we receive are stored within seconds. */
const OWN_LAG_SECONDS = 15;

/** Bounds of the measured lateness, for counts to which a late item looks like a missing one. */
const LATENESS = { atLeastSeconds: 30, atMostSeconds: 300, measuredOverSeconds: 3600 } as const;
/** How often it is measured. */
export const LATENESS_EVERY_SECONDS = 600;

const time = (seconds: number): string => `toDateTime(${seconds}, 'UTC')`;

/** One row of two arrays. */
export interface ClocksRow {
  readonly known: readonly (readonly [gateway: string, watermark: number | string])[];
  readonly configured: readonly (readonly [key: string, value: number])[];
}

export const clocksSql = (asOf: number): string => `${withWatermarks(time(asOf))}
SELECT arrayMap((g, w) -> (g, toUnixTimestamp64Micro(w)), mapKeys(watermarks), mapValues(watermarks)) AS known,
  (SELECT groupArray((concat(rule, '|', gateway, '|', setting), value)) FROM ${view('alertSettings')}) AS configured`;

/** @param own settings that go before those that are stored */
export function readClocks(
  { known, configured }: ClocksRow,
  overrides: SettingOverrides,
  own: Clocks['settings'] = new Map(),
): Clocks {
  const settings = new Map([...configured, ...own]);
  return {
    watermarks: new Map(known.map(([gateway, watermark]) => [gateway, Number(watermark) / 1e6])),
    settings,
    calendars: calendarsOf(settings),
    overrides,
  };
}

/** SELECT of `gateway` and `late`: seconds by which 19 of 20 orders are known after they began. */
export const latenessSql = (asOf: number): string => `SELECT gateway, quantile(0.95)(late) / 1000 AS late
FROM
(
  SELECT toString(gateway) AS gateway, min(dateDiff('millisecond', event_time, observed_at)) AS late
  FROM ${ITEMS}
  WHERE ${FIRST_ITEM} AND event_time >= ${time(asOf - LATENESS.measuredOverSeconds)} AND event_time < ${time(asOf)} AND observed_at <= ${time(asOf)}
  GROUP BY gateway, order_type, external_id
)
GROUP BY gateway`;

/** Where the windows of a gateway end, in seconds since 1970. */
export interface WindowEnds {
  readonly gateway: string;
  readonly end: number;
  /** For counts to which a late item looks like a missing one. Not after `end`. */
  readonly lateEnd: number;
}

/** Where the windows of all known gateways end. */
export function endsOf(
  { watermarks }: Clocks,
  lateness: ReadonlyMap<string, number>,
  asOf: number,
): WindowEnds[] {
  const slot = (seconds: number): number => Math.floor(seconds / END_STEP_SECONDS) * END_STEP_SECONDS;
  return [...watermarks].map(([gateway, watermark]) => {
    const end = slot(Math.min(asOf - WINDOWS.lagSeconds, watermark));
    const { atLeastSeconds, atMostSeconds } = LATENESS;
    const late = Math.min(atMostSeconds, Math.max(atLeastSeconds, Math.ceil(lateness.get(gateway) ?? 0)));
    return { gateway, end, lateEnd: Math.min(end, slot(asOf - late)) };
  });
}

/** Where the windows of a rule end at a gateway. */
export function endOf({ count }: CountingRule, { end, lateEnd }: WindowEnds, asOf: number): number {
  if (count.clock === 'wall') return asOf - OWN_LAG_SECONDS;
  return count.clock === 'late' ? lateEnd : end;
}

/** A setting of a rule for a gateway, or what the rule itself says. */
export const settingOf = (
  { settings, overrides }: Clocks,
  rule: string,
  gateway: string,
  name: string,
  otherwise: number,
): number => overrides[rule]?.[name] ?? settings.get(`${rule}|${gateway}|${name}`) ?? otherwise;

/** A setting of a rule, by gateway. */
export function settingsOf({ settings }: Clocks, rule: string, name: string): Map<string, number> {
  const own = [...settings].flatMap(([key, value]): [string, number][] => {
    const [ofRule, gateway = '', setting] = key.split('|');
    return ofRule === rule && setting === name ? [[gateway, value]] : [];
  });
  return new Map(own);
}

export const gaugesSql = (
  rules: readonly { readonly name: string; readonly sql: string }[],
  asOf: number,
): string =>
  rules
    .map(
      ({ name, sql }) =>
        `SELECT ${sqlText(name)} AS rule, toString(gateway) AS gateway, toString(label) AS label, toFloat64(number) AS number FROM (${sql.replaceAll('as_of', time(asOf))})`,
    )
    .join('\nUNION ALL\n');
