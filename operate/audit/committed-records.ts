import { SHOWN, type Check } from './report.ts';

/** Offsets of one partition: from `from` up to before `committed`. */
export interface CommittedRange {
  readonly topic: string;
  readonly partition: number;
  readonly from: string;
  readonly committed: string;
}

export interface RecordPlace {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
}

/** How the consumer group and its topics are asked. */
export interface CommittedPort {
  /** What the group has committed and the store does not know. */
  unstored(): Promise<readonly CommittedRange[]>;
  /** Of these places, those that hold a record with a value. Commits nothing. */
  withRecords(places: readonly RecordPlace[]): Promise<readonly RecordPlace[]>;
}

/** As many offsets are looked at, by partition: markers of transactions and tombstones are no records. */
const LOOKED_AT = 1_000;

/**
 * Every record that the consumer group has committed is known to the store. It is not where an older backup
 * was restored: the next start of a collector reads these records again.
 */
export async function auditCommitted(port: CommittedPort): Promise<Check> {
  const check = 'every Kafka record that the consumer group has committed is here';
  try {
    return { check, ...(await findMissing(port)) };
  } catch (error) {
    // Without the brokers nothing can be said, which is not the same as nothing missing.
    return { check, violations: 1, offenders: [(error as Error).message] };
  }
}

async function findMissing(port: CommittedPort): Promise<Omit<Check, 'check'>> {
  const ranges = await port.unstored();
  const places = ranges.flatMap(({ topic, partition, from, committed }) => {
    const first = Number(from);
    const count = Math.min(LOOKED_AT, Number(committed) - first);
    return Array.from({ length: count }, (_, index) => ({ topic, partition, offset: first + index }));
  });
  const missing = places.length === 0 ? [] : await port.withRecords(places);
  return {
    violations: missing.length,
    offenders: missing
      .slice(0, SHOWN)
      .map(({ topic, partition, offset }) => `${topic}/${partition}@${offset}`),
  };
}
