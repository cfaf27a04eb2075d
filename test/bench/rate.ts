/** How often a second each of two ways gets its work done. */
export interface Rates {
  readonly ours: number;
  readonly baseline: number;
}

export interface RatesOptions {
  /** Units of work that one call does. */
  readonly units: number;
  /** Rounds that count; each runs both ways, one after the other. @default 31 */
  readonly rounds?: number;
  /** How long each way runs in a round at least. @default 40 */
  readonly roundMs?: number;
}

/**
 * Rates of two ways of doing the same work, from the round with the median ratio. They take short turns, so
 * that a busy machine slows both alike; the rounds before the first one that counts warm the compiler up.
 */
export function compareRates(ours: () => void, baseline: () => void, options: RatesOptions): Rates {
  const { units, rounds = 31, roundMs = 40 } = options;
  const warmUp = 5;
  const measured: Rates[] = [];
  for (let round = 0; round < rounds + warmUp; round++) {
    const rates = { ours: rateOf(ours, units, roundMs), baseline: rateOf(baseline, units, roundMs) };
    if (round >= warmUp) measured.push(rates);
  }
  const byRatio = measured.toSorted((a, b) => a.ours / a.baseline - b.ours / b.baseline);
  return byRatio[Math.floor(rounds / 2)] ?? { ours: Number.NaN, baseline: Number.NaN };
}

function rateOf(work: () => void, units: number, atLeastMs: number): number {
  const start = performance.now();
  let calls = 0;
  let elapsed = 0;
  do {
    work();
    calls++;
    elapsed = performance.now() - start;
  } while (elapsed < atLeastMs);
  return (calls * units * 1000) / elapsed;
}
