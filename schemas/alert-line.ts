/**
 * What one alert rule saw last for one gateway and label, and the state of its alert: an element of what
 * `gatewatch alerts --json` prints. Instants are epoch milliseconds.
 */
export interface AlertLine {
  readonly rule: string;
  readonly severity: string;
  /** What it means when it fires. */
  readonly summary: string;
  /** The gateway, and the label by its name; those that are empty are left out. */
  readonly labels: Readonly<Record<string, string>>;
  /**
   * `Normal`, `Pending` (it holds, and nobody is notified yet), `Alerting`, `Recovering` (it no longer holds,
   * and is about to end), `NotJudged` (no order was where it looks), `NoData` or `Error`.
   */
  readonly state: string;
  /** Since when it fires; while it is pending, since when it is. Null while nothing is wrong. */
  readonly since: number | null;
  /** The numbers in one sentence; '' when there are none. */
  readonly detail: string;
  /** Null: the state has no evaluation, as when there is no data. */
  readonly numbers: AlertNumbers | null;
}

/** The numbers of one evaluation. */
export interface AlertNumbers {
  readonly kind: 'share' | 'drop' | 'gauge';
  readonly asOf: number;
  /** Of a gauge both are `asOf`. */
  readonly windowFrom: number;
  readonly windowTo: number;
  /** n: distinct orders; of a drop those that were counted. */
  readonly seen: number;
  readonly affected: number;
  readonly expected: number | null;
  readonly limit: number;
  /** 0..1. */
  readonly share: number | null;
  readonly number: number | null;
  readonly breach: boolean;
  /** The rule that names the cause, or `settings`; mostly empty. */
  readonly suppressedBy: string;
}
