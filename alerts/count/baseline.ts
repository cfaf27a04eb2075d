import { outcome, sqlText, view } from '../../schemas/measures.ts';
import type { OrderCount } from './order-count.ts';
import type { DropRule, ShareRule } from '../rules/rule.ts';
import { NOW } from './scope.ts';

/**
 * What is usual: the same hours of the four weeks before, from the quarter-hour activity. A median, and the
 * median absolute deviation as spread, so that one incident or holiday among those weeks changes little.
 */

const WEEKS = 4;
const WEEK = 7 * 86_400;
const QUARTER = 900;
/** A median absolute deviation times this is a standard deviation, where values are normal. */
const MAD_TO_SIGMA = 1.4826;
/**
 * The variance of a share from the hours of a few weeks is a rough estimate, too low about half of the time.
 */
const SPREAD_ROOM = 2.25;
/** A median varies this many times as much as a mean of the same values: pi / 2. */
const MEDIAN_VARIANCE = 1.5708;

/**
 * Quarters from `fromSeconds` to `toSeconds` after the evaluation instant's quarter, in the weeks `first` to
 * 4 before.
 */
function quarters(fromSeconds: number, toSeconds: number, first: number): string {
  const weeks = Array.from({ length: WEEKS - first + 1 }, (_, index) => first + index);
  return weeks
    .map((week) => {
      const shift = (seconds: number): string => {
        const total = seconds - week * WEEK;
        return `${NOW} ${total < 0 ? '-' : '+'} INTERVAL ${Math.abs(total)} SECOND`;
      };
      return `quarter >= ${shift(fromSeconds - QUARTER)} AND quarter < ${shift(toSeconds)}`;
    })
    .map((range) => `(${range})`)
    .join(' OR ');
}

/** SELECT of gateway, week, place (of a stretch of `stretch` quarters) and per label (label, seen, hit). */
function activity(count: OrderCount, range: string, stretch: number): string {
  const finished = count.from.kind === 'finished';
  const orders = (condition: string | undefined): string =>
    condition === undefined
      ? 'uniqCombined64Merge(12)(orders)'
      : `uniqCombined64MergeIf(12)(orders, ifNull(${condition}, 0))`;
  const counts = count.counts.map(
    ({ label, seen, hit }) =>
      `(${sqlText(label)}, ${orders(seen)}, ${orders(seen === undefined ? hit : `(${seen}) AND (${hit})`)})`,
  );
  const outcomes = finished ? `, ${outcome('state', 'reason_group')} AS outcome` : '';
  const where = [
    `(${range})`,
    ...(finished ? [`state IN ('SUCCESS', 'FAILED')`] : []),
    ...(count.where === undefined ? [] : [`(${count.where})`]),
  ];
  return `SELECT gateway, week, place, arrayJoin([${counts.join(', ')}]) AS counted
      FROM
      (
        SELECT *, intDiv(toUnixTimestamp(toStartOfInterval(toDateTime(${NOW}, 'UTC'), INTERVAL 900 SECOND)) - toUnixTimestamp(quarter) + ${WEEK / 2}, ${WEEK}) AS week,
          intDiv(toInt64(toUnixTimestamp(quarter)) - toUnixTimestamp(toStartOfInterval(toDateTime(${NOW}, 'UTC'), INTERVAL 900 SECOND)) + week * ${WEEK} + ${WEEK / 2}, ${stretch * QUARTER}) AS place${outcomes}
        FROM ${view('orderActivity')}
        WHERE ${where.join(' AND ')}
      )
      GROUP BY gateway, week, place`;
}

/**
 * SELECT of gateway, label, usual_share, spread (standard deviation of the share beyond chance, and of our
 * knowledge of it) and samples. Each sample is one hour of one week; half an affected order is added, since a
 * share of few orders is uncertain.
 */
export function shareBaseline(rule: ShareRule): string {
  return `SELECT gateway, label, samples, median AS usual_share,
      sqrt(${SPREAD_ROOM} * greatest(0, pow(${MAD_TO_SIGMA} * arrayReduce('medianExact', arrayMap(s -> abs(s - median), shares)), 2) - median * (1 - median) / orders) + ${MEDIAN_VARIANCE} * median * (1 - median) / greatest(1, total)) AS spread
    FROM
    (
      SELECT gateway, counted.1 AS label, groupArrayIf((counted.3 + 0.5) / (counted.2 + 1), counted.2 >= 5) AS shares, length(shares) AS samples,
        if(samples = 0, 0, arrayReduce('medianExact', shares)) AS median, greatest(1, medianExactIf(counted.2, counted.2 >= 5)) AS orders, sumIf(counted.2, counted.2 >= 5) AS total
      FROM
      (
      ${activity(rule.count, quarters(-7200, 3600, 1), 4)}
      )
      GROUP BY gateway, label
    )`;
}

/**
 * SELECT of gateway, label, expected_of (orders by window length), noise (standard deviation of a quarter's
 * orders, on the scale where chance alone gives 1), following_of (what the hour before makes one expect; 0 of
 * longer windows) and hour (that hour's orders). Today's level counts too: on a quiet day, such as a holiday,
 * fewer orders are expected. For long windows the level is taken from before the window.
 */
