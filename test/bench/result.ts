/**
 * What a bench measured: our way and a straightforward way of doing the same work, both in one run on one
 * machine, so that their ratio holds where absolute figures do not. Every file under `test/bench` that
 * measures something exports `run(): Promise<BenchResult>`; `main.ts` finds and runs it.
 */
export interface BenchResult {
  /** What is measured, in a few words. */
  readonly name: string;
  /** Unit of `ours` and `baseline`, a rate: more is better. */
  readonly unit: string;
  readonly ours: number;
  readonly baseline: number;
  /** The ratio `ours / baseline` that must be reached. */
  readonly aim: number;
  /** Anything a reader of the table should know: sizes, versions, memory. */
  readonly note?: string;
}

/** What a bench answers that lacks something which this machine does not have. */
export interface SkippedBench {
  /** Why nothing was measured, as a sentence. */
  readonly skipped: string;
}

export type Bench = () => Promise<BenchResult | SkippedBench>;

/** How many times the baseline's rate ours is. */
export function ratioOf(result: BenchResult): number {
  return result.ours / result.baseline;
}

/** Did the measurement reach its aim? A ratio that is not a number did not. */
export function reachesAim(result: BenchResult): boolean {
  return ratioOf(result) >= result.aim;
}

/** The upper one of two in the middle; NaN of none. */
export const median = (values: readonly number[] = []): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
