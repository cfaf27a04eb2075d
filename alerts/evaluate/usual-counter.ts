import type { Calendar } from '../count/calendar.ts';
import { type ActivityRow, hasBaseline, QUARTER_SECONDS } from '../count/usual.ts';
import { type UsualRow, usualCounting, usualTogether } from '../count/usual-counts.ts';
import type { CountingRule } from '../rules/rule.ts';

/** Traffic changes faster than shares do. */
const EVERY_SECONDS = { share: QUARTER_SECONDS, drop: 300 } as const;

/** What baselines are made of, by rule; counted anew every few minutes. */
export type UsualCounter = (
  asked: readonly CountingRule[],
  gateways: readonly string[],
  asOf: number,
  calendars: ReadonlyMap<string, Calendar>,
) => Promise<ReadonlyMap<string, readonly ActivityRow[]>>;

type Counted = ReadonlyMap<string, readonly ActivityRow[]>;

/**
 * @param rules all that will be asked for
 * @param query runs one SELECT
 */
export function createUsualCounter(
  rules: readonly CountingRule[],
  query: <T>(sql: string) => Promise<T[]>,
): UsualCounter {
  const together = [...Map.groupBy(rules.filter(hasBaseline), usualTogether).values()];
  const last = new Map<number, { readonly key: string; readonly counted: Counted }>();
  return async (asked, gateways, asOf, calendars) => {
    const usual = new Map<string, readonly ActivityRow[]>();
    for (const [index, [first, ...others]] of together.entries()) {
      if (first === undefined || gateways.length === 0) continue;
      if (![first, ...others].some((rule) => asked.includes(rule))) continue;
      const at = asOf - (asOf % EVERY_SECONDS[first.kind]);
      const key = [at, ...gateways.map((gateway) => `${gateway} ${calendars.get(gateway)?.key ?? ''}`)].join(
        '|',
      );
      let counted = last.get(index)?.key === key ? last.get(index)?.counted : undefined;
      if (counted === undefined) {
        const { sql, take } = usualCounting([first, ...others], gateways, at, calendars);
        counted = take(sql === null ? [] : await query<UsualRow>(sql));
        last.set(index, { key, counted });
      }
      for (const [rule, rows] of counted) usual.set(rule, rows);
    }
    return usual;
  };
}
