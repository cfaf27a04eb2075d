import { sqlText } from '../../schemas/measures.ts';
import type { CountingRule } from '../rules/rule.ts';
import { metAt } from './met-at.ts';
import { isOfOrders, orderFacts, type Scope, scanOf } from './order-facts.ts';
import { SLICE_COLUMNS, sumsBySlice, sumsOfWhole } from './slices.ts';
import { lengthsOf } from './windows.ts';

/** Where a gateway's windows end, in seconds since 1970. */
export interface GatewayEnd {
  readonly gateway: string;
  readonly end: number;
}

/** Adds orders to what a label has within a window. */
export type AddOrders = (
  at: {
    readonly rule: string;
    readonly gateway: string;
    readonly slice: string;
    readonly label: string;
    readonly windowSeconds: number;
  },
  seen: number,
  hit: number,
) => void;

/** A number that the configuration sets of a rule for some gateways. */
export type SettingOf = (rule: string, name: string) => ReadonlyMap<string, number>;

/**
 * Orders of a gateway and slice: in `within_60` and so on, how many met each condition within that many
 * seconds before the window's end.
 */
export type WindowCountRow = Readonly<Record<string, string | readonly number[]>>;

export interface WindowCounting {
  readonly sql: string;
  readonly take: (rows: readonly WindowCountRow[], add: AddOrders) => void;
}

export interface WindowCountingOptions {
  /** Rules whose sources have one scan and whose windows end alike. */
  readonly rules: readonly [CountingRule, ...CountingRule[]];
  /** At least one. */
  readonly ends: readonly GatewayEnd[];
  /** The instant of knowledge, in seconds since 1970. */
  readonly asOf: number;
  readonly settingOf: SettingOf;
}

/** Rules that one statement counts for. */
export const countedTogether = ({ count }: CountingRule): string =>
  `${scanOf(count.from)} ${count.clock ?? 'watermark'}`;

/**
 * One SELECT that counts orders for some rules, by slice: of each order the latest instant at which it met
 * each condition, and of these how many lie in each window.
 */
export function windowCounting({ rules, ends, asOf, settingOf }: WindowCountingOptions): WindowCounting {
  const [first] = rules;
  const lengths = [...new Set(rules.flatMap(lengthsOf))].toSorted((a, b) => a - b);
  const longest = Math.max(...lengths);
  const met = metAt(rules);
  const scope = scopeOf(ends, longest, asOf, (name) => settingOf(first.name, name));
  const within = Object.fromEntries(
    lengths.map((seconds) => [
      `within_${seconds}`,
      `arrayMap(at -> toUInt32(at >= ${scope.end} - toIntervalSecond(${seconds})), met_at)`,
    ]),
  );
  const isSliced = isOfOrders(first.count.from);
  const columns: typeof met.columns = (latest) =>
    `${isSliced ? `${SLICE_COLUMNS}, ` : ''}${met.columns(latest)}`;
  const facts = orderFacts(met.sources, scope, longest, columns);
  return {
    sql: isSliced ? sumsBySlice(facts, within) : sumsOfWhole(facts, within),
    take(rows, add) {
      for (const row of rows)
        for (const rule of rules)
          for (const { label } of rule.count.counts) {
            const { seen, hit } = met.placesOf(rule, label);
            for (const windowSeconds of lengths) {
              const numbers = row[`within_${windowSeconds}`] ?? [];
              const [gateway, slice] = [String(row['gateway']), String(row['slice'])];
              const at = { rule: rule.name, gateway, slice, label, windowSeconds };
              add(at, Number(numbers[seen]), Number(numbers[hit]));
            }
          }
    },
  };
}

const time = (seconds: number | string): string => `toDateTime64(${seconds}, 6, 'UTC')`;

function scopeOf(
  ends: readonly GatewayEnd[],
  longest: number,
  asOf: number,
  settings: (name: string) => ReadonlyMap<string, number>,
): Scope {
  const byGateway = (values: ReadonlyMap<string, number>, otherwise: number): string =>
    values.size === 0
      ? String(otherwise)
      : `transform(toString(gateway), [${[...values.keys()].map(sqlText).join(', ')}], [${[...values.values()].map((value) => `toFloat64(${value})`).join(', ')}], toFloat64(${otherwise}))`;
  const seconds = ends.map(({ end }) => end);
  const [earliest, latest] = [Math.min(...seconds), Math.max(...seconds)];
  const end =
    earliest === latest
      ? time(latest)
      : time(byGateway(new Map(ends.map((one) => [one.gateway, one.end])), 0));
  const ours = `gateway IN (${ends.map(({ gateway }) => sqlText(gateway)).join(', ')})`;
  const within: Scope['within'] = (column, before = 0) =>
    `${column} >= ${time(earliest)} - toIntervalSecond(${longest} + ${before}) AND ${column} < ${end}`;
  return {
    asOf: time(asOf),
    end,
    within,
    reach: (column) => within(column),
    touched: (before) =>
      `${ours} AND last_item_at >= ${time(earliest - longest - before)} AND created_at < ${time(latest)}`,
    setting: (name, otherwise) => byGateway(settings(name), otherwise),
    greatestSetting: (name, otherwise) => String(Math.ceil(Math.max(otherwise, ...settings(name).values()))),
  };
}
