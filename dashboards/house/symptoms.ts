import { REASONS, type ReasonGroup, type Stage } from '../../schemas/dictionary.ts';
import {
  DISTINCT_ORDERS,
  distinctOrdersIf,
  sqlList,
  sqlText,
  view,
  type Window,
} from '../../schemas/measures.ts';
import type { Verdict } from '../../schemas/rows.ts';

/**
 * Symptoms: shares of orders that panels draw and rules watch. A symptom is data; `symptomCounts` turns it
 * into SQL, so that a panel and a rule over the same window give the same numbers.
 */

/** What one label row counts: orders hit, out of the orders seen at the same place. */
export type SymptomCount =
  | {
      readonly label: string;
      readonly from: 'history';
      readonly stage: Stage;
      readonly reasons: readonly number[];
    }
  | { readonly label: string; readonly from: 'callbacks'; readonly verdicts: readonly Verdict[] };
type HistoryCount = Extract<SymptomCount, { from: 'history' }>;
type CallbackCount = Extract<SymptomCount, { from: 'callbacks' }>;

export interface Symptom {
  /** Name of the label column beside `gateway`. */
  readonly splitBy: 'stage' | 'side';
  /** At most one count per stage, and one per verdict. */
  readonly counts: readonly SymptomCount[];
}

const reasonsOf = (group: ReasonGroup): number[] =>
  REASONS.filter((reason) => reason.group === group).map((reason) => reason.code);
const reason = (detail: string): number[] =>
  REASONS.filter((candidate) => candidate.detail === detail).map((candidate) => candidate.code);
const atStages = (stages: readonly Stage[], reasons: readonly number[]): SymptomCount[] =>
  stages.map((stage) => ({ label: stage, from: 'history', stage, reasons }));

export const SYMPTOMS = {
  techTimeouts: { splitBy: 'stage', counts: atStages(['GATEWAY_CREATE', 'CHECK'], reason('TIMEOUT')) },
  authzFailures: { splitBy: 'stage', counts: atStages(['GATEWAY_CREATE', 'CHECK'], reasonsOf('AUTHZ')) },
  /**
   * `gateway`: the provider's callbacks to the gateway, from history. `ours`: the gateway's callbacks to us.
   */
  signatureMismatches: {
    splitBy: 'side',
    counts: [
      {
        label: 'gateway',
        from: 'history',
        stage: 'GATEWAY_CALLBACK',
        reasons: reason('INVALID_SIGNATURE'),
      },
      { label: 'ours', from: 'callbacks', verdicts: ['mismatch'] },
    ],
  },
} as const satisfies Record<string, Symptom>;
export type SymptomName = keyof typeof SYMPTOMS;

export interface SymptomOptions {
  readonly window: Window;
  /**
   * SQL that turns a time column into its bucket: adds the column `time` in front. Absent: one row for the
   * window.
   */
  readonly bucket?: (time: string) => string;
  /** Further conditions on history items. */
  readonly historyFilter?: string;
  /** Further conditions on callbacks. */
  readonly callbackFilter?: string;
}

/**
 * A SELECT of `[time,] gateway, <splitBy>, affected, seen`, counts of distinct orders as UInt64. Without
 * buckets every gateway that has a watermark has a row for every label, zeros included.
 */
export function symptomCounts(symptom: Symptom, options: SymptomOptions): string {
  const history = symptom.counts.filter((count) => count.from === 'history');
  const callbacks = symptom.counts.filter((count) => count.from === 'callbacks');
  const parts = [
    ...(history.length > 0 ? [historyCounts(symptom, history, options)] : []),
    ...(callbacks.length > 0 ? [callbackCounts(symptom, callbacks, options)] : []),
    ...(options.bucket ? [] : [zeros(symptom)]),
  ];
  const key = `${options.bucket ? 'time, ' : ''}gateway, ${symptom.splitBy}`;
  return `SELECT ${key}, sum(affected_orders) AS affected, sum(seen_orders) AS seen
  FROM
  (
    ${parts.join('\n    UNION ALL\n    ')}
  )
  GROUP BY ${key}`;
}

function historyCounts(symptom: Symptom, counts: readonly HistoryCount[], options: SymptomOptions): string {
  const label = counts.map((count) => `stage = ${sqlText(count.stage)}, ${sqlText(count.label)}`).join(', ');
  const hit = counts
    .map((count) => `(stage = ${sqlText(count.stage)} AND reason_code IN (${count.reasons.join(', ')}))`)
    .join(' OR ');
  const key = `${options.bucket ? 'time, ' : ''}gateway, split`;
  return `SELECT ${columns(symptom, options)}, affected_orders, seen_orders
    FROM
    (
      SELECT ${options.bucket ? `${options.bucket('event_time')} AS time, ` : ''}gateway, multiIf(${label}, '') AS split,
        ${distinctOrdersIf(`(${hit})`)} AS affected_orders, ${DISTINCT_ORDERS} AS seen_orders
      FROM ${view('historyEvents')}
      WHERE stage IN (${sqlList(counts.map((count) => count.stage))}) AND ${options.window.items}${also(options.historyFilter)}
      GROUP BY ${key}
    )`;
}

/**
 * Of callback verdicts: those of contents that first came in the window. Arrivals only narrow what must be
 * read: see migration 0008.
 */
export const verdictsIn = (window: Pick<Window, 'contains'>): string =>
  `content_key IN (SELECT content_key FROM ${view('callbackArrivals')} WHERE ${window.contains('received_at')}) ` +
  `AND ${window.contains('first_received_at')}`;

/** Orders as the callbacks claim them. One that does not even name an order (malformed) counts nowhere. */
function callbackCounts(symptom: Symptom, counts: readonly CallbackCount[], options: SymptomOptions): string {
  const parts = counts.map(
    (count) => `SELECT ${columns(symptom, options)}, affected_orders, seen_orders
    FROM
    (
      SELECT ${options.bucket ? `${options.bucket('first_received_at')} AS time, ` : ''}gateway, ${sqlText(count.label)} AS split,
        ${distinctOrdersIf(`verdict IN (${sqlList(count.verdicts)})`)} AS affected_orders, ${DISTINCT_ORDERS} AS seen_orders
      FROM ${view('callbackVerdicts')}
      WHERE external_id IS NOT NULL AND order_type IS NOT NULL AND ${verdictsIn(options.window)}${also(options.callbackFilter)}
      GROUP BY ${options.bucket ? 'time, ' : ''}gateway, split
    )`,
  );
  return parts.join('\n    UNION ALL\n    ');
}

function zeros(symptom: Symptom): string {
  const labels = sqlList(symptom.counts.map((count) => count.label));
  return `SELECT arrayJoin(mapKeys(watermarks)) AS gateway, arrayJoin([${labels}]) AS ${symptom.splitBy}, 0 AS affected_orders, 0 AS seen_orders`;
}

const columns = (symptom: Symptom, options: SymptomOptions): string =>
  `${options.bucket ? 'time, ' : ''}toString(gateway) AS gateway, split AS ${symptom.splitBy}`;

const also = (condition: string | undefined): string => (condition === undefined ? '' : ` AND ${condition}`);
