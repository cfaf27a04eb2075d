import type { AlertLine } from './alert-line.ts';
import type { Incident, IncidentAlert } from './incident.ts';
import type { Silence } from './silence.ts';

/**
 * What the console's server and its page say to each other, as JSON. The page names panels and chooses values
 * of variables; SQL never crosses this boundary in either direction.
 */

/** How Grafana would type a column. */
export type ColumnKind = 'time' | 'number' | 'text' | 'boolean' | 'other';

export interface ConsoleColumn {
  readonly name: string;
  readonly kind: ColumnKind;
  /** Times as epoch milliseconds. Numbers that JSON cannot hold are null. */
  readonly values: readonly unknown[];
}

/** One query's result, by columns. */
export interface ConsoleFrame {
  readonly refId: string;
  /** As the ClickHouse plugin counts: 0 time series, 1 table, 2 logs, 3 traces. */
  readonly format: number;
  readonly columns: readonly ConsoleColumn[];
}

/** Chosen values by variable; `['$__all']` when everything is chosen. */
export type ChosenValues = Readonly<Record<string, readonly string[]>>;

/** Time range and choices that every request of a page carries. */
export interface ConsoleScope {
  readonly dashboard: string;
  /** Epoch milliseconds. */
  readonly from: number;
  readonly to: number;
  readonly variables: ChosenValues;
}

export interface PanelRequest extends ConsoleScope {
  readonly panel: number;
  /** Points that the panel has room for: the width of buckets follows from it. */
  readonly maxDataPoints: number;
}

export interface PanelAnswer {
  readonly frames: readonly ConsoleFrame[];
  /** Width of a bucket. */
  readonly intervalMs: number;
  /** What went wrong, for people; frames are then those of the queries that answered. */
  readonly error: string | null;
}

export interface VariableOption {
  readonly value: string;
  readonly text: string;
}

/** Options of the variables that are filled by a query, by name. */
export interface VariablesAnswer {
  readonly options: Readonly<Record<string, readonly VariableOption[]>>;
  readonly errors: Readonly<Record<string, string>>;
}

/** A deployment, a note: an instant or a span on every time axis. */
export interface ConsoleAnnotation {
  readonly time: number;
  /** Null for an instant. */
  readonly timeEnd: number | null;
  readonly title: string;
  readonly text: string;
  readonly tags: readonly string[];
  readonly colour: string;
}

export interface AnnotationsAnswer {
  readonly annotations: readonly ConsoleAnnotation[];
  readonly errors: readonly string[];
}

export interface DashboardSummary {
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  readonly tags: readonly string[];
}

/** One alert that is pending, fires or is about to end. Links are on this page's own origin. */
export interface ConsoleAlert extends AlertLine {
  /** The evaluation on the incident dashboard; null when there is none. */
  readonly panelUrl: string | null;
  /** The orders behind the alert; null when the rule counts none. */
  readonly ordersUrl: string | null;
  readonly runbookUrl: string;
  /** Null while nothing is known, and of an alert that counts no orders or does not fire. */
  readonly explained: AlertExplained | null;
}

export interface AlertExplained {
  /** The evaluation that it explains, epoch milliseconds. */
  readonly asOf: number;
  /** A line for each group of orders that is affected more than the rest; one that says there is none. */
  readonly lines: readonly string[];
  /** What the affected orders are worth, by currency; '' where that means nothing. */
  readonly atRisk: string;
  /** The newest affected order, on this page's own origin. */
  readonly exampleUrl: string | null;
}

export interface AlertsAnswer {
  readonly alerts: readonly ConsoleAlert[];
  /** The newest evaluation of the rules, epoch milliseconds; null when there was none for days. */
  readonly asOf: number | null;
  /** How old it is, by the server's clock. */
  readonly ageMs: number | null;
  readonly error: string | null;
  /** The reader's, for times beside UTC. */
  readonly timeZone: string;
}

/** An incident for the page; whose side it is in words. */
export interface ConsoleIncident extends Incident {
  readonly alerts: readonly ConsoleIncidentAlert[];
}

export interface ConsoleIncidentAlert extends IncidentAlert {
  /** What holds its notifications back; null: nothing does, or it is over. */
  readonly held: Silence | null;
}

export interface IncidentsAnswer {
  /** The newest first. */
  readonly incidents: readonly ConsoleIncident[];
  /** Those that hold now, the newest first. */
  readonly silences: readonly Silence[];
  /** When it was read, epoch milliseconds. */
  readonly asOf: number;
  /** The reader's, for times beside UTC. */
  readonly timeZone: string;
  readonly error: string | null;
}
