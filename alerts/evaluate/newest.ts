import type { AlertLine, AlertNumbers } from '../../schemas/alert-line.ts';
import { sqlText, view } from '../../schemas/measures.ts';
import type { AlertRuleName } from '../../schemas/names.ts';
import { WHOLE } from '../count/slices.ts';
import type { TableResult } from '../../store/store.ts';
import type { EvaluationKey } from '../explain/incident-url.ts';
import { sentenceOf } from '../explain/sentence.ts';
import { RULES } from '../rules/all.ts';
import { isHeartbeat, labelOf, RULE_GROUPS, SEVERITIES, type Rule } from '../rules/rule.ts';
import { isFiring, type AlertState } from './alert-state.ts';
import type { EvaluationNumbers } from './instance.ts';

/** Signs of life say no more than `asOf`. */
const HEARTBEATS: ReadonlySet<string> = new Set(RULES.filter(isHeartbeat).map(({ name }) => name));

/** How the rules stand: what each saw last, and the states of their alerts. */
export interface Newest {
  /** The newest evaluation, epoch milliseconds; null when there is none within `LOOK_BACK_DAYS`. */
  readonly asOf: number | null;
  /** What needs attention first. */
  readonly alerts: readonly NewestAlert[];
}

export interface NewestAlert extends EvaluationKey {
  readonly line: AlertLine;
  /** What the rule saw last; null where only a state is known. */
  readonly evaluation: EvaluationNumbers | null;
}

export interface NewestOptions {
  /** Epoch milliseconds: what was the newest then. */
  readonly atMs: number;
  /** Only what is an incident, or has a state other than normal. @default every rule */
  readonly notable?: boolean;
  /** The reader's, for the sentences. @default 'UTC' */
  readonly timeZone?: string;
}

/** For so long it is known when the rules were evaluated last. */
export const LOOK_BACK_DAYS = 7;

/**
 * Reads it with one statement, at the cost of half an hour of rows. Rows of notable alerts come with one that
 * is not, which shows when the rules were evaluated while nothing is wrong.
 *
 * @throws StoreError when the store does not answer
 */
export async function readNewest(
  query: (sql: string) => Promise<TableResult>,
  { atMs, notable = false, timeZone = 'UTC' }: NewestOptions,
): Promise<Newest> {
  const { data } = await query(newestSql(atMs, notable));
  const [first] = data;
  const alerts = data.map((row) => toAlert(row, timeZone));
  return {
    asOf: first === undefined ? null : micros(first['newest']) / 1000,
    alerts: notJudged(alerts)
      .filter(
        ({ rule, line }) =>
          !HEARTBEATS.has(rule) && (!notable || !['Normal', 'NotJudged'].includes(line.state)),
      )
      .toSorted((a, b) => urgency(a) - urgency(b) || compare(placeOf(a), placeOf(b))),
  };
}

/** While it holds, windows of its gateway look past the history. */
const MISDATED: AlertRuleName = 'GatewatchHistoryMisdated';

/**
 * A rule that saw no order of a gateway whose history is dated elsewhere has judged nothing: it is not said
 * to be quiet.
 */
function notJudged(alerts: readonly NewestAlert[]): NewestAlert[] {
  const misdated = new Set(
    alerts.flatMap(({ rule, gateway, line }) =>
      rule === MISDATED && line.state !== 'Normal' ? [gateway] : [],
    ),
  );
  return alerts.map((alert) => {
    const { line, evaluation, gateway } = alert;
    const isBlind =
      line.state === 'Normal' &&
      evaluation?.seen === 0 &&
      line.numbers?.kind !== 'gauge' &&
      misdated.has(gateway);
    const detail = `No order was in its window, since the gateway's history is dated elsewhere (${MISDATED}).`;
    return isBlind ? { ...alert, line: { ...line, state: 'NotJudged', detail } } : alert;
  });
}

/** Every pass has a row of it, whatever gateways are known. */
const IN_EVERY_PASS: AlertRuleName = 'GatewatchHeartbeat';
/** Slow rules may have missed one evaluation. */
const ROWS_WITHIN_S = 2.5 * RULE_GROUPS.slow.intervalSeconds;

function newestSql(atMs: number, notable: boolean): string {
  const at = Math.floor(atMs / 1000);
  return `WITH (
  SELECT max(as_of) FROM ${view('alertEvaluations')}
  WHERE rule = ${sqlText(IN_EVERY_PASS)} AND as_of > ${at - LOOK_BACK_DAYS * 86_400} AND as_of <= ${at}
) AS newest, newest - ${ROWS_WITHIN_S} AS oldest
SELECT newest, * FROM
(
  SELECT * REPLACE (toString(rule) AS rule, toString(gateway) AS gateway, toString(slice) AS slice, toString(label) AS label) FROM ${view('alertEvaluations')}
  WHERE as_of > oldest AND as_of <= newest
  ORDER BY as_of DESC LIMIT 1 BY rule, gateway, slice, label
) AS seen
FULL JOIN
(
  SELECT rule, gateway, slice, label, state, changed_at, firing_since FROM
  (
    SELECT toString(rule) AS rule, toString(gateway) AS gateway, state, changed_at, firing_since, evaluated_at AS last_at,
      JSONExtractString(labels, 'slice') AS slice,
      arrayFirst(pair -> pair.1 NOT IN ('gateway', 'slice'), JSONExtractKeysAndValues(labels, 'String')).2 AS label
    FROM ${view('alertHistory')} WHERE changed_at <= newest
    ORDER BY changed_at DESC, last_at DESC LIMIT 1 BY rule, gateway, slice, label
  )
  WHERE state != 'Normal' AND last_at > oldest
) AS known USING (rule, gateway, slice, label)
ORDER BY as_of DESC${notable ? ` LIMIT 1 BY if(breach OR state != '', concat(rule, '/', gateway, '/', slice, '/', label), '')` : ''}`;
}

