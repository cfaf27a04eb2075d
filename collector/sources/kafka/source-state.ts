import type { GatewatchError } from '../../../schemas/errors.ts';
import type { GroupState, KafkaSourceStatus, PartitionStatus, Tenure } from '../../../schemas/kafka.ts';
import type { Backoff } from './port.ts';
import type { Assignment } from './progress.ts';

/** What a Kafka source knows of itself and its broker, apart from the progress of its partitions. */
export interface SourceState {
  readonly group: GroupState;
  readonly groupSinceMs: number;
  /** When the broker last answered; null: it has not yet, or it is away. */
  readonly lastContactMs: number | null;
  readonly missingTopics: readonly string[];
  readonly fatal: Error | null;
  readonly lastError: GatewatchError | null;
  /** Sessions and connections that failed one after the other: the next wait is the longer. */
  readonly failures: number;
  /** Since when sessions crash although the broker answers and nothing was committed; null: they do not. */
  readonly crashingSinceMs: number | null;
  /** Of the last join: until the next one, it is the best that is known. */
  readonly assigned: Assignment | null;
  readonly partitionCounts: ReadonlyMap<string, number>;
  /** The id under which this member joined last: the group gives another one to whom it had given up. */
  readonly memberId: string | null;
  readonly joins: number;
  /** By topic and partition: the join since which this member has had it without a break. */
  readonly heldSince: Readonly<Record<string, ReadonlyMap<number, number>>>;
  /** When the request was sent that the group answered last; null: we have left it, or cannot reach it. */
  readonly confirmed: Confirmation | null;
  /** The present stall has been reported. */
  readonly stallReported: boolean;
}

/** A moment on the monotonic clock, which may stand still in a frozen machine, and on the wall clock. */
export interface Confirmation {
  readonly sentMs: number;
  readonly sentWallMs: number;
}

export type SourceChange =
  | { readonly type: 'group'; readonly state: GroupState }
  /** The broker answered something. */
  | { readonly type: 'contact' }
  | { readonly type: 'topics'; readonly missing: readonly string[]; readonly error: GatewatchError | null }
  | { readonly type: 'partitions'; readonly topic: string; readonly count: number }
  | { readonly type: 'joined'; readonly assignment: Assignment; readonly memberId: string }
  /** The group counts this member, or did when the request was sent that it has answered. */
  | ({ readonly type: 'confirmed' } & Confirmation)
  | { readonly type: 'leaving' }
  /** Offsets were committed, or nothing is left to read. */
  | { readonly type: 'progress' }
  | { readonly type: 'refresh_failed'; readonly error: GatewatchError }
  | { readonly type: 'crash'; readonly error: GatewatchError }
  | { readonly type: 'unreachable'; readonly error: GatewatchError }
  | { readonly type: 'fatal'; readonly error: Error }
  | { readonly type: 'stall'; readonly reported: boolean };

export interface StallLimits {
  readonly sessionTimeoutMs: number;
  readonly stallTimeoutMs: number;
  readonly rebalanceTimeoutMs: number;
}

export function initialState(nowMs: number): SourceState {
  return {
    group: 'stopped',
    groupSinceMs: nowMs,
    lastContactMs: null,
    missingTopics: [],
    fatal: null,
    lastError: null,
    failures: 0,
    crashingSinceMs: null,
    assigned: null,
    partitionCounts: new Map(),
    memberId: null,
    joins: 0,
    heldSince: {},
    confirmed: null,
    stallReported: false,
  };
}

export function nextState(state: SourceState, change: SourceChange, nowMs: number): SourceState {
  switch (change.type) {
    case 'group':
      return inGroup(change.state === 'stable' ? { ...state, failures: 0 } : state, change.state, nowMs);
    case 'contact':
      return { ...state, lastContactMs: nowMs };
    case 'topics':
      return { ...state, lastContactMs: nowMs, missingTopics: change.missing, lastError: change.error };
    case 'partitions':
      return {
        ...state,
        partitionCounts: new Map(state.partitionCounts).set(change.topic, change.count),
      };
    case 'joined':
      return joinedAs(state, change.memberId, change.assignment);
    case 'confirmed':
      return { ...state, confirmed: { sentMs: change.sentMs, sentWallMs: change.sentWallMs } };
    case 'leaving':
      return { ...state, confirmed: null };
    case 'progress':
      return { ...state, crashingSinceMs: null };
    case 'refresh_failed':
      return { ...state, lastError: change.error };
    case 'crash':
      return failed({ ...state, crashingSinceMs: state.crashingSinceMs ?? nowMs }, change.error, nowMs);
    case 'unreachable':
      return failed({ ...state, crashingSinceMs: null }, change.error, nowMs);
    case 'fatal':
      return inGroup({ ...state, fatal: change.error, confirmed: null }, 'failed', nowMs);
    case 'stall':
      return { ...state, stallReported: change.reported };
  }
}

