import { STAGES } from './dictionary.ts';
import {
  DECIDING,
  FAILING,
  IN_PROCESSING,
  isKnown,
  OUTCOME_PLACE,
  outcomeName,
  sqlList,
  sqlText,
  TECHNICAL_FAILURE,
  UNKNOWN_CODE,
  NOW,
  withWatermarks,
} from './measures.ts';
import {
  ANY_WEEKS,
  firstWholeQuarter,
  frontierOfView,
  QUARTER_SECONDS,
  type QuarterKind,
  textSum,
} from './kept-quarters.ts';
import { DATABASE, ITEMS_BY_TIME, ORDER_QUARTERS, QUARTER_TABLES } from './names.ts';
import { FORM_EXITS, FORM_STEPS } from './payform.ts';

/**
 * Quarters of orders: what the items of one order say within one quarter of an hour, as one row. An order has
 * a dozen items within one or two quarters, so a question about a day of orders reads a tenth of the rows,
 * and numbers instead of texts. They are made of items the same way whether they are kept
 * (`order_quarters_store`) or not yet, and each column is such that the same item twice changes nothing once
 * rows of an order are united: a late item is a further row, a repetition does no harm.
 */

/**
 * An order as a number, whatever its ids are. Two of ten million share one by a chance of 1 in 400,000, and
 * no gateway can choose ids that make its orders those of another: that would take 2 ** 64 attempts.
 */
export const ORDER_NUMBER = 'sipHash64(toString(gateway), toString(order_type), external_id)';

/** An instant as a number: microseconds since 1970. 0: there is none. */
const MICROS = 'toUInt64(toUnixTimestamp64Micro(event_time))';
/**
 * An item as a number, so that the latest of several is the greatest: its instant (52 bits, to the year
 * 2112), its place in the list (8 bits, for items of one instant) and four bits more.
 */
const itemNumber = (bits: string): string =>
  `bitShiftLeft(${MICROS}, 12) + bitShiftLeft(toUInt64(least(list_position, 255)), 4) + toUInt64(${bits})`;
/** SQL of an item's instant, in microseconds since 1970. */
export const microsOfItem = (item: string): string => `bitShiftRight(${item}, 12)`;
/** SQL of a time, of microseconds since 1970. */
export const timeOfMicros = (micros: string): string => `fromUnixTimestamp64Micro(toInt64(${micros}), 'UTC')`;
/** SQL of the outcome of an order, of its last decision. */
export const outcomeOfDecision = (decision: string): string => outcomeName(`bitAnd(${decision}, 15)`);
/** SQL of the stage's digit (0: none). */
export const stageOfItem = (item: string): string => `bitShiftRight(bitAnd(${item}, 15), 1)`;

const stageDigit = `multiIf(${STAGES.map(({ code, name }) => `stage = ${sqlText(name)}, ${code}`).join(', ')}, 0)`;
const formStep = `multiIf(${FORM_STEPS.map(({ item }, index) => `ifNull(${item}, 0), ${index + 1}`)
  .toReversed()
  .join(', ')}, 0)`;
/** SQL of the bit of a payer's exit; 0 for other codes. */
export const exitBit = (code: string): string =>
  `transform(toString(${code}), [${sqlList(FORM_EXITS.map((exit) => exit.code))}], [${FORM_EXITS.map((_, index) => 2 ** index).join(', ')}], 0)`;

/** Types of the lists: a union of rows loses the names of their parts otherwise. */
const TEXT = 'LowCardinality(String)';
const FAILURE_PARTS = [
  ['at', "DateTime64(6, 'UTC')"],
  ['stage', TEXT],
  ['is_operation', 'UInt8'],
  ['reason_code', 'UInt8'],
  ['reason_group', TEXT],
  ['reason_detail', TEXT],
  ['action', TEXT],
  ['list_position', 'UInt32'],
] as const;
/** A part of a failing item: a column `failures.PART` of the view, a list each. */
export type FailurePart = (typeof FAILURE_PARTS)[number][0];
const FAILURE_TYPE = `Array(Tuple(${FAILURE_PARTS.map((part) => part.join(' ')).join(', ')}))`;
const UNKNOWN_TYPE = `Array(Tuple(at DateTime64(6, 'UTC'), action String, code_format ${TEXT}))`;

