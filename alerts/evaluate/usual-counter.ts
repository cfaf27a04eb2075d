import type { Calendar } from '../count/calendar.ts';
import type { WindowEnds } from '../count/clocks.ts';
import { type ActivityRow, hasBaseline, QUARTER_SECONDS } from '../count/usual.ts';
import { type UsualRow, usualCounting, usualTogether } from '../count/usual-counts.ts';
import type { CountingRule } from '../rules/rule.ts';

/** Traffic changes faster than shares do. */
const EVERY_SECONDS = { share: QUARTER_SECONDS, drop: 300 } as const;

/** Before an instant that lies in the past by more than this, what is usual then counts. */
const BEHIND_SECONDS = 1_800;

type Counted = ReadonlyMap<string, readonly ActivityRow[]>;

/** What baselines are made of, by rule; counted anew every few minutes. */
export type UsualCounter = (
  asked: readonly CountingRule[],
  ends: readonly Pick<WindowEnds, 'gateway' | 'end'>[],
  asOf: number,
  calendars: ReadonlyMap<string, Calendar>,
) => Promise<Counted>;

/**
 * @param rules all that will be asked for
 * @param query runs one SELECT
 */
export function createUsualCounter(
  rules: readonly CountingRule[],
  query: <T>(sql: string) => Promise<T[]>,
): UsualCounter {
  const together = [...Map.groupBy(rules.filter(hasBaseline), usualTogether).values()];
  /** By place in `together`: what was counted last, by what it was asked for. */
  const known = new Map<number, ReadonlyMap<string, Counted>>();

  return async (asked, ends, asOf, calendars) => {
    const usual = new Map<string, ActivityRow[]>();
    for (const [index, [first, ...others]] of together.entries()) {
      if (first === undefined || ![first, ...others].some((rule) => asked.includes(rule))) continue;
      const every = EVERY_SECONDS[first.kind];
      const now = new Map<string, Counted>();
      // A gateway that we cannot see is compared with the hours at which we saw it last.
      const instants = Map.groupBy(ends, ({ end }) => {
        const instant = end < asOf - BEHIND_SECONDS ? end : asOf;
        return instant - (instant % every);
      });
      for (const [at, some] of instants) {
        const gateways = some.map(({ gateway }) => gateway).toSorted();
        const key = [at, ...gateways.map((name) => `${name} ${calendars.get(name)?.key ?? ''}`)].join('|');
        const counted = known.get(index)?.get(key) ?? (await count([first, ...others], gateways, at));
        now.set(key, counted);
        for (const [rule, rows] of counted) usual.set(rule, [...(usual.get(rule) ?? []), ...rows]);
      }
      known.set(index, now);
    }
    return usual;

    async function count(
      some: readonly [CountingRule, ...CountingRule[]],
      gateways: readonly string[],
      at: number,
    ): Promise<Counted> {
      const { sql, take } = usualCounting(some, gateways, at, calendars);
      return take(sql === null ? [] : await query<UsualRow>(sql));
    }
  };
}
