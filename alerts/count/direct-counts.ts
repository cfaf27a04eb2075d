import { sqlText } from '../../schemas/measures.ts';
import type { CountingRule, AddOrders } from './item-counts.ts';
import { conditionsOf } from './item-facts.ts';
import { type OrderCount, orderFacts, type Scope } from './order-count.ts';
import { lengthsOf } from './windows.ts';

/**
 * Counts over what we did ourselves: status requests, callbacks received, orders read again. Their windows
 * end at our own clock, and all of a source's rules are counted by one reading.
 */
export interface DirectCounting {
  readonly sql: string;
  readonly take: (rows: readonly DirectRow[], add: AddOrders) => void;
}

export interface DirectRow {
  readonly gateway: string;
  /** Rule and label, with a bar between. */
  readonly label: string;
  /** Orders by window, shortest first. */
  readonly seen: readonly number[];
  readonly hit: readonly number[];
}

/** A number that the configuration sets of a rule for some gateways. */
export type SettingOf = (rule: string, name: string) => ReadonlyMap<string, number>;

/**
 * @param rules rules of one source
 * @param end where the windows end, in seconds since 1970
 * @param asOf the instant of knowledge
 */
export function directCounting(
  rules: readonly [CountingRule, ...CountingRule[]],
  end: number,
  asOf: number,
  settingOf: SettingOf,
): DirectCounting {
  const [first] = rules;
  const lengths = [...new Set(rules.flatMap(lengthsOf))].toSorted((a, b) => a - b);
  const windows = `[${lengths.join(', ')}]`;
  const count: OrderCount = {
    from: first.count.from,
    splitBy: null,
    counts: rules.flatMap(({ name, count }) =>
      count.counts.map((label) => ({ ...conditionsOf(count, label), label: `${name}|${label.label}` })),
    ),
  };
  const scope = scopeUntil(end, asOf, Math.max(...lengths), (name) => settingOf(first.name, name));
  return {
    sql: `SELECT gateway, fact.1 AS label, sumForEach(arrayMap(w -> toUInt32(fact.2 >= ${time(end)} - toIntervalSecond(w)), ${windows})) AS seen, sumForEach(arrayMap(w -> toUInt32(fact.3 >= ${time(end)} - toIntervalSecond(w)), ${windows})) AS hit
FROM
(
  ${orderFacts([{ count, longestSeconds: Math.max(...lengths) }], scope)}
)
ARRAY JOIN facts AS fact
GROUP BY gateway, label`,
    take(rows, add) {
      for (const { gateway, label, seen, hit } of rows) {
        const [rule = '', own = ''] = label.split('|');
        for (const [index, windowSeconds] of lengths.entries())
          add({ rule, label: own, gateway, windowSeconds }, Number(seen[index]), Number(hit[index]));
      }
    },
  };
}

const time = (seconds: number): string => `toDateTime64(${seconds}, 6, 'UTC')`;

function scopeUntil(
  end: number,
  asOf: number,
  seconds: number,
  settings: (name: string) => ReadonlyMap<string, number>,
): Scope {
  const within: Scope['within'] = (column, before = 0) =>
    `${column} >= ${time(end)} - toIntervalSecond(${seconds} + ${before}) AND ${column} < ${time(end)}`;
  return {
    asOf: time(asOf),
    within,
    reach: (column, _longest, before) => within(column, before),
    setting(name, otherwise) {
      const own = [...settings(name)];
      if (own.length === 0) return String(otherwise);
      return `transform(toString(gateway), [${own.map(([gateway]) => sqlText(gateway)).join(', ')}], [${own.map(([, value]) => `toFloat64(${value})`).join(', ')}], toFloat64(${otherwise}))`;
    },
    greatestSetting: (name, otherwise) => String(Math.ceil(Math.max(otherwise, ...settings(name).values()))),
  };
}
