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

/** One instance of an alert rule whose condition holds now. */
export interface ConsoleAlert {
  readonly rule: string;
  readonly severity: string;
  readonly summary: string;
  /** What was counted, in one sentence; may be empty. */
  readonly detail: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The panel that draws what the rule watches, over its window; null when the rule names none. */
  readonly panelUrl: string | null;
  /** The orders behind the alert; null when the rule counts none. */
  readonly ordersUrl: string | null;
}

export interface AlertsAnswer {
  readonly alerts: readonly ConsoleAlert[];
  readonly rules: number;
  /** How many of them have been looked at: all, but for the first seconds. */
  readonly looked: number;
  /** When the last look at all of them began, epoch milliseconds; null before that. */
  readonly asOf: number | null;
  readonly error: string | null;
}
