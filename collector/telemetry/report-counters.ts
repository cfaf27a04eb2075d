import type { Clock } from '../../schemas/clock.ts';
import type { EpochMicros, RowBundle } from '../../schemas/rows.ts';

/** Running totals that `collector_status` reports: what the metrics count, kept readable. */
export interface ReportCounters {
  /** Notes a bundle that was acknowledged. */
  acknowledged(bundle: RowBundle): void;
  lastProgressAt(): EpochMicros;
  totals(): { rejects_total: number; duplicates_total: number; lateness_p99_ms: number };
}

/** The number of latest polls whose lateness is reported. */
const KEPT = 1000;

export function createReportCounters(clock: Clock): ReportCounters {
  let rejects = 0;
  let duplicates = 0;
  let lastProgressAt = clock.now();
  const lateness: number[] = [];
  let next = 0;
  return {
    acknowledged(bundle) {
      lastProgressAt = clock.now();
      rejects += bundle.rejects?.length ?? 0;
      for (const poll of bundle.polls ?? []) {
        lateness[next] = poll.lateness_ms;
        next = (next + 1) % KEPT;
        duplicates += poll.items - poll.new_items;
      }
    },
    lastProgressAt: () => lastProgressAt,
    totals() {
      const sorted = lateness.toSorted((a, b) => a - b);
      const p99 = sorted[Math.floor(sorted.length * 0.99)] ?? 0;
      return { rejects_total: rejects, duplicates_total: duplicates, lateness_p99_ms: p99 };
    },
  };
}
