import { DELAYS, type Months } from './simulate.ts';

/**
 * A way in which orders are counted: a path, and how many seconds after its minute's beginning an order
 * counts.
 */
export interface Counted {
  readonly path: number;
  readonly atSecond: number;
}

/** Orders in any window, in constant time. */
export interface Measure {
  /** Second of the minute at which its orders count: where a window ends between minutes, this decides. */
  readonly second: number;
  /**
   * Orders that count in the minutes `[end - minutes, end)` and are known when all before minute `known` is
   * seen.
   */
  readonly within: (known: number, end: number, minutes: number) => number;
  /** The same with all that is ever known: the past that baselines are made of. */
  readonly between: (from: number, to: number) => number;
}

interface Late {
  readonly delay: number;
  /** `sums[m]`: orders of all minutes before m. */
  readonly sums: Float64Array;
}

/** Builds a measure from running sums of orders by minute, one for each delay. */
function createMeasure(lates: readonly Late[], second: number): Measure {
  const minutes = (lates[0]?.sums.length ?? 1) - 1;
  const clip = (minute: number): number => (minute < 0 ? 0 : minute > minutes ? minutes : minute);
  return {
    second,
    within(known, end, length) {
      const from = clip(end - length);
      let total = 0;
      for (const { delay, sums } of lates) {
        const to = clip(Math.min(end, known - delay));
        if (to > from) total += (sums[to] ?? 0) - (sums[from] ?? 0);
      }
      return total;
    },
    between(from, to) {
      let total = 0;
      for (const { sums } of lates) total += (sums[clip(to)] ?? 0) - (sums[clip(from)] ?? 0);
      return total;
    },
  };
}

/**
 * Orders of some paths. What happens minutes after the order is known by then, so it is less late by these.
 */
export function ordersMeasure(months: Months, counted: readonly Counted[]): Measure {
  // Billions of orders do not fit into 32 bits.
  const byDelay = new Map<number, Float64Array>();
  for (const [index, { minutes: late }] of DELAYS.entries())
    for (const { path, atSecond } of counted) {
      const after = Math.floor(atSecond / 60);
      const delay = Math.max(0, late - after);
      const each = byDelay.get(delay) ?? new Float64Array(months.minutes + 1);
      byDelay.set(delay, each);
      const counts = months.orders[index]?.[path];
      if (counts === undefined) continue;
      for (let minute = 0; minute + after < months.minutes; minute++) {
        const count = counts[minute] ?? 0;
        if (count > 0) each[minute + after + 1] = (each[minute + after + 1] ?? 0) + count;
      }
    }
  const lates = [...byDelay].map(([delay, each]) => ({ delay, sums: runningSum(each) }));
  return createMeasure(lates, (counted[0]?.atSecond ?? 0) % 60);
}

function runningSum(each: Float64Array): Float64Array {
  for (let index = 1; index < each.length; index++) each[index] = (each[index] ?? 0) + (each[index - 1] ?? 0);
  return each;
}
