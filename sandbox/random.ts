/** A seeded source of randomness. Equal keys give equal sequences, on every machine. Not for secrets. */
export interface Random {
  /** [0, 1) */
  next(): number;
  /** A whole number, both ends included. */
  int(min: number, max: number): number;
  between(min: number, max: number): number;
  chance(probability: number): boolean;
  pick<T>(list: readonly T[]): T;
  /** One of `list` by weight. Weights need not add up to anything; throws when all are zero. */
  weighted<T>(list: readonly T[], weightOf: (item: T) => number): T;
  hex(digits: number): string;
  digits(count: number): string;
  /** UUID form, version 4. */
  uuid(): string;
}

/**
 * A stream of its own for every key, so that one order's draws never shift another's: `createRandom(seed,
 * 'life', 17)`.
 */
export function createRandom(...key: readonly (string | number)[]): Random {
  const step = sfc32(hash128(key.join('|')));
  const random: Random = {
    next: step,
    int: (min, max) => min + Math.floor(step() * (max - min + 1)),
    between: (min, max) => min + step() * (max - min),
    chance: (probability) => step() < probability,
    pick: (list) => list[Math.floor(step() * list.length)] as (typeof list)[number],
    weighted(list, weightOf) {
      const total = list.reduce((sum, item) => sum + weightOf(item), 0);
      if (!(total > 0)) throw new RangeError('weighted: no item has a weight above zero');
      let left = step() * total;
      for (const item of list) {
        left -= weightOf(item);
        if (left < 0) return item;
      }
      return list.findLast((item) => weightOf(item) > 0) as (typeof list)[number];
    },
    hex: (digits) => Array.from({ length: digits }, () => random.int(0, 15).toString(16)).join(''),
    digits: (count) => Array.from({ length: count }, () => random.int(0, 9)).join(''),
    uuid: () => `${word()}-${half()}-4${half().slice(1)}-${variant()}-${word()}${half()}`,
  };
  const word = () =>
    Math.floor(step() * 2 ** 32)
      .toString(16)
      .padStart(8, '0');
  const half = () =>
    Math.floor(step() * 2 ** 16)
      .toString(16)
      .padStart(4, '0');
  const variant = () => (0x8000 + Math.floor(step() * 2 ** 14)).toString(16);
  return random;
}

/** cyrb128: spreads a short text over 128 bits. */
function hash128(text: string): [number, number, number, number] {
  let [a, b, c, d] = [1779033703, 3144134277, 1013904242, 2773480762];
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    a = b ^ Math.imul(a ^ code, 597399067);
    b = c ^ Math.imul(b ^ code, 2869860233);
    c = d ^ Math.imul(c ^ code, 951274213);
    d = a ^ Math.imul(d ^ code, 2716044179);
  }
  a = Math.imul(c ^ (a >>> 18), 597399067);
  b = Math.imul(d ^ (b >>> 22), 2869860233);
  c = Math.imul(a ^ (c >>> 17), 951274213);
  d = Math.imul(b ^ (d >>> 19), 2716044179);
  return [(a ^ b ^ c ^ d) >>> 0, (b ^ a) >>> 0, (c ^ a) >>> 0, (d ^ a) >>> 0];
}

/** sfc32: small, fast and good enough for simulation. */
function sfc32([a, b, c, d]: [number, number, number, number]): () => number {
  const step = () => {
    const t = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + t) | 0;
    return (t >>> 0) / 2 ** 32;
  };
  // Near keys start with near states; the first draws are thrown away.
  for (let i = 0; i < 12; i++) step();
  return step;
}
