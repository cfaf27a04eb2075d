import {
  APPROVAL_SHARE,
  FAILING,
  finishedOrders,
  JUDGED,
  sqlText,
  startedOrders,
  TECHNICAL_SUCCESS_SHARE,
  UNKNOWN_CODE,
  view,
  NOW,
  withWatermarks,
} from '../../schemas/measures.ts';
import { ofOrder, type CountedOrder } from './counted-order.ts';

/** In which measures of the dashboards an order counts, by the SQL that panels use. */

/** In one measure of the dashboards. */
export interface MeasureCount {
  readonly measure: string;
  /** `numerator` counts in the denominator too; `no` in neither. */
  readonly counts: 'numerator' | 'denominator' | 'no';
  /**
   * Panels show it in the bucket of this instant. UTC, `YYYY-MM-DD HH:MM:SS.ffffff`; null where it does not
   * count.
   */
  readonly at: string | null;
  readonly because: string;
}

export interface MeasureCounts {
  /** Until when panels show what the gateway's history says; later items are known, and wait. */
  readonly knownUntil: string;
  readonly measures: readonly MeasureCount[];
}

type Query = <T>(sql: string) => Promise<T[]>;

export async function measureCounts(query: Query, order: CountedOrder): Promise<MeasureCounts> {
  const [[row], groups] = await Promise.all([
    query<MeasureRow>(measuresSql(order)),
    query<FailureRow>(failuresSql(order)),
  ]);
  if (row === undefined) throw new Error('a question about one order has one answer');
  return {
    knownUntil: row.known_until,
    measures: [...measuresOf(row), ...failuresOf(groups, row.known_until)],
  };
}

interface MeasureRow {
  readonly known_until: string;
  readonly items: number;
  readonly started: number;
  readonly started_at: string;
  readonly finished: number;
  readonly decided_at: string;
  readonly outcome: string;
  readonly technical: number | null;
  readonly judged: number;
  readonly approved: number | null;
  readonly unknown_codes: number;
}

function measuresSql(order: CountedOrder): string {
  const where = ofOrder(order);
  return `${withWatermarks(NOW)}
SELECT toString(window_end(${sqlText(order.gateway)})) AS known_until, toUInt32(items) AS items, toUInt32(unknown_codes) AS unknown_codes,
  toUInt32(began.1) AS started, toString(began.2) AS started_at,
  toUInt32(ended.1) AS finished, toString(ended.2) AS decided_at, ended.3 AS outcome, ended.4 AS technical, toUInt32(ended.5) AS judged, ended.6 AS approved
FROM
(
  SELECT count() AS items, countIf(${UNKNOWN_CODE}) AS unknown_codes FROM ${view('historyEvents')} WHERE ${where}
) AS history
CROSS JOIN
(
  SELECT tuple(count(), max(started_at)) AS began FROM (${startedOrders(where)})
) AS head
CROSS JOIN
(
  SELECT tuple(count(), max(decided_at), max(outcome), ${TECHNICAL_SUCCESS_SHARE}, ${JUDGED}, ${APPROVAL_SHARE}) AS ended FROM (${finishedOrders(where)})
) AS decided`;
}

function measuresOf(row: MeasureRow): MeasureCount[] {
  const open = row.items === 0 ? 'no history item of it is known' : 'no item says SUCCESS or FAILED yet';
  const late = (at: string, text: string): string =>
    at < row.known_until ? text : `${text}; panels wait until the gateway's picture reaches it`;
  const finished = (measure: string, counts: MeasureCount['counts'], because: string): MeasureCount =>
    row.finished === 0
      ? { measure, counts: 'no', at: null, because: open }
      : {
          measure,
          counts,
          at: counts === 'no' ? null : row.decided_at,
          because: late(row.decided_at, because),
        };
  const began: MeasureCount =
    row.started === 0
      ? {
          measure: 'new orders',
          counts: 'no',
          at: null,
          because: 'the head of its history (position 0) is not known',
        }
      : {
          measure: 'new orders',
          counts: 'numerator',
          at: row.started_at,
          because: late(row.started_at, 'its first item'),
        };
  return [
    began,
    finished(
      'finished orders',
      'numerator',
      `outcome ${row.outcome}, by its latest item with SUCCESS or FAILED`,
    ),
    finished(
      'technical success',
      row.technical === 1 ? 'numerator' : 'denominator',
      row.technical === 1 ? `${row.outcome} is no technical failure` : 'its outcome is technical_failure',
    ),
    finished(
      'approval',
      row.judged === 0 ? 'no' : row.approved === 1 ? 'numerator' : 'denominator',
      row.judged === 0
        ? `nobody judged the payment: its outcome is ${row.outcome}`
        : `its outcome is ${row.outcome}`,
    ),
    {
      measure: 'unknown codes',
      counts: row.unknown_codes > 0 ? 'numerator' : 'no',
      at: null,
      because: `${row.unknown_codes} of its ${row.items} items have a code that the catalogue lacks`,
    },
  ];
}

interface FailureRow {
  readonly reason_group: string;
  readonly stage: string;
  readonly items: number;
  readonly first_at: string;
  readonly actions: readonly string[];
}

const failuresSql = (order: CountedOrder): string =>
  `SELECT ifNull(toString(reason_group), 'NONE') AS reason_group, ifNull(toString(stage), '') AS stage, toUInt32(count()) AS items,
  toString(min(event_time)) AS first_at, arraySort(groupUniqArray(10)(toString(action))) AS actions
FROM ${view('historyEvents')}
WHERE ${FAILING} AND ${ofOrder(order)}
GROUP BY reason_group, stage
ORDER BY first_at, stage, reason_group`;

function failuresOf(groups: readonly FailureRow[], knownUntil: string): MeasureCount[] {
  const measure = 'orders with failures';
  if (groups.length === 0)
    return [{ measure, counts: 'no', at: null, because: 'no item failed, and none says FAILED' }];
  return groups.map(({ reason_group, stage, items, first_at, actions }) => ({
    measure: `${measure}: ${reason_group}${stage === '' ? '' : ` at ${stage}`}`,
    counts: 'numerator',
    at: first_at,
    because:
      `${items} ${items === 1 ? 'item' : 'items'} (${actions.join(', ')}): counted once in each bucket that has one` +
      (first_at < knownUntil ? '' : "; panels wait until the gateway's picture reaches it"),
  }));
}
