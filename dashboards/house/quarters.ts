import { ALL_REASONS, OUTCOMES, type Outcome, REASON_GROUPS, STAGES } from '../../schemas/dictionary.ts';
import { STUCK } from '../../schemas/limits.ts';
import { QUARTER_SECONDS } from '../../schemas/kept-quarters.ts';
import { moneyColumns, sqlList } from '../../schemas/measures.ts';
import {
  type FailurePart,
  microsOfItem,
  outcomeOfDecision,
  quartersBetween,
  stageOfItem,
  timeOfMicros,
} from '../../schemas/order-quarters.ts';
import { pollCounts } from '../../schemas/poll-quarters.ts';
import { WINDOWS } from '../../schemas/windows.ts';
import { CHOSEN_ITEMS } from './filters.ts';

/**
 * Orders as the panels read them: from quarters of orders (schemas/order-quarters.ts), never from all their
 * items, and status requests from counts of them (schemas/poll-quarters.ts). The numbers are those of
 * `schemas/measures.ts`.
 */

/** The quarters of the chosen range, gateways, order types and channels, as a table. */
export const QUARTERS = chosenQuarters('$__fromTime', '$__toTime');

/** The same of another range. @param from, to constant SQL */
export function chosenQuarters(from: string, to: string): string {
  return `(SELECT * FROM ${quartersBetween(from, to)} WHERE ${CHOSEN_ITEMS})`;
}

/**
 * Seconds of a step in which status requests are counted: the panel's bucket, and from ten minutes on whole
 * quarters of an hour, which are counted already.
 */
export const POLL_STEP = `if($__interval_s < 600, $__interval_s, intDiv($__interval_s + ${QUARTER_SECONDS - 1}, ${QUARTER_SECONDS}) * ${QUARTER_SECONDS})`;
/** Status requests of the chosen range, counted by such steps: step_begin and the counts. */
export const POLL_COUNTS = pollCounts('$__fromTime', '$__toTime', `toUInt32(${POLL_STEP})`);

/** n: distinct orders. */
export const ORDERS = 'uniqExact(order_number)';

/**
 * Names of gateways beside groups of orders: to keep a text for each of millions of orders takes more time
 * and memory than all else. Orders keep their gateway's number, and one reading groups by gateway as well, of
 * which each gets a row that has the name and is no order.
 */
const GATEWAY_NUMBER = 'sipHash64(gateway) AS gateway_number';
const BY_GATEWAY = 'toString(gateway) AS named, any(gateway_number) AS gateway_number';
const IS_ORDER = `named = ''`;
const NAME_IN_GROUP = 'max(named) AS name';
const NAME_OF_GATEWAY = 'max(name) OVER (PARTITION BY gateway_number)';

/** The earliest of instants of which 0 is none. */
const earliest = (column: string): string => `minIf(${column}, ${column} > 0)`;
/** SQL of an instant in microseconds since 1970. */
const micros = (time: string): string => `toUnixTimestamp64Micro(toDateTime64(${time}, 6))`;

/** Bucket of the panel of an instant, as a number, and its begin. */
const placeOf = (micros: string): string => `intDiv(${micros}, toUInt64($__interval_s) * 1000000)`;
const timeOfPlace = (place: string): string => `toDateTime(${place} * $__interval_s)`;

/**
 * Orders whose deciding item lies in the range, by its bucket and their outcome: decided_in, outcome, orders.
 * Outcomes get names when they are counted: of millions of orders names take as long as all else.
 */
export const FINISHED = `SELECT ${timeOfPlace('place')} AS decided_in, ${outcomeOfDecision('decided_as')} AS outcome, orders
  FROM
  (
    SELECT ${placeOf(microsOfItem('last'))} AS place, bitAnd(last, 15) AS decided_as, count() AS orders
    FROM (SELECT max(decision) AS last FROM ${QUARTERS} GROUP BY order_number)
    WHERE last > 0
    GROUP BY place, decided_as
  )`;

/**
 * Orders that began in the range, by bucket and gateway: time, gateway, started. @param bucket SQL of a
 * time's bucket
 */
export const startedBy = (
  bucket: (time: string) => string,
): string => `SELECT time, ${NAME_OF_GATEWAY} AS gateway, started
  FROM
  (
    SELECT ${bucket(timeOfMicros('first'))} AS time, gateway_number, ${NAME_IN_GROUP}, countIf(${IS_ORDER}) AS started
    FROM
    (
      SELECT ${BY_GATEWAY}, min(began_at) AS first
      FROM (SELECT *, ${GATEWAY_NUMBER} FROM ${QUARTERS})
      WHERE began_at > 0
      GROUP BY GROUPING SETS ((order_number), (gateway))
    )
    GROUP BY time, gateway_number
  )`;

/**
 * One row per order decided in the range whose first item lies within the look-back: decided_at, seconds from
 * its first item to its deciding one.
 */
