import type { Incident, IncidentAlert } from '../../schemas/incident.ts';
import { parseJson } from '../../schemas/json.ts';
import { sqlText, view } from '../../schemas/measures.ts';
import type { TableResult } from '../../store/store.ts';
import type { AlertState } from '../evaluate/alert-state.ts';
import { type Fired, firedAlerts, type StateRow } from './firings.ts';
import { incidentsOf, type Note, NOTES_BEFORE_MS } from './incidents.ts';

type Query = (sql: string) => Promise<TableResult>;
type Row = TableResult['data'][number];

/** Incidents are read from so long before what is asked for, so that those that began earlier are whole. */
const BEFORE_MS = 86_400_000;

/** Which incidents are wanted: those that were under way within a time. Epoch milliseconds. */
export interface IncidentRange {
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * The incidents of a time, the newest first, as they were known at its end. An incident under way for more
 * than a day before it may be shown without its oldest alerts.
 *
 * @throws StoreError when the store does not answer
 */
export async function readIncidents(query: Query, { fromMs, toMs }: IncidentRange): Promise<Incident[]> {
  const fired = await readFired(query, { fromMs: fromMs - BEFORE_MS, toMs });
  if (fired.length === 0) return [];
  const since = Math.min(...fired.map(({ beganAt }) => beganAt));
  const [peaks, notes] = await Promise.all([
    query(peaksSql(fired, since, toMs)),
    query(notesSql(since - NOTES_BEFORE_MS, toMs)),
  ]);
  const alerts = withPeaks(fired, peaks.data.map(toPeak), toMs);
  return incidentsOf(alerts, notes.data.map(toNote)).filter(({ endedAt }) => (endedAt ?? toMs) >= fromMs);
}

/** The alerts that fired within a time, those that began before it among them. */
export async function readFired(query: Query, { fromMs, toMs }: IncidentRange): Promise<Fired[]> {
  const { data } = await query(statesSql(fromMs, toMs));
  return firedAlerts(data.map(toState), toMs);
}

/** Every state that was there in that time, and the waiting before it. */
const statesSql = (fromMs: number, toMs: number): string =>
  `SELECT toString(rule) AS rule, toString(severity) AS severity, labels, toString(state) AS state, ${[
    'changed_at',
    'evaluated_at',
    'firing_since',
    'resolved_at',
  ]
    .map((column) => `toUnixTimestamp64Milli(${column}) AS ${column}_ms`)
    .join(', ')}
FROM ${view('alertHistory')}
WHERE evaluated_at > ${instant(fromMs)} AND changed_at <= ${instant(toMs)}
ORDER BY changed_at`;

const toState = (row: Row): StateRow => ({
  rule: String(row['rule']),
  severity: String(row['severity']),
  labels: labelsIn(String(row['labels'])),
  state: String(row['state']) as AlertState,
  changedAt: Number(row['changed_at_ms']),
  evaluatedAt: Number(row['evaluated_at_ms']),
  firingSince: orNull(row['firing_since_ms']),
  resolvedAt: orNull(row['resolved_at_ms']),
});

/** Of each alert, the most affected orders in every ten minutes: an hour's breach is six rows. */
function peaksSql(fired: readonly Fired[], fromMs: number, toMs: number): string {
  const rules = [...new Set(fired.map(({ rule }) => sqlText(rule)))].join(', ');
  return `SELECT toString(rule) AS rule, toString(gateway) AS gateway, toString(slice) AS slice, toString(label) AS label,
  toUnixTimestamp(toStartOfTenMinutes(as_of)) AS bucket, max(affected) AS affected
FROM ${view('alertEvaluations')}
WHERE rule IN (${rules}) AND kind = 'share' AND breach = 1 AND as_of >= ${Math.floor(fromMs / 1000)} AND as_of <= ${Math.floor(toMs / 1000)}
GROUP BY rule, gateway, slice, label, bucket`;
}

interface Peak extends Pick<Fired, 'rule' | 'gateway' | 'slice' | 'label'> {
  readonly fromMs: number;
  readonly affected: number;
}
const BUCKET_MS = 600_000;

const toPeak = (row: Row): Peak => ({
  rule: String(row['rule']),
  gateway: String(row['gateway']),
  slice: String(row['slice']),
  label: String(row['label']),
  fromMs: Number(row['bucket']) * 1000,
  affected: Number(row['affected']),
});

function withPeaks(fired: readonly Fired[], peaks: readonly Peak[], toMs: number): IncidentAlert[] {
  const byAlert = Map.groupBy(peaks, keyOf);
  return fired.map((alert) => {
    const own = (byAlert.get(keyOf(alert)) ?? []).filter(
      ({ fromMs }) => fromMs + BUCKET_MS > alert.beganAt && fromMs <= (alert.endedAt ?? toMs),
    );
    return {
      ...alert,
      affectedOrders: own.length === 0 ? null : Math.max(...own.map(({ affected }) => affected)),
    };
  });
}

const keyOf = ({ rule, gateway, slice, label }: Omit<Peak, 'fromMs' | 'affected'>): string =>
  JSON.stringify([rule, gateway, slice, label]);

const notesSql = (fromMs: number, toMs: number): string =>
  `SELECT toUnixTimestamp64Milli(starts_at) AS at, toString(gateway) AS gateway, title, text
FROM ${view('annotations')} WHERE starts_at >= ${instant(fromMs)} AND starts_at <= ${instant(toMs)}
ORDER BY starts_at DESC LIMIT 1000`;

const toNote = (row: Row): Note => ({
  at: Number(row['at']),
  gateway: String(row['gateway']),
  title: String(row['title']),
  text: String(row['text']),
});

const instant = (ms: number): string => `fromUnixTimestamp64Milli(${Math.floor(ms)})`;
const orNull = (value: unknown): number | null => (value === null ? null : Number(value));

/** Rows of another version may hold something else. */
function labelsIn(text: string): Record<string, string> {
  const parsed = parseJson(text);
  if (typeof parsed !== 'object' || parsed === null) return {};
  return Object.fromEntries(Object.entries(parsed).map(([name, value]) => [name, String(value)]));
}