function inGroup(state: SourceState, group: GroupState, nowMs: number): SourceState {
  return state.group === group ? state : { ...state, group, groupSinceMs: nowMs };
}

function failed(state: SourceState, error: GatewatchError, nowMs: number): SourceState {
  const lastContactMs = error.code === 'kafka_unreachable' ? null : state.lastContactMs;
  const failures = state.failures + 1;
  const next = { ...state, failures, lastError: error, lastContactMs, confirmed: null };
  return inGroup(next, 'connecting', nowMs);
}

/** Partitions that stay with the same member were nobody else's in between. */
function joinedAs(state: SourceState, memberId: string, assigned: Assignment): SourceState {
  const joins = state.joins + 1;
  const isSameMember = memberId === state.memberId;
  const sinceOf = (topic: string, partition: number): number =>
    (isSameMember ? state.heldSince[topic]?.get(partition) : undefined) ?? joins;
  const heldSince = Object.fromEntries(
    Object.entries(assigned).map(([topic, partitions]) => [
      topic,
      new Map(partitions.map((partition) => [partition, sinceOf(topic, partition)])),
    ]),
  );
  return { ...state, assigned, memberId, joins, heldSince };
}

/** True when the next answer of the broker is news. */
export function isConnectionNews({ lastContactMs, lastError }: SourceState): boolean {
  return lastContactMs === null || lastError !== null;
}

export function statusOf(
  state: SourceState,
  partitions: readonly PartitionStatus[],
  nowMs: number,
  limits: StallLimits,
): KafkaSourceStatus {
  const { group, lastContactMs, crashingSinceMs, missingTopics, fatal, lastError } = state;
  const { sessionTimeoutMs, stallTimeoutMs, rebalanceTimeoutMs } = limits;
  const connected = lastContactMs !== null && nowMs - lastContactMs <= sessionTimeoutMs;
  const isUnjoined =
    (group === 'joining' || group === 'rebalancing') &&
    nowMs - state.groupSinceMs > stallTimeoutMs + rebalanceTimeoutMs;
  const isCrashing = crashingSinceMs !== null && nowMs - crashingSinceMs >= stallTimeoutMs;
  // A broker that is away is no stall: a new process would find it away as well.
  const stalled = connected && (isUnjoined || isCrashing || partitions.some((one) => one.stalled));
  const lag = partitions.reduce((sum, partition) => sum + (partition.lag ?? 0), 0);
  const uncommitted = partitions.reduce((sum, partition) => sum + partition.uncommitted, 0);
  const uncommittedMs = Math.max(0, ...partitions.map((partition) => partition.uncommittedMs));
  return {
    connected,
    groupState: group,
    partitions,
    missingTopics,
    stalled,
    lag,
    uncommitted,
    uncommittedMs,
    fatal,
    lastError,
  };
}

/** The partitions of a topic that the group gave this member last; null until both are known. */
export function assignmentOf(
  { assigned, partitionCounts }: SourceState,
  topic: string,
): { readonly partitions: readonly number[]; readonly of: number } | null {
  const of = partitionCounts.get(topic);
  return assigned === null || of === undefined ? null : { partitions: assigned[topic] ?? [], of };
}

/**
 * See `Tenure`. The group gives a member up that it has not heard of for the session timeout, so until then
 * nobody else has its partitions.
 */
export function tenureOf(
  { assigned, joins, heldSince, confirmed }: SourceState,
  topic: string,
  now: { readonly ms: number; readonly wallMs: number },
  sessionTimeoutMs: number,
): Tenure | null {
  if (assigned === null) return null;
  const silentMs =
    confirmed === null ? Infinity : Math.max(now.ms - confirmed.sentMs, now.wallMs - confirmed.sentWallMs);
  return { joins, since: heldSince[topic] ?? new Map(), isConfirmed: silentMs < sessionTimeoutMs };
}

/**
 * Doubles from the first wait to the longest, with jitter so that many collectors do not come back at once.
 * @param random in [0, 1)
 */
export function retryDelayMs(backoff: Backoff, attempt: number, random: number): number {
  const full = Math.min(backoff.maxMs, backoff.initialMs * 2 ** Math.min(attempt - 1, 20));
  return Math.round(full * (0.8 + random * 0.2));
}
