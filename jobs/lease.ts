import { sqlText } from '../schemas/measures.ts';
import { DATABASE, JOBS, TABLES } from '../schemas/names.ts';
import type { EpochMicros } from '../schemas/rows.ts';

/**
 * Who runs the jobs: of the collectors that have renewed their lease lately the first one, by `byRank`.
 * Nobody locks anything: two that run a job at once write the same rows, of which the first counts.
 */
export interface Lease {
  readonly holder: string;
  /** It notifies receivers. */
  readonly notifies: boolean;
  readonly takenAt: EpochMicros;
}

/**
 * A lease counts for this long after it was renewed, by the store's clock. Every collector looks once a
 * minute, so that another one runs the jobs within two minutes after the holder is gone.
 */
const LEASE_SECONDS = 90;

/** A collector that notifies goes first, then the one that came first. */
const byRank = (a: Lease, b: Lease): number =>
  Number(b.notifies) - Number(a.notifies) || a.takenAt - b.takenAt || (a.holder < b.holder ? -1 : 1);

/** The lease that `self` is to write, or null: another one runs the jobs. */
export function leaseToWrite(
  live: readonly Lease[],
  self: Pick<Lease, 'holder' | 'notifies'>,
  now: EpochMicros,
): Lease | null {
  const mine = live.find(({ holder }) => holder === self.holder);
  const [first] = live.filter(({ holder }) => holder !== self.holder).toSorted(byRank);
  const lease = { ...self, takenAt: mine?.takenAt ?? now };
  if (first === undefined) return lease;
  // Whoever comes later waits, whatever its clock says.
  const isFirst = mine === undefined ? self.notifies && !first.notifies : byRank(lease, first) < 0;
  return isFirst ? lease : null;
}

export interface JobsLease {
  /**
   * Renews the lease, or takes it where nobody has it. Is this the collector that runs the jobs?
   * @throws StoreError when the store does not answer
   */
  check(): Promise<boolean>;
}

export interface LeaseOptions {
  readonly query: <T>(sql: string) => Promise<T[]>;
  readonly command: (sql: string) => Promise<void>;
  readonly collectorId: string;
  readonly notifies: boolean;
  readonly now: () => EpochMicros;
}

export function createJobsLease({ query, command, collectorId, notifies, now }: LeaseOptions): JobsLease {
  const self = { holder: collectorId, notifies };
  let holds = false;
  const look = async (): Promise<Lease | null> => leaseToWrite(await query<Lease>(LIVE_SQL), self, now());
  return {
    async check() {
      const lease = await look();
      if (lease === null) return (holds = false);
      try {
        await command(renewSql(lease));
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

const LIVE_SQL = `SELECT part AS holder, argMax(j.notifies, j.updated_at) AS notifies,
    toUnixTimestamp64Micro(argMax(leased_since, j.updated_at)) AS takenAt
FROM ${DATABASE}.${TABLES.jobs} AS j
WHERE job = '${JOBS.lease}' AND updated_at > now64(6) - INTERVAL ${LEASE_SECONDS} SECOND
GROUP BY holder`;

const renewSql = ({ holder, notifies, takenAt }: Lease): string =>
  `INSERT INTO ${DATABASE}.${TABLES.jobs} (job, part, leased_since, notifies) SELECT '${JOBS.lease}', ${sqlText(holder)}, fromUnixTimestamp64Micro(${takenAt}, 'UTC'), ${notifies}`;
