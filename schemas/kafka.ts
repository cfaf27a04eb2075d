import type { GatewatchError } from './errors.ts';

/** Where a message lies. */
export interface Coordinates {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
}

/** One message as the broker holds it; nothing is decoded. */
export interface KafkaRecord {
  readonly topic: string;
  readonly partition: number;
  /** Decimal text: offsets are 64-bit. */
  readonly offset: string;
  readonly key: Uint8Array | null;
  readonly value: Uint8Array | null;
  /**
   * Header names in lower case; every occurrence of a header in any case is kept, a null value as empty
   * bytes.
   */
  readonly headers: ReadonlyMap<string, readonly Uint8Array[]>;
  readonly timestampMs: number;
  /** It stands for records that cannot be read, and has neither key nor value. */
  readonly unreadable?: UnreadableBatch;
}

/** Records that were fetched and cannot be handed over: what stands in their place. */
export interface UnreadableBatch {
  /** `too_large`: unpacked, it would take more than this process gives to one batch. */
  readonly problem: 'too_large' | 'damaged';
  readonly firstOffset: string;
  readonly lastOffset: string;
  /** As packed. */
  readonly bytes: number;
}

export interface PartitionStatus {
  readonly topic: string;
  readonly partition: number;
  /** The next offset to be handled; null until known. */
  readonly position: string | null;
  /** The broker's next offset; null until known. */
  readonly highWatermark: string | null;
  /** Records between the two; null until both are known. */
  readonly lag: number | null;
  /** Of these, records that nobody can read before a transaction ends. */
  readonly uncommitted: number;
  /** For how long the same transaction has been open before such records; 0: there are none. */
  readonly uncommittedMs: number;
  /** Waiting to offer records again after a retryable failure. */
  readonly paused: boolean;
  /** For how long the same records have been offered without success; null: they were taken. */
  readonly heldMs: number | null;
  /** On the clock of the options. */
  readonly lastProgressAtMs: number;
  readonly stalled: boolean;
}

/** How sure a member of a group can be that nobody else has the partitions that it was given. */
export interface Tenure {
  /** Joins of the group by this process. */
  readonly joins: number;
  /** By partition: the number of the join since which this member has had it without a break. */
  readonly since: ReadonlyMap<number, number>;
  /** The group heard of this member so lately that it cannot have given its partitions to others. */
  readonly isConfirmed: boolean;
}

export type GroupState = 'stopped' | 'connecting' | 'joining' | 'stable' | 'rebalancing' | 'failed';

export interface KafkaSourceStatus {
  /** The broker answered within the session timeout. */
  readonly connected: boolean;
  readonly groupState: GroupState;
  /** Assigned partitions; those of other members are not listed. */
  readonly partitions: readonly PartitionStatus[];
  /** Topics that do not exist, or that this user may not see. */
  readonly missingTopics: readonly string[];
  /**
   * No progress for `stallTimeoutMs` although the broker has records, or the group is not joined: restart the
   * process.
   */
  readonly stalled: boolean;
  /** Sum over the assigned partitions whose lag is known. */
  readonly lag: number;
  /** Of these, records that nobody can read before a transaction ends. */
  readonly uncommitted: number;
  /** The longest time that a transaction has been open before such records; 0: there are none. */
  readonly uncommittedMs: number;
  /** Why the source ended for good. */
  readonly fatal: Error | null;
  /** The last failure; null again once the broker answers. */
  readonly lastError: GatewatchError | null;
}

/** What the brokers say about the configured topics and group. */
export interface KafkaSurvey {
  readonly brokers: number;
  /** The configured topics that exist and that this user may see. */
  readonly present: readonly string[];
  readonly missing: readonly string[];
  readonly group: {
    /** It has committed an offset of one of the topics. */
    readonly hasCommitted: boolean;
    /** Records that it has still to read; without a committed offset, from the oldest one. */
    readonly lag: bigint;
    /** Of these, records that nobody can read before a transaction ends. */
    readonly uncommitted: bigint;
  };
}