type Row = TableResult['data'][number];

function toAlert(row: Row, timeZone: string): NewestAlert {
  const key = {
    rule: text(row['rule']),
    gateway: text(row['gateway']),
    slice: text(row['slice']),
    label: text(row['label']),
  };
  // None when another version wrote the row.
  const rule = RULES.find(({ name }) => name === key.rule);
  const evaluation = evaluationOf(row);
  const state = stateOf(row, evaluation !== null && evaluation.breach === 1);
  const line: AlertLine = {
    rule: key.rule,
    severity: rule?.severity ?? '',
    summary: rule?.summary ?? '',
    labels: labelsOf(rule, key),
    ...state,
    detail: rule === undefined || evaluation === null ? '' : sentenceOf(rule, evaluation, timeZone),
    numbers: evaluation === null ? null : numbersOf(text(row['kind']) as AlertNumbers['kind'], evaluation),
  };
  return { ...key, line, evaluation: evaluation === null ? null : { ...evaluation, ...key } };
}

/** What was found a moment ago is not among the states yet. */
function stateOf(row: Row, breach: boolean): Pick<AlertLine, 'state' | 'since'> {
  const state = text(row['state']);
  if (state === '')
    return breach
      ? { state: 'Pending', since: micros(row['as_of']) / 1000 }
      : { state: 'Normal', since: null };
  const firingSince = isFiring(state as AlertState) ? row['firing_since'] : null;
  return { state, since: Math.floor(micros(firingSince ?? row['changed_at']) / 1000) };
}

/** Null where only a state is known. */
function evaluationOf(row: Row) {
  const asOf = micros(row['as_of']);
  if (asOf === 0) return null;
  const orNull = (value: unknown): number | null => (value === null ? null : Number(value));
  return {
    as_of: asOf,
    window_from: micros(row['window_from']),
    window_to: micros(row['window_to']),
    seen: Number(row['seen']),
    affected: Number(row['affected']),
    expected: orNull(row['expected']),
    limit: Number(row['limit']),
    share: orNull(row['share']),
    number: orNull(row['number']),
    breach: Number(row['breach']),
    suppressed_by: text(row['suppressed_by']),
  };
}

function numbersOf(
  kind: AlertNumbers['kind'],
  evaluation: NonNullable<ReturnType<typeof evaluationOf>>,
): AlertNumbers {
  const { as_of: asOf, window_from: from, window_to: to, suppressed_by: suppressedBy, ...rest } = evaluation;
  return {
    kind,
    ...rest,
    breach: rest.breach === 1,
    suppressedBy,
    asOf: asOf / 1000,
    windowFrom: from / 1000,
    windowTo: to / 1000,
  };
}

function labelsOf(rule: Rule | undefined, { gateway, slice, label }: EvaluationKey): Record<string, string> {
  const name = (rule === undefined ? null : labelOf(rule)) ?? 'label';
  return {
    ...(gateway === '' ? {} : { gateway }),
    ...(label === '' ? {} : { [name]: label }),
    ...(slice === WHOLE ? {} : { slice }),
  };
}

/** States first, then severities, then the order of the rules. What is not listed comes first. */
function urgency({ rule, line: { state, severity } }: NewestAlert): number {
  const place = RULES.findIndex(({ name }) => name === rule);
  const ranks = [
    STATES_BY_URGENCY.findIndex((one) => one === state),
    SEVERITIES_BY_NAME.indexOf(severity),
    place,
  ];
  return ranks.reduce((sum, rank) => sum * 1_000 + rank + 1, 0);
}
const placeOf = ({ gateway, slice, label }: EvaluationKey): string => `${gateway}/${slice}/${label}`;
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const SEVERITIES_BY_NAME: readonly string[] = SEVERITIES;
const STATES_BY_URGENCY: readonly (AlertState | 'NotJudged')[] = [
  'Alerting',
  'NoData',
  'Error',
  'Pending',
  'Recovering',
  'NotJudged',
  'Normal',
];

const text = (value: unknown): string => String(value as string);

/** The text of a time, in UTC, as microseconds since 1970. */
function micros(value: unknown): number {
  const [time = '', fraction = ''] = text(value).split('.');
  return Date.parse(`${time.replace(' ', 'T')}Z`) * 1000 + Number(fraction.padEnd(6, '0').slice(0, 6));
}
