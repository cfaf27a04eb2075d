/** The three identities of ingestion, in five rows: deliveries come in by three ways. */
export const IDENTITIES = [
  'kafka records',
  'intake callbacks',
  'watch requests',
  'replies',
  'history items',
] as const;

/** accepted = stored + rejected, or the difference, and where it is. */
export interface Identity {
  readonly identity: (typeof IDENTITIES)[number];
  /** Distinct things that acknowledged batches took in. */
  readonly accepted: number;
  /** Of these, the ones with a row, each counted once. */
  readonly stored: number;
  /** Of these, the ones that are in `rejects` and nowhere else. */
  readonly rejected: number;
  /** How often one of them came, or was stored, again. */
  readonly repeats: number;
  /** accepted - stored - rejected. Not 0: something was lost, or counted twice. */
  readonly difference: number;
  /**
   * Stored without an acknowledgement: what a crash left behind, or what is under way at this moment. No
   * fault.
   */
  readonly unacknowledged: number;
  /** Where the difference is, the first ones. */
  readonly offenders: readonly string[];
}

/** Something that must never be. */
export interface Check {
  readonly check: string;
  readonly violations: number;
  readonly offenders: readonly string[];
}

export interface AuditReport {
  readonly ok: boolean;
  /** ISO 8601. What was acknowledged before has been let go by retention in part, or was not asked for. */
  readonly since: Readonly<Record<'deliveries' | 'replies' | 'history', string>>;
  readonly identities: readonly Identity[];
  readonly checks: readonly Check[];
}

/** Runs a SELECT; parameters as `{name:Type}`. */
export type Query = <T>(
  sql: string,
  params?: Readonly<Record<string, unknown>>,
  settings?: Readonly<Record<string, string | number>>,
) => Promise<T[]>;

/** The most offenders that are named. */
export const SHOWN = 20;

export function holds({ difference, offenders }: Identity): boolean {
  return difference === 0 && offenders.length === 0;
}
