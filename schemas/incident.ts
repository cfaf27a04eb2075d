/**
 * Alerts of one gateway that belong together, as `gatewatch alerts --since --json` prints them and the
 * console shows them. Instants are epoch milliseconds.
 */
export interface Incident {
  /** Stays the same while it lasts and afterwards: the gateway and when the first alert fired. */
  readonly id: string;
  /** '' for what concerns no single gateway. */
  readonly gateway: string;
  /** What fired first, in a sentence. */
  readonly headline: string;
  /** The worst of its alerts. */
  readonly severity: string;
  /** Whose side the fault is on, each once, in the order of the alerts. */
  readonly sides: readonly string[];
  /** `security` or `money`; none when only the orders themselves are. */
  readonly risks: readonly string[];
  /** When the condition of the first alert began to hold. */
  readonly beganAt: number;
  /** When the first alert fired. */
  readonly noticedAt: number;
  /** When the last alert ended; null while one fires. */
  readonly endedAt: number | null;
  /**
   * The most orders that one of its alerts saw affected at once: at least so many were. Null: no alert counts
   * orders.
   */
  readonly affectedOrders: number | null;
  /** In the order in which they fired: the first is what the others follow. */
  readonly alerts: readonly IncidentAlert[];
  /** Deployments and other notes from half an hour before it began until it ended. */
  readonly notes: readonly IncidentNote[];
}

/** One alert from its firing to its end. One that fires again is another. */
export interface IncidentAlert {
  readonly rule: string;
  readonly gateway: string;
  /** '' for the whole gateway. */
  readonly slice: string;
  /** Stage, reason or state; mostly ''. */
  readonly label: string;
  readonly severity: string;
  readonly side: string;
  /** '' when neither security nor money is at risk. */
  readonly risk: string;
  readonly summary: string;
  /** When its condition began to hold. */
  readonly beganAt: number;
  /** When it fired. */
  readonly firedAt: number;
  /**
   * Since when its condition no longer holds, while it is kept firing; null while it holds, and at the end.
   */
  readonly recoveringSince: number | null;
  readonly endedAt: number | null;
  /** The most orders that it saw affected at once; null when it counts no affected orders. */
  readonly affectedOrders: number | null;
}

export interface IncidentNote {
  readonly at: number;
  readonly title: string;
  readonly text: string;
}
