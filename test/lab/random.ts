/** A seeded source of numbers (sfc32): equal seeds give equal months. */
export interface Random {
  /** 0 <= x < 1. */
  readonly next: () => number;
  /** A whole number of 0..n-1. */
  readonly below: (n: number) => number;
  /** Standard normal. */
  readonly normal: () => number;
  readonly poisson: (mean: number) => number;
}

export function createRandom(seed: string): Random {
  let [a, b, c, d] = hash(seed);
  const next = (): number => {
    const t = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + t) | 0;
    return (t >>> 0) / 4_294_967_296;
  };
  for (let i = 0; i < 16; i++) next();
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
  return {
    next,
    below: (n) => Math.floor(next() * n),
    normal,
    poisson: (mean) => (mean < 10 ? byProduct(mean, next) : byRejection(mean, next)),
  };
}

/** Exact for any mean, fast for small ones. */
function byProduct(mean: number, next: () => number): number {
  if (mean <= 0) return 0;
  const limit = Math.exp(-mean);
  let count = 0;
  for (let product = next(); product > limit; product *= next()) count++;
  return count;
}

/** Transformed rejection (Hörmann 1993, PTRS): exact, for means of 10 and more. */
function byRejection(mean: number, next: () => number): number {
  const log = Math.log(mean);
  const b = 0.931 + 2.53 * Math.sqrt(mean);
  const a = -0.059 + 0.02483 * b;
  const inverse = 1.1239 + 1.1328 / (b - 3.4);
  const squeeze = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    const u = next() - 0.5;
    const v = next();
    const us = 0.5 - Math.abs(u);
    const count = Math.floor(((2 * a) / us + b) * u + mean + 0.43);
    if (us >= 0.07 && v <= squeeze) return count;
    if (count < 0 || (us < 0.013 && v > us)) continue;
    if (
      Math.log(v) + Math.log(inverse) - Math.log(a / (us * us) + b) <=
      -mean + count * log - logFactorial(count)
    )
      return count;
  }
}

/** Stirling's series; exact enough from 10 on, a table below. */
function logFactorial(n: number): number {
  if (n < 10) {
    let product = 1;
    for (let i = 2; i <= n; i++) product *= i;
    return Math.log(product);
  }
  const x = n + 1;
  return (x - 0.5) * Math.log(x) - x + 0.5 * Math.log(2 * Math.PI) + 1 / (12 * x) - 1 / (360 * x * x * x);
}

/** Four words of state from a text (xmur3). */
function hash(seed: string): [number, number, number, number] {
  let h = 1_779_033_703 ^ seed.length;
  for (let i = 0; i < seed.length; i++) {
    h = Math.imul(h ^ seed.charCodeAt(i), 3_432_918_353);
    h = (h << 13) | (h >>> 19);
  }
  const word = (): number => {
    h = Math.imul(h ^ (h >>> 16), 2_246_822_507);
    h = Math.imul(h ^ (h >>> 13), 3_266_489_909);
    h ^= h >>> 16;
    return h | 0;
  };
  return [word(), word(), word(), word()];
}
