import { sqlText } from '../../schemas/measures.ts';
import type { DropRule, ShareRule } from '../rules/rule.ts';
import { labelsOf, type OrderCount, orderFacts } from './order-count.ts';
import { trailingScope, windowEnd } from './scope.ts';

/** Orders by window, as SQL. */

/** All window lengths of a rule, ascending; windows and their confirming windows refer to them by place. */
export function lengthsOf(rule: ShareRule | DropRule): number[] {
  const windows: readonly { windowSeconds: number; confirmSeconds?: number }[] = rule.condition.windows;
  const all = windows.flatMap(({ windowSeconds, confirmSeconds }) => [
    windowSeconds,
    ...(confirmSeconds === undefined ? [] : [confirmSeconds]),
  ]);
  return [...new Set(all)].toSorted((a, b) => a - b);
}

/**
 * SELECT of gateway, label, ends_at, seen_in and hit_in: orders by window length, in the order of `lengths`.
 * Little text on purpose: reading a long expression costs the engine more than counting does.
 */
export function countsByWindow(count: OrderCount, lengths: readonly number[]): string {
  const windows = `[${lengths.join(', ')}]`;
  return `SELECT gateway, label, ${windowEnd(count)} AS ends_at, sumForEach(seen) AS seen_in, sumForEach(hit) AS hit_in
    FROM
    (
      SELECT gateway, fact.1 AS label, arrayMap(w -> toFloat64(fact.2 >= ends_at - toIntervalSecond(w)), ${windows}) AS seen, arrayMap(w -> toFloat64(fact.3 >= ends_at - toIntervalSecond(w)), ${windows}) AS hit
      FROM
      (
        SELECT gateway, facts, ${windowEnd(count)} AS ends_at
        FROM
        (
          ${orderFacts([{ count }], trailingScope(count, Math.max(...lengths)))}
        )
      )
      ARRAY JOIN facts AS fact
      UNION ALL
      SELECT arrayJoin(mapKeys(watermarks)) AS gateway, arrayJoin([${labelsOf(count).map(sqlText).join(', ')}]) AS label, arrayMap(_ -> 0., ${windows}) AS seen, seen AS hit
    )
    GROUP BY gateway, label`;
}

/** Seconds since 1970, exact to the microsecond. */
export const epoch = (time: string): string => `toUnixTimestamp64Micro(${time}) / 1000000`;
