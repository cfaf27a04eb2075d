import { DELAYS } from './draw.ts';
import { DECIDED, PATHS } from './paths.ts';
import type { Counts, Months } from './months.ts';
import type { Slice } from './slices.ts';

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
  /** `sums[m]`: orders of all minutes before m. A gateway's months fit into 32 bits. */
  readonly sums: Uint32Array;
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
export function ordersMeasure(
  { orders, minutes }: Pick<Months, 'orders' | 'minutes'>,
  counted: readonly Counted[],
): Measure {
  const byDelay = new Map<number, Uint32Array>();
  for (const [index, { minutes: late }] of DELAYS.entries())
    for (const { path, atSecond } of counted) {
      const after = Math.floor(atSecond / 60);
      const delay = Math.max(0, late - after);
      const each = byDelay.get(delay) ?? new Uint32Array(minutes + 1);
      byDelay.set(delay, each);
      const counts = orders[index]?.[path];
      if (counts === undefined) continue;
      for (let minute = 0; minute + after < minutes; minute++) {
        const count = counts[minute] ?? 0;
        if (count > 0) each[minute + after + 1] = (each[minute + after + 1] ?? 0) + count;
      }
    }
  const lates = [...byDelay].map(([delay, each]) => ({ delay, sums: runningSum(each) }));
  return createMeasure(lates, (counted[0]?.atSecond ?? 0) % 60);
}

/** Measures of a gateway's months or a slice's; many rules count the same orders, so each is made once. */
export function createMeasures(months: Months): (counted: readonly Counted[]) => Measure {
  const made = new Map<string, Measure>();
  return (counted) => {
    const key = JSON.stringify(counted);
    const measure = made.get(key) ?? ordersMeasure(months, counted);
    made.set(key, measure);
    return measure;
  };
}

function runningSum(each: Uint32Array): Uint32Array {
  for (let index = 1; index < each.length; index++) each[index] = (each[index] ?? 0) + (each[index - 1] ?? 0);
  return each;
}

/** The months of a slice: its orders alone, everything else as it is. */
export function monthsOfSlice(months: Months, slice: Slice): Months {
  if (slice.name === '') return months;
  const orders: Counts = DELAYS.map((_, delay) =>
    PATHS.map((_, path) => {
      const own = slice.segments.flatMap((segment) => months.segments[segment]?.[delay]?.[path] ?? []);
      if (own.length < 2) return own[0];
      const sum = new Uint16Array(months.minutes);
      for (const counts of own)
        for (let minute = 0; minute < sum.length; minute++)
          sum[minute] = (sum[minute] ?? 0) + (counts[minute] ?? 0);
      return sum;
    }),
  );
  return { ...months, orders };
}

/** Decided orders of a slice, and those that took longer than 95 % of their segment's usually do. */
export function slownessOf(months: Months, slice: Slice): { readonly seen: Measure; readonly hit: Measure } {
  const hit = new Uint32Array(months.minutes + 1);
  for (const segment of slice.segments)
    for (const [minute, count] of (months.slow[segment] ?? []).entries())
      hit[minute + 1] = (hit[minute + 1] ?? 0) + count;
  const decided = DECIDED.map((path) => ({ path, atSecond: 0 }));
  return {
    seen: ordersMeasure(monthsOfSlice(months, slice), decided),
    hit: createMeasure([{ delay: 0, sums: runningSum(hit) }], 0),
  };
}
