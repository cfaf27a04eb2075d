import type { EpochMicros } from '../../../schemas/rows.ts';

/** Where a sink stands, apart from the rows themselves. Times in milliseconds are monotonic. */
export interface SinkState {
  /** `closing`: takes no more writes, and sends what it has. `stopped`: sends no more. */
  readonly phase: 'open' | 'closing' | 'stopped';
  /** The last batch number that is used up; null until the store has said which one that is. */
  readonly lastSeq: number | null;
  /** A batch is under way. */
  readonly isSending: boolean;
  /** The next one is frozen already. */
  readonly isPrepared: boolean;
  readonly lastStartMs: number;
  /** The same of the last one that took all that waited, and not what is awaited alone. */
  readonly lastWholeStartMs: number;
  /** How long that one took; 0 until it is acknowledged. */
  readonly wholeTookMs: number;
  /** How long it had been since the start before, when the last batch began. */
  readonly pauseMs: number;
  readonly lastAckMs: number;
  readonly lastAckAt: EpochMicros | null;
}

/** What a batch takes of what waits: all, or only what somebody waits for. */
export type Takes = 'all' | 'awaited';

export type SinkChange =
  | { readonly type: 'recovered'; readonly lastSeq: number }
  /** A batch was frozen under that number, to be sent at once or next. */
  | { readonly type: 'frozen'; readonly batchSeq: number }
  | { readonly type: 'prepared' }
  | { readonly type: 'prepared_taken' }
  | { readonly type: 'started'; readonly nowMs: number; readonly takes: Takes }
  | { readonly type: 'acknowledged'; readonly at: EpochMicros; readonly nowMs: number }
  | { readonly type: 'ended' }
  | { readonly type: 'closing' }
  | { readonly type: 'stopped' };

export const INITIAL_STATE: SinkState = {
  phase: 'open',
  lastSeq: null,
  isSending: false,
  isPrepared: false,
  lastStartMs: -Infinity,
  lastWholeStartMs: -Infinity,
  wholeTookMs: 0,
  pauseMs: Infinity,
  lastAckMs: -Infinity,
  lastAckAt: null,
};

export function nextState(state: SinkState, change: SinkChange): SinkState {
  switch (change.type) {
    case 'recovered':
      return { ...state, lastSeq: change.lastSeq };
    case 'frozen':
      return { ...state, lastSeq: change.batchSeq };
    case 'prepared':
      return { ...state, isPrepared: true };
    case 'prepared_taken':
      return { ...state, isPrepared: false };
    case 'started':
      return {
        ...state,
        isSending: true,
        lastStartMs: change.nowMs,
        lastWholeStartMs: change.takes === 'all' ? change.nowMs : state.lastWholeStartMs,
        pauseMs: change.nowMs - state.lastStartMs,
      };
    case 'acknowledged': {
      const wasWhole = state.lastStartMs === state.lastWholeStartMs;
      return {
        ...state,
        lastAckAt: change.at,
        lastAckMs: change.nowMs,
        wholeTookMs: wasWhole ? change.nowMs - state.lastStartMs : state.wholeTookMs,
      };
    }
    case 'ended':
      return { ...state, isSending: false };
    case 'closing':
      return state.phase === 'open' ? { ...state, phase: 'closing' } : state;
    case 'stopped':
      return { ...state, phase: 'stopped' };
  }
}

export type Step =
  | { readonly do: 'nothing' }
  /** Freeze the next batch while another is under way. */
  | { readonly do: 'prepare' }
  | { readonly do: 'send'; readonly takes: Takes }
  /** Look again after that time. */
  | { readonly do: 'wait'; readonly ms: number };

/** What waits to be sent. */
export interface Waiting {
  readonly rows: number;
  readonly isEmpty: boolean;
  /** Somebody waits for the acknowledgement of some of it: a sender of callbacks, a person. */
  readonly isAwaited: boolean;
}

export interface BatchLimits {
  readonly maxBatchRows: number;
  readonly maxAgeMs: number;
  readonly quietAgeMs: number;
}

/**
 * From here on waiting for other rows saves little. Fewer than a partition of Kafka brings at once: whoever
 * catches up is not to wait for others that do not come.
 */
export const MANY_ROWS = 4_000;

/**
 * What is due. One batch is under way at a time; idle, rows go at once. While batches follow each other, one
 * that is not full waits until enough time has passed since the last began. Where a sender waits for its
 * answer, what it waits for goes sooner and alone: each table that a batch writes has its price.
 */
export function nextStep(state: SinkState, waiting: Waiting, limits: BatchLimits, nowMs: number): Step {
  const { phase, lastSeq, isSending, isPrepared } = state;
  if (phase === 'stopped') return { do: 'nothing' };
  const isFull = waiting.rows >= limits.maxBatchRows;
  if (isSending) return { do: !isPrepared && lastSeq !== null && isFull ? 'prepare' : 'nothing' };
  if (!isPrepared && waiting.isEmpty) return { do: 'nothing' };
  const allMs = allDueMs(state, waiting, limits) - nowMs;
  if (phase === 'closing' || isPrepared || isFull || allMs <= 0) return { do: 'send', takes: 'all' };
  const awaitedMs = waiting.isAwaited ? awaitedDueMs(state, limits) - nowMs : Infinity;
  if (awaitedMs <= 0) return { do: 'send', takes: 'awaited' };
  return { do: 'wait', ms: Math.min(allMs, awaitedMs) };
}

/**
 * When all that waits is due. A batch has a fixed price, so with few rows there are fewer batches. Not so for
 * the second one after a pause: a lone callback goes at once, and its reply is the second. Where a batch
 * takes long they are closer by that, so that the wait and the writing together stay within the age while
 * the writing is less than half of it.
 */
function allDueMs(state: SinkState, waiting: Waiting, { maxAgeMs, quietAgeMs }: BatchLimits): number {
  const { pauseMs, lastStartMs, lastWholeStartMs, wholeTookMs } = state;
  const soonestMs = lastStartMs + maxAgeMs;
  if (waiting.rows >= MANY_ROWS || pauseMs >= 2 * quietAgeMs) return soonestMs;
  return Math.max(soonestMs, lastWholeStartMs + quietAgeMs - wholeTookMs);
}

/** When that of it is due for which somebody waits. */
const awaitedDueMs = ({ lastStartMs }: SinkState, { maxAgeMs, quietAgeMs }: BatchLimits): number =>
  lastStartMs + Math.max(maxAgeMs, quietAgeMs / 6);

/** The number of the next batch: batches that are not in the ledger repeat the last one's. */
export function batchSeqAfter({ lastSeq }: SinkState, isInLedger: boolean): number {
  return (lastSeq ?? 0) + (isInLedger ? 1 : 0);
}

/** For how long writes have waited while nothing was acknowledged; null when none wait. */
export function stalledMs(
  { lastAckMs }: SinkState,
  oldestSinceMs: number | null,
  nowMs: number,
): number | null {
  return oldestSinceMs === null ? null : nowMs - Math.max(oldestSinceMs, lastAckMs);
}
