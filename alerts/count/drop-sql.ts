import { RECOVERY } from '../rules/conditions.ts';
import type { DropCondition, DropRule, DropStep } from '../rules/rule.ts';
import { dropBaseline } from './baseline.ts';
import { tunable } from './rule-settings.ts';
import { countsByWindow, epoch, lengthsOf } from './windows.ts';

/** SELECT of gateway, label, seen, expected, limit and window_from. */
export function dropBody(rule: DropRule, silent: readonly string[]): string {
  const { condition, count } = rule;
  const lengths = lengthsOf(rule);
  const quiet = silent.map((reason) => ` AND NOT (${reason})`).join('');
  // On the square root's scale a Poisson count has the same spread at every volume.
  return `SELECT gateway, label, ${epoch('ends_at')} - [${lengths.join(', ')}][chosen] AS window_from,
    arrayMap((e, w) -> 2 * sqrt(e + 0.375) - ${condition.z} * sqrt(1 + (pow(noise, 2) - 1) * w / 900), expected_in, [${lengths.join(', ')}]) AS low_roots,
    arrayMap(r -> ${ordersBelow('r')}, low_roots) AS unusual, arrayMap(e -> 2 * sqrt(e + 0.375) - ${condition.z}, expected_in) AS chance_roots,
    arrayMap((e, u, c) -> if(e < minimum, -1., least(floor(below * e), greatest(u, least(floor(${condition.certainBelow} * e), ${ordersBelow('c')})))), expected_in, unusual, chance_roots) AS ${condition.step === undefined ? 'limits' : 'by_weeks'},
    ${
      condition.step === undefined
        ? ''
        : `${stepLimits(condition, condition.step, lengths)} AS limits,
    `
    }arrayFirstIndex((n, e) -> e >= ${RECOVERY.enoughOrders} AND n > (below + ${RECOVERY.wayBack} * (1 - below)) * e, seen_in, expected_in) AS recovered,
    arrayMap((n, low, i) -> n <= low AND (recovered = 0 OR recovered >= i), seen_in, limits, arrayEnumerate(limits)) AS holds,
    indexOf(holds, 1) AS held, arrayFirstIndex(e -> e >= minimum, expected_in) AS enough,
    multiIf(held > 0, held, enough > 0, enough, ${lengths.length}) AS chosen,
    seen_in[chosen] AS seen, expected_in[chosen] AS expected,
    if(held > 0${quiet}, limits[chosen], least(limits[chosen], seen - 1)) AS limit
  FROM
  (
    SELECT gateway, label, ends_at, seen_in, if(empty(usual.expected_of), arrayMap(_ -> 0., seen_in), usual.expected_of) AS expected_in, greatest(1, usual.noise) AS noise,${
      condition.step === undefined
        ? ''
        : `
      if(empty(usual.following_of), arrayMap(_ -> 0., seen_in), usual.following_of) AS following_in, greatest(1, usual.hour) AS hour,`
    }
      ${tunable('below', condition.below)} AS below, ${tunable('minimumExpectedOrders', condition.minimumExpectedOrders)} AS minimum
    FROM
    (
      ${countsByWindow(count, lengths)}
    ) AS counted
    LEFT JOIN
    (
      ${dropBaseline(rule, lengths)}
    ) AS usual USING (gateway, label)
  )`;
}

/**
 * How many orders are too few, by a limit on the scale of 2 sqrt(n + 3/8), where chance has the same spread
 * at every volume; -1: no number is.
 */
const ordersBelow = (root: string): string => `ceil(pow(greatest(0, ${root}) / 2, 2) - 0.375) - 1`;

/**
 * The higher of two limits: from other weeks, and from the hour before. The expectation from that hour is
 * only as exact as its number of orders allows. Traffic varies around it half as much as around other weeks,
 * and at least as much as the condition says.
 */
const stepLimits = ({ below, z }: DropCondition, step: DropStep, lengths: readonly number[]): string =>
  `arrayMap((l, e, w) -> if(e < minimum, l, greatest(l, least(floor(${Number((step.below / below).toPrecision(9))} * below * e), ${ordersBelow(
    `(2 * sqrt(e + 0.375) - ${z} * sqrt(1 + e / hour + greatest(${step.variation ** 2} * e, (pow(noise, 2) - 1) * w / 3600)))`,
  )}))), by_weeks, following_in, [${lengths.join(', ')}])`;