export const TIMES_TO_FINAL = `SELECT ${timeOfMicros('decided')} AS decided_at, (toInt64(decided) - toInt64(began)) / 1000000 AS seconds
  FROM
  (
    SELECT ${microsOfItem('max(decision)')} AS decided, ${earliest('began_at')} AS began
    FROM ${chosenQuarters(`$__fromTime - INTERVAL ${WINDOWS.orderLookbackSeconds} SECOND`, '$__toTime')}
    GROUP BY order_number
    HAVING decided >= ${micros('$__fromTime')} AND began > 0
  )`;

const FROM_ITEM = `bitShiftLeft(toUInt64(${micros('$__fromTime')}), 12)`;
/** SQL of the bit of one stage and result, of the four bits of an item. */
const markOf = (bits: string): string => `bitShiftLeft(toUInt16(1), bitAnd(${bits}, 15))`;
/** Those of the range's items. */
const MARKS = `groupBitOrArray(arrayMap(one -> if(one >= ${FROM_ITEM}, ${markOf('one')}, 0), items))`;

/**
 * One row per order and stage of its items: gateway, digit (of the stage); whether it has items there within
 * the range (`seen`), failed ones among them (`failed`); when it first came there (`reached_at`), whether
 * within the range (`reached`); whether an item comes before that one (`stepped`), and the microseconds
 * between the two: how long the step into the stage took. Only such items get rows: an order has a dozen.
 */
export const STEPS = `SELECT gateway, ${stageOfItem('item')} AS digit,
    bitAnd(marks, bitShiftLeft(toUInt16(3), digit * 2)) != 0 AS seen, bitTest(marks, digit * 2 + 1) AS failed,
    ${timeOfMicros(microsOfItem('item'))} AS reached_at, item >= ${FROM_ITEM} AS reached,
    before > 0 AS stepped, ${microsOfItem('item')} - ${microsOfItem('before')} AS step
  FROM
  (
    SELECT gateway, marks, arrayMap((nth, one) -> nth = 1 AND ${stageOfItem('one')} != 0, nths, all_items) AS is_first,
      arrayFilter((one, first) -> first, all_items, is_first) AS items_there,
      arrayFilter((one, first) -> first, arrayPopBack(arrayPushFront(all_items, 0)), is_first) AS items_before
    FROM
    (
      SELECT any(q.gateway) AS gateway, ${MARKS} AS marks, arraySort(groupArrayArray(items)) AS all_items,
        arrayEnumerateUniq(arrayMap(one -> ${stageOfItem('one')}, all_items)) AS nths
      FROM ${chosenQuarters(`$__fromTime - INTERVAL ${WINDOWS.stageLookbackSeconds} SECOND`, '$__toTime')} AS q
      GROUP BY order_number
    )
  )
  ARRAY JOIN items_there AS item, items_before AS before`;

/**
 * Of a quarter of an order: the buckets of the panel that it has items in, with their marks. Where buckets
 * are quarters or hours there is one.
 */
const MARKS_BY_PLACE = `if($__interval_s % ${QUARTER_SECONDS} = 0,
          [(intDiv(toUInt64(toUnixTimestamp(quarter)), $__interval_s), arrayReduce('groupBitOr', arrayMap(one -> ${markOf('one')}, items)))],
          arrayMap(one -> (bitShiftRight(one, 4), ${markOf('one')}),
            arrayDistinct(arrayMap(one -> bitShiftLeft(intDiv(${microsOfItem('one')}, toUInt64($__interval_s) * 1000000), 4) + bitAnd(one, 15), items))))`;
const DIGITS = STAGES.map(({ code }) => code);

/**
 * Orders with a failed operation at a stage, and orders seen there, by bucket of the panel: time, gateway,
 * digit (of the stage), failed_orders, orders.
 */
export const STAGE_FAILURES = `SELECT ${timeOfPlace('place')} AS time, ${NAME_OF_GATEWAY} AS gateway, digit, failed_orders, orders
  FROM
  (
    SELECT place, gateway_number, ${NAME_IN_GROUP},
      [${DIGITS.map((digit) => `countIf(bitTest(marks, ${digit * 2 + 1}))`).join(', ')}] AS failed,
      [${DIGITS.map((digit) => `countIf(bitAnd(marks, ${3 << (digit * 2)}) != 0)`).join(', ')}] AS seen
    FROM
    (
      SELECT ${BY_GATEWAY}, place, if(${IS_ORDER}, groupBitOr(mark), 0) AS marks
      FROM
      (
        SELECT gateway, ${GATEWAY_NUMBER}, order_number, arrayJoin(${MARKS_BY_PLACE}) AS marked, marked.1 AS place, marked.2 AS mark
        FROM ${QUARTERS}
      )
      GROUP BY GROUPING SETS ((place, order_number), (gateway))
    )
    GROUP BY place, gateway_number
  )
  ARRAY JOIN failed AS failed_orders, seen AS orders, [${DIGITS.join(', ')}] AS digit`;