/** Columns beside those that identify a row, each with its SQL over items. */
const COLUMNS: readonly (readonly [name: string, sql: string])[] = [
  ['began_at', `minIf(${MICROS}, list_position = 0)`],
  ['decision', `maxIf(${itemNumber(OUTCOME_PLACE)}, ifNull(${DECIDING}, 0))`],
  ['form_at', `minIf(${MICROS}, ifNull(stage = 'PAYFORM', 0))`],
  ['submitted_at', `minIf(${MICROS}, action = '3.1.1.55')`],
  ['form_step', `toUInt8(max(${formStep}))`],
  ['form_exits', `toUInt8(groupBitOr(toUInt8(${exitBit('action')})))`],
  ['first_technical_failure_at', `minIf(${MICROS}, ${TECHNICAL_FAILURE})`],
  ['processing_at', `minIf(${MICROS}, ifNull(${IN_PROCESSING}, 0))`],
  ['items', `arraySort(groupArray(${itemNumber(`${stageDigit} * 2 + ifNull(result = 'FAILURE', 0)`)}))`],
  [
    'failures',
    `CAST(groupArrayIf((event_time, ifNull(toString(stage), ''), ifNull(result = 'FAILURE', 0), ifNull(reason_code, 0), ifNull(toString(reason_group), ''), ifNull(toString(reason_detail), ''), toString(action), list_position), ifNull(${FAILING}, 0)), ${sqlText(FAILURE_TYPE)})`,
  ],
  [
    'unknown',
    `CAST(groupArrayIf((event_time, toString(action), toString(code_format)), ifNull(${UNKNOWN_CODE}, 0)), ${sqlText(UNKNOWN_TYPE)})`,
  ],
];
const IDENTITY = 'quarter, gateway, order_type, channel, external_id';
const NAMES = `${IDENTITY}, order_number, ${COLUMNS.map(([name]) => name).join(', ')}`;
/**
 * Columns of the view. Failing items are a column for each of their parts: a question that asks for codes
 * alone would read all parts otherwise, since the engine does not see through a view which parts are meant.
 */
const VIEW_NAMES = NAMES.replace(
  ' failures,',
  FAILURE_PARTS.map(([part]) => ` failures.${part} AS \`failures.${part}\`,`).join(''),
);

/** Columns of items that quarters are made of. */
const ITEM_COLUMNS =
  'event_time, gateway, order_type, channel, external_id, action, code_format, stage, result, state, reason_code, reason_group, reason_detail, list_position';

/** SELECT of quarters. @param source the table with its modifiers @param where conditions on items */
const quartersOf = (source: string, where: string): string =>
  `SELECT toStartOfFifteenMinutes(event_time) AS quarter, gateway, order_type, channel, external_id,
      ${ORDER_NUMBER} AS order_number,
      ${COLUMNS.map(([name, sql]) => `${sql} AS ${name}`).join(',\n      ')}
    FROM ${source}
    WHERE ${where}
    GROUP BY ${IDENTITY}`;

/** Quarters that were made by another text are not these. */
export const QUARTERS_DEFINITION = textSum(JSON.stringify([ORDER_NUMBER, COLUMNS]));

