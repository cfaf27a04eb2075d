import { sqlText } from '../../schemas/measures.ts';
import type { CountingRule } from '../rules/rule.ts';
import { type Calendar, type Source, type Span, sourcesOf } from './calendar.ts';
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

/** Gateways with one calendar, and the stretches of time that they are compared with, oldest first. */
interface Alike {
  readonly gateways: readonly string[];
  readonly sources: readonly [Source, ...Source[]];
}

/**
 * An order is counted in the first of the sources that ends after the order began, so that one scan serves
 * all of them: the conditions of all rules are written once.
 *
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
  const groups = Map.groupBy(gateways, (gateway) => calendars.get(gateway)?.key ?? '').values();
  const alike = [...groups].flatMap((some): Alike[] => {
    const found = sourcesOf(span, now, calendars.get(some[0] ?? '')).toSorted((a, b) => a.from - b.from);
    const [first, ...others] = found;
    return first === undefined ? [] : [{ gateways: some, sources: [first, ...others] }];
  });
  const places = placesOf(span, now);
  const met = metAt(rules);
  const sums = Object.fromEntries(
    places.map(({ from, to }, nth) => [
      `place_${nth}`,
      `arrayMap(at -> toUInt32(at >= ${time(from)} - shift AND at < ${time(to)} - shift), met_at)`,
    ]),
  );
  const sumsOf = rules.some(hasSlices) ? sumsBySlice : sumsOfWhole;
  const selects = alike.map((group, index) => {
    const columns: typeof met.columns = (latest) =>
      `${SLICE_COLUMNS}, ${sourceColumns(group)}, ${met.columns(latest)}`;
    const facts = orderFacts(met.sources, scopeOf(group, asOf), 0, columns);
    return `SELECT ${index} AS alike, * FROM (${sumsOf(facts, sums, 'source')})`;
  });
  return {
    sql: selects.length === 0 ? null : selects.join('\nUNION ALL\n'),
    take: (rows) =>
      new Map(
        rules.map((rule) => [
          rule.name,
          rows.flatMap((row) => {
            const source = alike[Number(row['alike'])]?.sources[Number(row['source']) - 1];
            if (source === undefined) return [];
            return rule.count.counts.flatMap(({ label }) => {
              const { seen, hit } = met.placesOf(rule, label);
              return places
                .map(({ place }, nth): ActivityRow => {
                  const numbers = (row[`place_${nth}`] ?? []) as readonly number[];
                  return {
                    gateway: String(row['gateway']),
                    slice: String(row['slice']),
                    day: source.day,
                    place,
                    label,
                    seen: Number(numbers[seen]),
                    hit: Number(numbers[hit]),
                  };
                })
                .filter((one) => one.seen > 0);
            });
          }),
        ]),
      ),
  };
}

/** The stretches of a span at the instant itself, in seconds since 1970. */
function placesOf({ from, to, stretch }: Span, now: number) {
  const [begin, end, length] = [from, to, stretch].map((quarters) => quarters * QUARTER_SECONDS) as [
    number,
    number,
    number,
  ];
  const first = Math.floor(begin / length);
  const count = Math.ceil(end / length) - first;
  return Array.from({ length: count }, (_, nth) => ({
    place: first + nth,
    from: now + Math.max(begin, (first + nth) * length),
    to: now + Math.min(end, (first + nth + 1) * length),
  }));
}

/** Which source an order is counted in, from 1 on, and by how much it lies before the instant. */
function sourceColumns({ sources }: Alike): string {
  const ends = sources.map(({ to }) => time(to)).join(', ');
  const shifts = sources.map(({ shift }) => shift).join(', ');
  return `indexOf([${ends}], ends_at) AS source, toIntervalSecond([${shifts}][source]) AS shift`;
}

const time = (seconds: number): string => `toDateTime64(${seconds}, 6, 'UTC')`;

function scopeOf({ gateways, sources }: Alike, asOf: number): Scope {
  const [first] = sources;
  const last = sources.at(-1) ?? first;
  const within: Scope['within'] = (column) =>
    `${column} >= ${time(first.from)} AND ${column} < ${time(last.to)}`;
  const ends = sources.map(({ to }) => `created_at < ${time(to)}, ${time(to)}`);
  const ours = `gateway IN (${gateways.map(sqlText).join(', ')})`;
  return {
    asOf: time(asOf),
    end: `multiIf(${ends.join(', ')}, ${time(last.to)})`,
    within,
    reach: (column) => within(column),
    touched: (before) =>
      `${ours} AND (${sources.map(({ from, to }) => `last_item_at >= ${time(from - before)} AND created_at < ${time(to)}`).join(' OR ')})`,
    setting: (_name, otherwise) => String(otherwise),
    greatestSetting: (_name, otherwise) => String(otherwise),
  };
}