/** Columns of a failing item: parts of the view, of which the time is named as that of an item. */
type FailureColumn = 'event_time' | Exclude<FailurePart, 'at'>;
const partOf = (column: FailureColumn): FailurePart => (column === 'event_time' ? 'at' : column);
const partsOf = (columns: readonly FailureColumn[]): string =>
  columns.map((column) => `failures.${partOf(column)} AS ${column}`).join(', ');

/** What CHOSEN_FAILURES looks at. */
export const WHERE_AND_WHY = ['stage', 'reason_group', 'reason_code'] as const;

/**
 * One row per failing item of quarters of orders: their columns, and those of the item that are named. What
 * is named is read, of millions of items.
 */
export const failuresOf = (quarters: string, ...columns: readonly FailureColumn[]): string =>
  `${quarters} ARRAY JOIN ${partsOf(columns)}`;
/** Those of the range. */
export const failures = (...columns: readonly FailureColumn[]): string => failuresOf(QUARTERS, ...columns);
/** The same with a row for each quarter of an order without one, where is_failure is 0. */
export const quartersAndFailures = (...columns: readonly FailureColumn[]): string =>
  `(
  SELECT gateway, order_type, channel, external_id, order_number, decision, is_failure, ${columns.join(', ')}
  FROM (SELECT *, notEmpty(failures.at) AS is_failure FROM ${QUARTERS})
  LEFT ARRAY JOIN ${partsOf(columns)}
)`;
/** Whether a quarter of an order has a failing item that meets a condition on stage, group and code. */
export const anyFailure = (condition: string): string =>
  `arrayExists((stage, reason_group, reason_code) -> ${condition}, failures.stage, failures.reason_group, failures.reason_code)`;
/** NONE is the first. */
const GROUP_NAMES = REASON_GROUPS.map(({ name }) => name);
const REASON_CODES = ALL_REASONS.map(({ code }) => code).join(', ');
/**
 * Names that follow from the code, for what is grouped by it: texts of millions of items cost what all else
 * does, and a dozen comparisons take the engine 0.1 s to plan.
 */
export const GROUP_OF_CODE = `transform(reason_code, [${REASON_CODES}], [${sqlList(ALL_REASONS.map(({ group }) => group))}], 'NONE')`;
/** The group as a number, to group by, and its name. */
export const GROUP_NUMBER = `transform(reason_code, [${REASON_CODES}], [${ALL_REASONS.map(({ group }) => GROUP_NAMES.indexOf(group)).join(', ')}], 0)`;
export const groupOfNumber = (number: string): string =>
  `transform(${number}, [${GROUP_NAMES.map((_, index) => index).join(', ')}], [${sqlList(GROUP_NAMES)}], 'NONE')`;
export const DETAIL_OF_CODE = `transform(reason_code, [${REASON_CODES}], [${sqlList(ALL_REASONS.map(({ detail }) => detail))}], '')`;

/**
 * Columns of an instant that may lack in an order: whether it has any, and the earliest. One state for each
 * order instead of two: those of millions of orders outgrow a reader's memory else.
 */
const earliestOf = (
  column: string,
  has: string,
): string => `max(if(q.${column} = 0, 0, bitNot(q.${column}))) AS inverse_${column},
      inverse_${column} > 0 AS ${has}, if(${has}, bitNot(inverse_${column}), 0) AS ${column}`;
/** Whether a decision brought this outcome. */
const decidedAs = (outcome: Outcome): string => `bitAnd(last, 15) = ${OUTCOMES.indexOf(outcome) + 1}`;

/**
 * One row per order that came into one of MONEY_STATES within the chosen range: order_number, money. Instants
 * are numbers until the end, and few orders are left when money gets a name.
 */
export const MONEY_OF_ORDERS = `SELECT order_number, money
  FROM
  (
    SELECT order_number, max(decision) AS last, last > 0 AS decided, ${microsOfItem('last')} AS decided_at,
      ${earliestOf('first_technical_failure_at', 'had_technical_failure')},
      ${earliestOf('processing_at', 'processing')},
      ${moneyColumns(micros('least(now64(6), toDateTime64($__toTime, 6))'), {
        failedTechnically: decidedAs('technical_failure'),
        paid: decidedAs('succeeded'),
        overdueAt: `processing_at + ${STUCK.afterSeconds * 1e6}`,
      })}
    FROM ${chosenQuarters(`$__fromTime - INTERVAL ${WINDOWS.orderLookbackSeconds} SECOND`, '$__toTime')} AS q
    GROUP BY order_number
  )
  WHERE since >= ${micros('$__fromTime')} AND since < ${micros('$__toTime')} AND money != ''`;
