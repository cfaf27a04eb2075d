/** What one alert rule sees for one label set: an element of what `gatewatch alerts --json` prints. */
export interface AlertLine {
  readonly rule: string;
  readonly severity: string;
  readonly labels: Readonly<Record<string, string>>;
  /**
   * By the rule's query: `affected` and `seen` are orders in its window; `window_from`, `window_to`, `as_of`
   * in epoch seconds.
   */
  readonly values: Readonly<Record<string, number | null>>;
  readonly firing: boolean;
  readonly summary: string;
}
