export interface Spread {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** Of no values: zeros. */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => Math.round(sorted[Math.ceil(sorted.length * share) - 1] ?? 0);
  return { p50: at(0.5), p99: at(0.99), max: at(1) };
}
