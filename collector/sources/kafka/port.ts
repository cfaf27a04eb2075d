import type { GatewatchError } from '../../../schemas/errors.ts';
import type { KafkaRecord, KafkaSourceStatus, PartitionStatus, Tenure } from '../../../schemas/kafka.ts';

export interface HandleContext {
  /**
   * Aborted when the outcome no longer counts: the partition went to another member, or the source was
   * stopped.
   */
  readonly signal: AbortSignal;
  readonly topic: string;
  readonly partition: number;
  /**
   * To be called when all that is left is to wait for the store: the next records may be handed over
   * meanwhile. Without it they are when `handle` has resolved.
   */
  taken(): void;
}

export type KafkaSasl =
  | { mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512'; username: string; password: string }
  | { mechanism: 'oauthbearer'; oauthBearerProvider: () => Promise<{ value: string }> };

/** TLS as Node's `tls.connect` takes it, in PEM text; `true` for the system's authorities. */
export type KafkaTls =
  | boolean
  | {
      ca?: string;
      cert?: string;
      key?: string;
      passphrase?: string;
      servername?: string;
      rejectUnauthorized?: boolean;
    };

export interface Place {
  readonly topic: string;
  readonly partition: number;
}

/** `next`: the offset behind the last record that is stored. */
export type StoredEnd = Place & { readonly next: string };

/** Records from `from` on are read again, though the group has committed up to `committed`. */
export type ReadAgain = Place & { readonly from: string; readonly committed: string };

export interface KafkaConnectionOptions {
  /** `host:port` of one or more brokers, to find the others by. */
  brokers: readonly string[];
  /** Shown in the broker's logs and quotas. @default 'gatewatch' */
  clientId?: string;
  /** @default false */
  ssl?: KafkaTls;
  sasl?: KafkaSasl;
  /** Passed to the client library as they are, over what is set here. */
  clientOptions?: Readonly<Record<string, unknown>>;
}

export interface KafkaSourceOptions extends KafkaConnectionOptions {
  groupId: string;
  topics: readonly string[];
  /**
   * Called with records of one partition in offset order, and for a partition with the next ones only when
   * those before are `taken`. Resolves when all that follows from them is durable: only then is their offset
   * committed. Rejects with `retryable:
   * true` to be offered the same records again later, with anything else to end the source (bad data is not
   * an error).
   */
  handle(records: readonly KafkaRecord[], context: HandleContext): Promise<void>;
  /**
   * Is what a running `handle` waits for known to be away? While it is, nothing counts as a stall. @default
   * never
   */
  isStoreAway?(): boolean;
  onEvent?(event: KafkaEvent): void;
  /** How long a member may be silent before its partitions go to others. @default 10000 */
  sessionTimeoutMs?: number;
  /**
   * How long a rebalance waits for members to rejoin; half of it is left to a running `handle`. @default
   * 30000
   */
  rebalanceTimeoutMs?: number;
  /**
   * What a partition brings at once: the more, the fewer batches a topic of few partitions costs. @default as
   * much as is unpacked of a fetch
   */
  maxBytesPerPartition?: number;
  /** Most records in one call of `handle`. @default 3000 */
  maxRecordsPerHandle?: number;
  /** Partitions whose records are handled at the same time. @default 8 */
  partitionsConcurrency?: number;
  /** Where a group without a committed offset begins: the oldest record, or only new ones. @default true */
  fromBeginning?: boolean;
  /**
   * How far the store knows partitions; one of which it has nothing is missing. Where the group has committed
   * more, as after a backup was restored, these records are read again. @default the group is believed
   */
  storedEnds?(partitions: readonly Place[]): Promise<readonly StoredEnd[]>;
  /** Create missing topics with that many partitions (replication: the broker's default). @default off */
  createTopics?: { partitions: number };
  /** Lag without progress for this long is a stall. @default 60000 */
  stallTimeoutMs?: number;
  /** How long `stop` waits for running handlers. @default 10000 */
  stopTimeoutMs?: number;
  /** Waits between attempts: after a failed `handle`, a lost connection, a missing topic. */
  backoff?: Backoff;
  clock?: Clock;
}

export interface Backoff {
  /** @default 500 */
  initialMs: number;
  /** @default 15000 */
  maxMs: number;
}

/** A monotonic clock in milliseconds. */
export interface Clock {
  now(): number;
}

export interface KafkaSource {
  /**
   * Begins consuming in the background; a broker or topic that is not there yet is retried for ever, and
   * reported.
   */
  start(): Promise<void>;
  /**
   * Waits for running handlers up to `stopTimeoutMs`, commits what they finished, leaves the group. Never
   * rejects.
   */
  stop(): Promise<void>;
  status(): KafkaSourceStatus;
  /**
   * The partitions of a topic that the group gave this member last, of how many; null until it has joined.
   */
  assignment(topic: string): { readonly partitions: readonly number[]; readonly of: number } | null;
  /** How sure that is; null until this member has joined. */
  tenure(topic: string): Tenure | null;
}

export type KafkaEvent =
  | { type: 'connected'; brokers: readonly string[] }
  /** The broker cannot be used; tried again in `retryInMs`. */
  | { type: 'unreachable'; error: GatewatchError; retryInMs: number }
  | { type: 'topic_missing'; topics: readonly string[]; error: GatewatchError; retryInMs: number }
  | { type: 'topic_created'; topics: readonly string[] }
  /** The store does not know all that the group has committed. */
  | { type: 'read_again'; partitions: readonly ReadAgain[] }
  /** `generation` counts the joins of this process. */
  | {
      type: 'group_join';
      memberId: string;
      generation: number;
      assignment: Readonly<Record<string, readonly number[]>>;
    }
  | { type: 'rebalance' }
  | { type: 'committed'; topic: string; partition: number; offset: string }
  | { type: 'commit_failed'; topic: string; partition: number; offset: string; error: GatewatchError }
  /** A handler outlived its assignment: its records will be read again, here or by another member. */
  | { type: 'assignment_lost'; topic: string; partition: number; offset: string }
  | {
      type: 'paused';
      topic: string;
      partition: number;
      offset: string;
      attempt: number;
      error: Error;
      retryInMs: number;
    }
  | { type: 'resumed'; topic: string; partition: number }
  /**
   * Records between `expected` and `actual` are gone (retention, compaction, or a transaction's markers).
   * `missing` is null when the log went backwards: the topic was created anew.
   */
  | {
      type: 'offset_gap';
      topic: string;
      partition: number;
      expected: string;
      actual: string;
      missing: number | null;
    }
  | { type: 'stalled'; partitions: readonly PartitionStatus[] }
  /** The client library gave up; a new one is made in `retryInMs`. */
  | { type: 'crash'; error: GatewatchError; retryInMs: number }
  | { type: 'fatal'; error: Error }
  | { type: 'stopped'; clean: boolean }
  | { type: 'client_log'; level: 'warn' | 'error'; message: string };