/** The statement that keeps quarters. @param where conditions on items */
const keepQuarters = (where: string): string =>
  `INSERT INTO ${DATABASE}.${QUARTER_TABLES.quarters} (definition, ${NAMES})
  SELECT ${sqlText(QUARTERS_DEFINITION)}, ${NAMES}
  FROM
  (
    ${quartersOf(`${DATABASE}.${ITEMS_BY_TIME} FINAL`, where)}
  )
  ORDER BY quarter, gateway, order_type, channel
  SETTINGS max_bytes_before_external_group_by = 400000000, max_bytes_before_external_sort = 400000000, do_not_merge_across_partitions_select_final = 1, ${ANY_WEEKS}`;

/** Quarters of orders, as they are kept: what came late are further rows of the same orders. */
export const ORDER_QUARTERS_KEPT: QuarterKind = {
  what: 'orders',
  definition: QUARTERS_DEFINITION,
  source: `${DATABASE}.${ITEMS_BY_TIME}`,
  time: 'event_time',
  keepNew: keepQuarters,
  keepLate: (within, late) => keepQuarters(`${within} AND ${late}`),
};

/**
 * Text of the parameterized view `order_quarters(from, to)`: the quarters of all orders of exactly that
 * time, as far as our picture of each gateway is complete by now. What is kept is read; what is not, made
 * of items: the newest quarter of an hour or two, what came late since, and where the range begins or ends
 * within a quarter. The picture of a gateway that cannot be read ends within a quarter too. What came late
 * is looked for apart, by an index of its own.
 */
export function orderQuartersView(): string {
  const begins = "{from:DateTime64(6, 'UTC')}";
  const ends = "{to:DateTime64(6, 'UTC')}";
  const within = `event_time >= ${begins} AND event_time < ${ends} AND ${isKnown('event_time')}`;
  const length = `INTERVAL ${QUARTER_SECONDS} SECOND`;
  const quarterOfItem = 'toStartOfFifteenMinutes(event_time)';
  const kept = 'event_time >= kept_begin AND event_time < kept_end';
  return `CREATE OR REPLACE VIEW ${ORDER_QUARTERS} AS
${withWatermarks(NOW).replaceAll(`${DATABASE}.`, '')},
  ${frontierOfView(QUARTERS_DEFINITION)} AS frontier,
  greatest(frontier.1, ${firstWholeQuarter(begins)}) AS kept_begin,
  greatest(kept_begin, least(frontier.2, toStartOfFifteenMinutes(${ends}))) AS kept_end,
  toDateTime(greatest(toUnixTimestamp(all_known), ${QUARTER_SECONDS}) - ${QUARTER_SECONDS}) AS last_known_quarter,
  arrayMap(g -> toStartOfFifteenMinutes(window_end(g)), mapKeys(watermarks)) AS last_quarters
SELECT ${VIEW_NAMES}
FROM ${QUARTER_TABLES.quarters}
WHERE definition = ${sqlText(QUARTERS_DEFINITION)} AND quarter >= kept_begin AND quarter < kept_end AND (quarter <= last_known_quarter OR quarter + ${length} <= window_end(gateway))
UNION ALL
SELECT ${VIEW_NAMES}
FROM
(
    ${quartersOf(
      `(
      SELECT ${ITEM_COLUMNS}
      FROM ${ITEMS_BY_TIME} FINAL
      WHERE ${within} AND (event_time < kept_begin OR event_time >= kept_end OR ${quarterOfItem} IN (SELECT arrayJoin(last_quarters)) AND ${quarterOfItem} + ${length} > window_end(gateway))
      SETTINGS do_not_merge_across_partitions_select_final = 1
      UNION ALL
      SELECT ${ITEM_COLUMNS}
      FROM ${ITEMS_BY_TIME} FINAL
      WHERE ${within} AND ${kept} AND stored_at > frontier.3
      SETTINGS do_not_merge_across_partitions_select_final = 1
    )`,
      '1',
    )}
);
`;
}

/** SQL of the view for a range: expressions that are constant. */
export const quartersBetween = (from: string, to: string): string =>
  `${DATABASE}.${ORDER_QUARTERS}(from = ${from}, to = ${to})`;
