import { sqlText } from '../../schemas/measures.ts';
import type { CountingRule } from '../rules/rule.ts';
import { type Calendar, type Source, sourcesOf } from './calendar.ts';
import { metAt } from './met-at.ts';
import { orderFacts, type Scope, scanOf } from './order-facts.ts';
import { SLICE_COLUMNS, sumsBySlice, sumsOfWhole } from './slices.ts';
import { type ActivityRow, hasSlices, QUARTER_SECONDS, quarterOf, spanOf } from './usual.ts';

/**
 * Counts what baselines are made of: the orders of some rules in the same hours of days before, an order
 * at the last instant in them at which it met a condition.
 */

/** Rules whose activity one statement counts. */
export const usualTogether = (rule: CountingRule): string =>
  JSON.stringify([rule.kind, scanOf(rule.count.from), spanOf(rule)]);

/** By gateway, slice and source: in `place_0` and so on, how many orders met each condition there. */
export type UsualRow = Readonly<Record<string, string | number | readonly number[]>>;

export interface UsualCounting {
  /** Null: holidays leave nothing to compare with. */
  readonly sql: string | null;
  /** Rows by name of the rule. */
  readonly take: (rows: readonly UsualRow[]) => ReadonlyMap<string, readonly ActivityRow[]>;
}

/** A source, and the gateways that are compared with it. */
interface Part extends Source {
  readonly gateways: readonly string[];
}

/**
 * @param rules see `usualTogether`
 * @param gateways at least one
 * @param asOf an instant, in seconds since 1970
 * @param calendars by gateway; without one, days are those of UTC and none is a holiday
 */
export function usualCounting(
  rules: readonly [CountingRule, ...CountingRule[]],
  gateways: readonly string[],
  asOf: number,
  calendars: ReadonlyMap<string, Calendar>,
): UsualCounting {
  const span = spanOf(rules[0]);
  const now = quarterOf(asOf);
  const stretch = span.stretch * QUARTER_SECONDS;
  const alike = [...Map.groupBy(gateways, (gateway) => calendars.get(gateway)?.key ?? '').values()];
  const parts = alike.flatMap((some) =>
    sourcesOf(span, now, calendars.get(some[0] ?? '')).map((source): Part => ({ ...source, gateways: some })),
  );
  /** The first stretch of a part, counted from the quarter of the instant. */
  const firstPlace = ({ from, shift }: Source): number => Math.floor((from + shift - now) / stretch);
  const most = Math.max(
    0,
    ...parts.map((part) => firstPlace({ ...part, from: part.to - 1 }) - firstPlace(part) + 1),
  );
  const met = metAt(rules);
  const areSliced = rules.some(hasSlices);
  const selects = parts.map((part, index) => {
    const columns: typeof met.columns = (latest) =>
      `${areSliced ? `${SLICE_COLUMNS}, ` : ''}${met.columns(latest)}`;
    const facts = orderFacts(met.sources, scopeOf(part, asOf), part.to - part.from, columns);
    const places = Object.fromEntries(
      Array.from({ length: most }, (_, nth) => {
        const begin = now - part.shift + (firstPlace(part) + nth) * stretch;
        const [from, to] = [Math.max(begin, part.from), Math.min(begin + stretch, part.to)];
        return [`place_${nth}`, `arrayMap(at -> toUInt32(at >= ${time(from)} AND at < ${time(to)}), met_at)`];
      }),
    );
    return `SELECT ${index} AS part, * FROM (${areSliced ? sumsBySlice(facts, places) : sumsOfWhole(facts, places)})`;
  });
  return {
    sql: selects.length === 0 ? null : selects.join('\nUNION ALL\n'),
    take: (rows) =>
      new Map(
        rules.map((rule) => [
          rule.name,
          rows.flatMap((row) => {
            const part = parts[Number(row['part'])];
            if (part === undefined) return [];
            return rule.count.counts.flatMap(({ label }) => {
              const { seen, hit } = met.placesOf(rule, label);
              return Array.from({ length: most }, (_, nth): ActivityRow => {
                const numbers = (row[`place_${nth}`] ?? []) as readonly number[];
                return {
                  gateway: String(row['gateway']),
                  slice: String(row['slice']),
                  day: part.day,
                  place: firstPlace(part) + nth,
                  label,
                  seen: Number(numbers[seen]),
                  hit: Number(numbers[hit]),
                };
              }).filter((one) => one.seen > 0);
            });
          }),
        ]),
      ),
  };
}

const time = (seconds: number): string => `toDateTime64(${seconds}, 6, 'UTC')`;

function scopeOf({ from, to, gateways }: Part, asOf: number): Scope {
  const within: Scope['within'] = (column) => `${column} >= ${time(from)} AND ${column} < ${time(to)}`;
  return {
    asOf: time(asOf),
    end: time(to),
    within,
    reach: (column) => within(column),
    touched: (before) =>
      `gateway IN (${gateways.map(sqlText).join(', ')}) AND last_item_at >= ${time(from - before)} AND created_at < ${time(to)}`,
    setting: (_name, otherwise) => String(otherwise),
    greatestSetting: (_name, otherwise) => String(otherwise),
  };
}
