import { FIRST_ITEM, sqlText, view, withWatermarks } from '../../schemas/measures.ts';
import { WINDOWS } from '../../schemas/windows.ts';
import type { OrderCount, Scope } from './order-count.ts';
import { OWN } from './rule-settings.ts';

/**
 * The evaluation instant. In a rule there is no other clock: evaluating the past must see what was known
 * then.
 */
export const NOW = '$__toTime';

/** Our own polls and the callbacks we receive are stored within seconds. */
const OWN_LAG_SECONDS = 15;

/** Bounds of the measured lateness, for counts to which a late item looks like a missing one. */
const LATENESS = { atLeastSeconds: 30, atMostSeconds: 300, measuredOverSeconds: 3600 } as const;

/** SQL of where the windows of a count end, for the row's gateway. Needs `withClocks` in front. */
export function windowEnd(count: OrderCount): string {
  if (count.clock === 'wall') return `toDateTime64(${NOW} - INTERVAL ${OWN_LAG_SECONDS} SECOND, 6, 'UTC')`;
  if (count.clock === 'late')
    return `least(window_end(gateway), toDateTime64(${NOW}, 6, 'UTC') - toIntervalMillisecond(lateness[toString(gateway)]))`;
  return 'window_end(gateway)';
}

/** `WITH` clause of a count: watermarks, and the lateness of items where the count needs it. */
export function withClocks(count: OrderCount): string {
  const watermarks = withWatermarks(NOW);
  if (count.clock !== 'late') return watermarks;
  // Per gateway, milliseconds by which 19 of 20 orders are known after they began.
  return `${watermarks},
  (
    SELECT mapFromArrays(groupArray(gateway), groupArray(late))
    FROM
    (
      SELECT toString(gateway) AS gateway, toUInt32(least(${LATENESS.atMostSeconds}, greatest(${LATENESS.atLeastSeconds}, ceil(quantile(0.95)(dateDiff('millisecond', event_time, observed_at)) / 1000))) * 1000) AS late
      FROM ${view('historyEvents')}
      WHERE ${FIRST_ITEM} AND event_time >= ${NOW} - INTERVAL ${LATENESS.measuredOverSeconds} SECOND AND event_time < ${NOW} AND observed_at <= ${NOW}
      GROUP BY gateway
    )
  ) AS lateness`;
}

/** The last `seconds` before a gateway's window end, as known at the evaluation instant. */
export function trailingScope(count: OrderCount, seconds: number): Scope {
  // No gateway's window begins before this. Redundant, but the engine prunes parts only by constants.
  const oldest = `arrayMin(arrayPushBack(mapValues(watermarks), toDateTime64(${NOW}, 6, 'UTC')))`;
  const end = windowEnd(count);
  return {
    asOf: NOW,
    setting: (name, otherwise) => `${OWN.lambda}(toString(gateway), ${sqlText(name)}, ${otherwise})`,
    greatestSetting: (name, otherwise) =>
      `arrayMax(arrayPushBack(mapValues(mapFilter((k, v) -> endsWith(k, ${sqlText(`/${name}`)}), ${OWN.map})), ${otherwise}))`,
    within: (time, before = 0) => {
      const since = (base: number): string =>
        typeof before === 'number' ? String(base + before) : `toUInt32(${base} + ${before})`;
      const prune =
        count.clock === 'wall'
          ? ''
          : `${time} >= ${oldest} - INTERVAL ${since(WINDOWS.lagSeconds + seconds)} SECOND AND ${time} < ${NOW} AND `;
      return `${prune}${time} >= ${end} - INTERVAL ${since(seconds)} SECOND AND ${time} < ${end}`;
    },
  };
}

/**
 * The scope of the parameterized view: one gateway, between the instants that a page names, as of a third.
 */
export const PAGE_SCOPE: Scope = {
  setting: (name, otherwise) => settingOfPage(name, otherwise),
  greatestSetting: (name, otherwise) => settingOfPage(name, otherwise),
  asOf: `{as_of:DateTime64(6, 'UTC')}`,
  within: (time, before = 0) =>
    `gateway = {gateway:String} AND ${time} >= {from:DateTime64(6, 'UTC')}${before === 0 ? '' : ` - INTERVAL ${typeof before === 'number' ? before : `toUInt32(${before})`} SECOND`} AND ${time} < {to:DateTime64(6, 'UTC')}`,
};

const settingOfPage = (name: string, otherwise: number): string =>
  `(SELECT if(count() = 0, ${otherwise}, max(value)) FROM ${view('alertSettings')} WHERE rule = {rule:String} AND gateway = {gateway:String} AND setting = ${sqlText(name)})`;
