import type { Endpoint, HttpReply } from '../../schemas/polling.ts';
import type { EpochMicros, PollOutcome } from '../../schemas/rows.ts';
import type { PollCause, WatchedOrder } from '../../schemas/watch.ts';
import type { NotAsked } from './questions.ts';

/**
 * The types in which the poller and the steps that handle replies and hints talk to each other. The poller
 * implements them; nothing here runs.
 */

/** What is kept of an order between reads. */
export interface TrackedOrder {
  readonly order: WatchedOrder;
  /** Opaque text of the history that is stored; null: not loaded yet. */
  readonly known: string | null;
  /** Under which number that is remembered, see `Memory`; missing: it does not count. */
  readonly loadedIn?: number | undefined;
  /** When its history was last read, by the start of the request; missing: not in this run. */
  readonly readAt?: EpochMicros | undefined;
}

/** The orders that this collector reads: those of one gateway, or of all. Keys are those of `watchKey`. */
export interface TrackedOrders {
  /** Goes on with an order of an earlier run: it is read at its `nextPollAt`. */
  resume(tracked: TrackedOrder): void;
  /** Forgets the orders that other collectors own; those being read when they have been read. */
  release(): void;
  /**
   * Tracks the order unless it is tracked already, takes over what is new about it, and reads it: at once and
   * before everything that is merely due when the cause is a callback; else a new one at its `nextPollAt`,
   * one that is tracked soon, as `nudge` does.
   * @param calledAt when the callback was received
   */
  track(tracked: TrackedOrder, cause: PollCause, calledAt?: EpochMicros): void;
  /** Reads a tracked order soon, without jumping the queue. False when it is not tracked. */
  nudge(key: string): boolean;
  get(key: string): WatchedOrder | undefined;
  /** The same with all that is kept of it. */
  recall(key: string): TrackedOrder | undefined;
}

/** A reply to a status request, or the lack of one, with what it was asked for. */
export interface PolledReply extends HttpReply, TrackedOrder {
  readonly endpoint: Endpoint;
  readonly cause: PollCause;
  /** When the callback was received that asked for the request; null: none did. */
  readonly callbackAt: EpochMicros | null;
  readonly pollId: string;
  readonly startedAt: EpochMicros;
  /** When the reply was there: the moment from which the order's next time is to be reckoned. */
  readonly repliedAt: EpochMicros;
  readonly durationMs: number;
  /** How much later than due the request started. */
  readonly latenessMs: number;
}

/** What became of a reply. */
export interface AppliedReply extends TrackedOrder {
  /** How the request ended, the body included. */
  readonly outcome: PollOutcome;
  /** Time of the latest item that was new; missing: none was. */
  readonly newestItemAt?: EpochMicros | undefined;
}

/** Resolves once all that follows from the reply is durably stored, with the order's next state. */
export type ApplyReply = (reply: PolledReply) => Promise<AppliedReply>;

/**
 * One status request; never rejects for what the gateway does.
 * @param deadlineMs shortens the deadline of the configuration
 */
export type ReadOrder = (order: WatchedOrder, deadlineMs?: number) => Promise<HttpReply>;

/** What became of a question about an order's status. */
export type Asked =
  | {
      readonly asked: true;
      readonly reply: HttpReply;
      readonly askedAt: EpochMicros;
      readonly durationMs: number;
    }
  | { readonly asked: false; readonly reason: NotAsked };

/**
 * Asks the gateway for an order's status now, before what is polled, within the gateway's budget, circuits
 * and this time. Changes nothing that is known of the order. Never rejects for what the gateway does.
 */
export type AskStatus = (order: WatchedOrder, deadlineMs: number) => Promise<Asked>;

/**
 * A circuit opened or closed, the gateway no longer answers (`reason`: how its last request ended) or answers
 * again (null), or a reply could not be applied and is read again.
 */
export type PollerEvent =
  | { readonly type: 'circuits'; readonly open: number }
  | { readonly type: 'blind'; readonly reason: string | null }
  | { readonly type: 'apply_failed'; readonly error: unknown };
