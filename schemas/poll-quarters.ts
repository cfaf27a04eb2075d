import {
  ANY_WEEKS,
  firstWholeQuarter,
  frontierOfView,
  QUARTER_SECONDS,
  type QuarterKind,
  textSum,
} from './kept-quarters.ts';
import { sqlText } from './measures.ts';
import { DATABASE, POLL_COUNTS, QUARTER_TABLES, TABLES } from './names.ts';

/**
 * Status requests of ours, counted by quarter of an hour: there are several for each order, and a panel over
 * weeks asks only how many there were, how they ended and how long they took. A request counts once, so
 * counts can be added up, and sketches of times united.
 */

/** A sketch of times in milliseconds, by which a quantile is right within a hundredth of itself. */
const SKETCH = 'quantilesDD(0.01, 0.5, 0.95)';
const SKETCH_STATE = 'quantilesDDState(0.01, 0.5, 0.95)';
/** SQL of a quantile of sketches. @param share 0.5 or 0.95 */
export const quantileOfSketches = (sketches: string, share: 0.5 | 0.95): string =>
  `${SKETCH.replace('DD', 'DDMerge')}(${sketches})[${share === 0.5 ? 1 : 2}]`;

const IDENTITY = 'gateway, order_type, outcome';
const COUNTS = [
  ['requests', 'count()'],
  ['durations', `${SKETCH_STATE}(duration_ms)`],
  ['lateness', `${SKETCH_STATE}(lateness_ms)`],
] as const;
const SUMS = COUNTS.map(([name, sql]) => `${sql} AS ${name}`).join(', ');
const NAMES = COUNTS.map(([name]) => name).join(', ');

const DEFINITION = `polls-${textSum(JSON.stringify([IDENTITY, COUNTS]))}`;
const QUARTER = 'toStartOfFifteenMinutes(started_at)';
const FOLDED = 'do_not_merge_across_partitions_select_final = 1';

const keepQuarters = (where: string): string =>
  `INSERT INTO ${DATABASE}.${QUARTER_TABLES.polls} (definition, quarter, ${IDENTITY}, ${NAMES})
  SELECT ${sqlText(DEFINITION)}, ${QUARTER} AS quarter, ${IDENTITY}, ${SUMS}
  FROM ${DATABASE}.${TABLES.polls} FINAL
  WHERE ${where}
  GROUP BY quarter, ${IDENTITY}
  SETTINGS ${FOLDED}, ${ANY_WEEKS}`;

/**
 * Quarters of requests, as they are kept. One for which something came late is counted anew: of several
 * counts of one quarter the greatest is the newest, since requests are only ever added.
 */
export const POLL_QUARTERS_KEPT: QuarterKind = {
  what: 'status requests',
  definition: DEFINITION,
  source: `${DATABASE}.${TABLES.polls}`,
  time: 'started_at',
  keepNew: keepQuarters,
  mostLateQuarters: 96,
  keepLate: (within, late) =>
    keepQuarters(
      `${within} AND ${QUARTER} IN (SELECT DISTINCT ${QUARTER} FROM ${DATABASE}.${TABLES.polls} WHERE ${within} AND ${late})`,
    ),
};

/**
 * Text of the parameterized view `poll_counts(from, to, step)`: the requests of exactly that time, counted by
 * steps of so many seconds. Where steps are whole quarters what is kept is read; what is not, of the requests
 * themselves: the newest quarters, where the range begins or ends within one, and those for which something
 * came late.
 */
export function pollCountsView(): string {
  const [begins, ends, step] = ["{from:DateTime64(6, 'UTC')}", "{to:DateTime64(6, 'UTC')}", '{step:UInt32}'];
  return `CREATE OR REPLACE VIEW ${POLL_COUNTS} AS
WITH
  ${frontierOfView(DEFINITION)} AS frontier,
  greatest(frontier.1, ${firstWholeQuarter(begins)}) AS kept_begin,
  if(${step} % ${QUARTER_SECONDS} = 0, greatest(kept_begin, least(frontier.2, toStartOfFifteenMinutes(${ends}))), kept_begin) AS kept_end,
  (SELECT groupUniqArray(${QUARTER}) FROM ${TABLES.polls} WHERE started_at >= kept_begin AND started_at < kept_end AND stored_at > frontier.3) AS late
SELECT toStartOfInterval(quarter, toIntervalSecond(${step})) AS step_begin, ${IDENTITY}, ${NAMES}
FROM ${QUARTER_TABLES.polls} FINAL
WHERE definition = ${sqlText(DEFINITION)} AND quarter >= kept_begin AND quarter < kept_end AND quarter NOT IN (SELECT arrayJoin(late))
UNION ALL
SELECT toStartOfInterval(toDateTime(started_at), toIntervalSecond(${step})) AS step_begin, ${IDENTITY}, ${SUMS}
FROM ${TABLES.polls} FINAL
WHERE started_at >= ${begins} AND started_at < ${ends} AND (started_at < kept_begin OR started_at >= kept_end OR ${QUARTER} IN (SELECT arrayJoin(late)))
GROUP BY step_begin, ${IDENTITY}
SETTINGS ${FOLDED};
`;
}

/** SQL of the view for a range: expressions that are constant. @param step seconds */
export const pollCounts = (from: string, to: string, step: string): string =>
  `${DATABASE}.${POLL_COUNTS}(from = ${from}, to = ${to}, step = ${step})`;
