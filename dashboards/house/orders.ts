import { FAILING, isKnown, view } from '../../schemas/measures.ts';
import { CHOSEN_ITEMS, RANGE } from './filters.ts';

/**
 * Orders and their items as panels ask for them: views with conditions, to stand after FROM. A row of
 * `orders` holds all that an order's history says, so panels count rows. All need WITH_WATERMARKS in front.
 */

/** Orders with this time of their history in the range. An index skips by the first condition. */
export const ordersBy = (time: string): string =>
  `${view('orders')}
WHERE last_item_at >= $__fromTime AND ${RANGE.contains(time)} AND ${CHOSEN_ITEMS}`;

/** Of items: how many orders they are of. */
export const ORDERS = 'uniqExact(order_number)';
export const ordersIf = (condition: string): string => `uniqExactIf(order_number, ifNull(${condition}, 0))`;

/** A range of time: its ends, and as a condition on a time. */
interface Range {
  readonly from: string;
  readonly to: string;
  readonly contains: (time: string) => string;
}
const CHOSEN_RANGE: Range = { from: '$__fromTime', to: '$__toTime', contains: RANGE.contains };
/** Orders that may have items within a range, by an index. */
const touched = ({ from, to }: Range): string => `last_item_at >= ${from} AND created_at < ${to}`;

/**
 * Items of orders within a range, beside the columns of their orders. `place` counts the items of an order
 * from 1, in time order, and `nth_at_stage` those at the item's stage; `time_before` is the time of the item
 * before (its own for the first).
 */
const itemsWithin = (range: Range): string =>
  `${view('orders')}
ARRAY JOIN history.time AS event_time, history.action AS action, history.stage AS stage, history.result AS result, history.state AS state,
  history.reason_code AS reason_code, arrayEnumerate(history.time) AS place, arrayEnumerateUniq(history.stage) AS nth_at_stage,
  arrayPopBack(arrayPushFront(history.time, history.time[1])) AS time_before
WHERE ${touched(range)} AND ${range.contains('event_time')} AND ${CHOSEN_ITEMS}`;
/** Orders that have items within a range. */
const ordersWithin = (range: Range): string =>
  `${view('orders')}
WHERE ${touched(range)} AND arrayExists(event_time -> ${range.contains('event_time')}, history.time) AND ${CHOSEN_ITEMS}`;

/** Items of the chosen range. */
export const ITEMS_OF_ORDERS = itemsWithin(CHOSEN_RANGE);
/** The failing ones among them. */
export const FAILURES = `${ITEMS_OF_ORDERS} AND ${FAILING}`;
/** Orders that have items within the chosen range. */
export const SEEN_ORDERS = ordersWithin(CHOSEN_RANGE);

/** The same range a week before, cut where today's is cut, so that like is compared with like. */
const WEEK = 'INTERVAL 7 DAY';
const [FROM, TO] = [`$__fromTime - ${WEEK}`, `$__toTime - ${WEEK}`];
const LAST_WEEK: Range = {
  from: FROM,
  to: TO,
  contains: (time) => `${time} >= ${FROM} AND ${time} < ${TO} AND ${isKnown(`${time} + ${WEEK}`)}`,
};
export const FAILURES_LAST_WEEK = `${itemsWithin(LAST_WEEK)} AND ${FAILING}`;
export const SEEN_LAST_WEEK = ordersWithin(LAST_WEEK);
