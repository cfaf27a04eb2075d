import type { Gateway } from './gateway.ts';
import type { Harmless } from './harmless.ts';
import type { Incident } from './incidents.ts';

/** Orders by delay (see DELAYS), path (see PATHS) and minute; where an array is missing there are none. */
export type Counts = readonly (readonly (Uint16Array | undefined)[])[];

/** A gateway's months, as counts by minute. Minute `m` of the arrays begins `m` minutes after EPOCH_MS. */
export interface Months {
  readonly minutes: number;
  /** Scored from here on; what lies before is the past that baselines need. */
  readonly from: number;
  readonly ordersPerMinute: number;
  readonly gateway: Gateway;
  readonly incidents: readonly Incident[];
  readonly harmless: readonly Harmless[];
  /**
   * Orders that begin in a minute. Behind the paths, never delayed, stand orders that were polled, by how
   * that ended (see POLL_ENDS).
   */
  readonly orders: Counts;
  /** The same by segment, without polls. Rare paths of small segments have no array. */
  readonly segments: readonly Counts[];
  /** Decided orders of a minute that took longer than 95 % of the segment's usually do, by segment. */
  readonly slow: readonly Uint16Array[];
  /**
   * By minute: where our picture of the gateway ends (exclusive) at that minute's end. A blind gateway's
   * stands still.
   */
  readonly seenUntil: Uint32Array;
  /** By minute: does the collector report? */
  readonly reporting: Uint8Array;
  /** By minute, as the collector reports them: circuits that are open, and messages that wait. */
  readonly circuits: Uint8Array;
  readonly lag: Uint32Array;
  /** By minute: how far the collector finds history dated ahead of its clock, in seconds. */
  readonly clockSkew: Float32Array;
  /** By minute. */
  readonly rejects: Uint16Array;
}