export function dropBaseline(rule: DropRule, lengths: readonly number[]): string {
  // Quarters by place: those of the longest window, at least 24 of the six hours before, and two after.
  const at = (from: number, to: number, week: string): string =>
    `arraySum(arrayMap(q -> table[toUInt32(${week} * 1000 + q)], range(${FIRST_PLACE + 24 + from}, ${FIRST_PLACE + 24 + to})))`;
  const expected = lengths.map((seconds) => {
    const [from, to] = RANGES(seconds);
    const scale = Number((seconds / ((to - from) * QUARTER)).toPrecision(9));
    return `${scale} * arrayReduce('median', arrayMap(w -> toFloat64(${at(from, to, 'w')}), weeks))`;
  });
  // Today compared with other weeks; with few orders it stays near 1.
  const today = ([from, to]: readonly [number, number], least: number, most: number): string =>
    `least(${most}, greatest(${least}, (${at(from, to, '0')} + 10) / (arrayReduce('median', arrayMap(w -> toFloat64(${at(from, to, 'w')}), weeks)) + 10)))`;
  const byLength = (short: string, long: string): string =>
    `[${lengths.map((seconds) => (seconds <= SHORT_SECONDS ? short : long)).join(', ')}]`;
  return `SELECT gateway, label, weeks, [${expected.join(', ')}] AS usual_of,
      ${today(HOURS_BEFORE, 0.5, 1)} AS level, ${today(NEAR_HOURS, 0.5, 1)} AS near_level, ${today(LAST_HOUR, 0.3, 1.2)} AS step_level,
      if(length(weeks) < 2, arrayMap(w -> if(w > ${COLD_SECONDS}, 0, w * ${COLD_PART} * ${at(-COLD_SECONDS / QUARTER, 0, '0')} / ${COLD_SECONDS}), [${lengths.join(', ')}]), arrayMap((e, l) -> e * l, usual_of, ${byLength('near_level', 'level')})) AS expected_of,
      if(length(weeks) < 2, arrayMap(_ -> 0., usual_of), arrayMap((e, l) -> e * l, usual_of, ${byLength('step_level', '0')})) AS following_of, toFloat64(${at(...LAST_HOUR, '0')}) AS hour,
      arrayFlatten(arrayMap(q -> arrayMap(w -> 2 * sqrt(table[toUInt32(w * 1000 + q)] + 0.375), weeks), range(${FIRST_PLACE}, ${FIRST_PLACE + 26}))) AS roots,
      arrayFlatten(arrayMap(q -> arrayMap(_ -> arrayReduce('median', arrayMap(w -> 2 * sqrt(table[toUInt32(w * 1000 + q)] + 0.375), weeks)), weeks), range(${FIRST_PLACE}, ${FIRST_PLACE + 26}))) AS usual_roots,
      if(length(weeks) < 2, ${COLD_NOISE}, greatest(1, ${MAD_TO_SIGMA} * arrayReduce('median', arrayMap((r, u) -> abs(r - u), roots, usual_roots)))) AS noise
    FROM
    (
      SELECT gateway, label, mapFromArrays(groupArray(toUInt32(week * 1000 + place)), groupArray(n)) AS table, arrayFilter(w -> w > 0, groupUniqArray(week)) AS weeks
      FROM
      (
        SELECT gateway, toUInt8(week) AS week, toUInt32(place) AS place, counted.1 AS label, counted.2 AS n
        FROM
        (
      ${activity(rule.count, quarters(QUARTER - Math.max(24 * QUARTER, ...lengths), 2 * QUARTER, 0), 1)}
        )
      )
      GROUP BY gateway, label
    )`;
}

/**
 * Without two other weeks, half of the orders of the two hours before are expected: half, since traffic falls
 * in the evening. Its variance is unknown, so only `certainBelow` counts. Longer windows expect nothing: the
 * gateway may not have been known for most of that time.
 */
const COLD_SECONDS = 7200;
const COLD_PART = 0.5;
const COLD_NOISE = 1000;
/** `place` of the quarter that is 24 before the evaluation instant's. */
const FIRST_PLACE = WEEK / 2 / QUARTER - 24;

/** Windows up to this length are short: they judge what has just begun. */
const SHORT_SECONDS = 900;
/**
 * Hours from which today's level is taken, as quarters relative to that of the evaluation instant: for long
 * windows, for short ones, and for a step.
 */
const HOURS_BEFORE = [-24, -8] as const;
const NEAR_HOURS = [-12, -4] as const;
const LAST_HOUR = [-6, -2] as const;

/**
 * Quarters around the window, relative to the evaluation instant's: centred where the window is short, the
 * window itself where it is long.
 */
const RANGES = (seconds: number): [number, number] =>
  seconds <= SHORT_SECONDS ? [-2, 2] : [-Math.ceil(seconds / QUARTER), 0];
