import { groupOfReason, NOW, rangeWindow, type Window, withWatermarks } from '../../schemas/measures.ts';

/**
 * How the queries of every dashboard see time and the viewer's choices. Text only: nothing here knows
 * Grafana's objects.
 */

/** A panel shows what is known by now about the chosen range, also when the range lies in the past. */
export const WITH_WATERMARKS = withWatermarks(NOW);
/** The chosen range, cut at the end of each gateway's window. */
export const RANGE: Window = rangeWindow('$__fromTime', '$__toTime');
/** The chosen range on a time column of what is not a measure: polls, callbacks, reports. */
export const inRange = (time: string): string => `${time} >= $__fromTime AND ${time} < $__toTime`;

/** The end of the chosen range, or now where that lies in the future. */
export const END = 'least(now(), $__toTime)';

/** A condition that holds when the variable is "All" or contains the column's value. */
const chosen = (column: string, variable: string): string =>
  `$__conditionalAll(${column} IN (\${${variable}:singlequote}), $${variable})`;

export const CHOSEN_GATEWAY = chosen('gateway', 'gateway');
/** Of rows that may concern no gateway. */
export const OWN_GATEWAY = `(gateway = '' OR ${CHOSEN_GATEWAY})`;
export const CHOSEN_ORDER_TYPE = chosen('order_type', 'order_type');
/** For history items, which carry a channel; callbacks and polls do not. */
export const CHOSEN_ITEMS = `${CHOSEN_GATEWAY} AND ${CHOSEN_ORDER_TYPE} AND ${chosen('channel', 'channel')}`;
export const CHOSEN_CALLBACKS = `${CHOSEN_GATEWAY} AND ${CHOSEN_ORDER_TYPE}`;
export const CHOSEN_STAGE = chosen('stage', 'stage');
export const CHOSEN_REASON_GROUP = chosen(groupOfReason('reason_code'), 'reason_group');
/** Two digits, as the code has them. */
export const REASON = `leftPad(toString(reason_code), 2, '0')`;
/** Of single items: where, and why. */
export const CHOSEN_FAILURES = `${CHOSEN_STAGE} AND ${CHOSEN_REASON_GROUP} AND ${chosen(REASON, 'reason')}`;

/** History items of the chosen range, gateways, order types and channels. */
export const ITEMS = `${RANGE.items} AND ${CHOSEN_ITEMS}`;
/** Bucket of a time column. */
export const bucket = (time: string): string => `$__timeInterval(${time})`;
