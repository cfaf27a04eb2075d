import { TABLES } from '../../schemas/names.ts';
import type { EpochMicros, Rows } from '../../schemas/rows.ts';

/**
 * Who evaluates: of the collectors that have renewed their lease lately the first one, by `byRank`. Nobody
 * locks anything: two that evaluate at once write the same rows, of which the first counts.
 */
export interface Lease {
  readonly holder: string;
  /** It notifies receivers. */
  readonly notifies: boolean;
  readonly takenAt: EpochMicros;
}

/**
 * A lease counts for this long after it was renewed, by the store's clock. Every collector looks once a
 * minute, so that another one evaluates within two minutes after the holder is gone.
 */
const LEASE_SECONDS = 90;

/** A collector that notifies goes first, then the one that came first. */
const byRank = (a: Lease, b: Lease): number =>
  Number(b.notifies) - Number(a.notifies) || a.takenAt - b.takenAt || (a.holder < b.holder ? -1 : 1);

/** The lease that `self` is to write, or null: another one evaluates. */
export function leaseToWrite(
  live: readonly Lease[],
  self: Pick<Lease, 'holder' | 'notifies'>,
  now: EpochMicros,
): Lease | null {
  const [mine] = live.filter(({ holder }) => holder === self.holder).toSorted(byRank);
  const [first] = live.filter(({ holder }) => holder !== self.holder).toSorted(byRank);
  const lease = { ...self, takenAt: mine?.takenAt ?? now };
  if (first === undefined) return lease;
  // Whoever comes later waits, whatever its clock says.
  const isFirst = mine === undefined ? self.notifies && !first.notifies : byRank(lease, first) < 0;
  return isFirst ? lease : null;
}

export interface EvaluationLease {
  /**
   * Renews the lease, or takes it where nobody has it. Is this the collector that evaluates?
   * @throws StoreError when the store does not answer
   */
  check(): Promise<boolean>;
}

export interface LeaseOptions {
  readonly query: <T>(sql: string) => Promise<T[]>;
  readonly insert: (row: Rows['alertLeases'], token: string) => Promise<void>;
  readonly collectorId: string;
  readonly notifies: boolean;
  readonly now: () => EpochMicros;
}

export function createEvaluationLease({
  query,
  insert,
  collectorId,
  notifies,
  now,
}: LeaseOptions): EvaluationLease {
  const self = { holder: collectorId, notifies };
  let holds = false;
  const look = async (): Promise<Lease | null> => {
    const rows = await query<{ holder: string; notifies: number; taken: EpochMicros }>(LIVE_SQL);
    const live = rows.map(({ holder, notifies: notifying, taken }) => ({
      holder,
      notifies: notifying === 1,
      takenAt: taken,
    }));
    return leaseToWrite(live, self, now());
  };
  return {
    async check() {
      const lease = await look();
      if (lease === null) return (holds = false);
      const row = { holder: lease.holder, notifies: Number(lease.notifies), taken_at: lease.takenAt };
      try {
        // The same row each time: without a token of its own the store would take it for a repetition.
        await insert(row, `lease-${lease.holder}-${now()}`);
      } catch (error) {
        // A store that takes no rows lets nobody else have it.
        if (!holds) throw error;
      }
      // Another one may have taken it at the same time.
      holds ||= (await look()) !== null;
      return holds;
    },
  };
}

const LIVE_SQL = `SELECT holder, toUnixTimestamp64Micro(taken_at) AS taken, argMax(l.notifies, l.renewed_at) AS notifies
FROM ${TABLES.alertLeases} AS l
WHERE renewed_at > now64(6) - INTERVAL ${LEASE_SECONDS} SECOND
GROUP BY holder, taken_at`;
