import type { Endpoint, HttpAnswer, PollerStatus } from '../../schemas/polling.ts';
import type { Clock } from '../../schemas/clock.ts';
import type { PollConfig } from '../../schemas/config.ts';
import type { EpochMicros, PollOutcome } from '../../schemas/rows.ts';
import type { PollCause, WatchedOrder } from '../../schemas/watch.ts';

/** A status request that was made. */
export interface StatusAnswer extends HttpAnswer {
  readonly order: WatchedOrder;
  /** Opaque text that the handler gave for this order last time; null: not loaded yet. */
  readonly known: string | null;
  readonly endpoint: Endpoint;
  readonly cause: PollCause;
  readonly pollId: string;
  readonly startedAt: EpochMicros;
  /** When the answer was there: the moment from which the order's next time is to be reckoned. */
  readonly answeredAt: EpochMicros;
  readonly durationMs: number;
  /** How much later than due the request started. */
  readonly latenessMs: number;
}

/** What the poller keeps of an order between reads. */
export interface Watched {
  readonly order: WatchedOrder;
  readonly known: string | null;
}

/** What became of an answer. */
export interface Handled extends Watched {
  /** How the request ended, the body included. */
  readonly outcome: PollOutcome;
}

/** Resolves once all that follows from the answer is durably stored, with the order's next state. */
export type HandleAnswer = (answer: StatusAnswer) => Promise<Handled>;

/** A circuit opened or closed, or an answer could not be handled and is read again. */
export type PollerEvent =
  | { readonly type: 'circuits'; readonly open: number }
  | { readonly type: 'handle_failed'; readonly error: unknown };

export interface GatewayPollerOptions {
  readonly policy: PollConfig;
  readonly clock: Clock;
  /** One status request; never rejects for what the gateway does. */
  readonly read: (order: WatchedOrder) => Promise<HttpAnswer>;
  readonly handle: HandleAnswer;
  /** The state in which an order that had come to its end is read again. */
  readonly reopen: (order: WatchedOrder) => WatchedOrder;
  /**
   * Is the order ours to go on with? Another's is read when somebody asks for it, and forgotten then.
   * @default always
   */
  readonly keeps?: (order: WatchedOrder) => boolean;
  /** A circuit opened or closed, or an answer could not be handled. */
  readonly onEvent: (event: PollerEvent) => void;
  /**
   * Answers that may wait for the store's acknowledgement at once, requests under way included; then polling
   * pauses. @default 5000
   */
  readonly maxPendingAnswers?: number;
  /** Size of the replies that may wait so, in bytes, but for those under way. @default 32 MiB */
  readonly maxPendingBytes?: number;
}

/** The poller of one gateway. */
export interface GatewayPoller {
  /** Goes on with an order of an earlier run: it is read at its `nextPollAt`. */
  resume(watched: Watched): void;
  /** Forgets the orders that others keep (`keeps`); those under way when they have been read. */
  release(): void;
  /**
   * Watches the order unless it is watched already, and reads it: at once and before everything that is
   * merely due when the cause is a callback; else a new one at its `nextPollAt`, one that is watched soon, as
   * `nudge` does.
   */
  takeUp(key: string, watched: Watched, cause: PollCause): void;
  /** Reads a watched order soon, without jumping the queue. False when it is not watched. */
  nudge(key: string): boolean;
  get(key: string): WatchedOrder | undefined;
  status(): PollerStatus;
  /** Starts no further request and waits for those under way, answers included. */
  stop(): Promise<void>;
}
