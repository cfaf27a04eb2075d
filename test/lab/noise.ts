import { type Gateway, HIGHEST_LEVEL } from './gateway.ts';
import type { Harmless } from './harmless.ts';
import { PATHS, pathsNamed } from './paths.ts';
import type { Random } from './random.ts';
import { DAY, isNight, WEEK } from './seasons.ts';

/** Minutes for which levels stay as they are. */
export const STEP = 30;

/** How strongly things wander (standard deviation of the logarithm), and for how many minutes. */
const ALONE = { lasts: 6 * 60 };
const PROVIDER = { sigma: 0.12, lasts: 4 * 60 };
const DRIFT = { sigma: 0.15, lasts: 3 * WEEK };
const SLOWNESS = 0.08;

export interface Levels {
  /** Shares of the paths of each segment, which sum to one. */
  readonly shares: readonly Float64Array[];
  /** Logarithm of how much longer than usual orders take, by segment. */
  readonly slowness: Float64Array;
}

/**
 * The levels of a gateway at a minute, noise included: each path wanders over hours by itself, all paths of
 * one provider do so together, each drifts over weeks, some differ at night, and deployments change habits.
 */
export function wanderingLevels(
  gateway: Gateway,
  harmless: readonly Harmless[],
  random: Random,
): (minute: number, into: Levels) => void {
  const alone = wandering(PATHS.length, ALONE.lasts, random);
  const drift = wandering(PATHS.length, DRIFT.lasts, random);
  const provider = wandering(gateway.providers, PROVIDER.lasts, random);
  const habits = harmless.filter(({ what }) => what === 'change of habit');
  const factors = new Float64Array(PATHS.length);
  return (minute, { shares, slowness }) => {
    if (minute % STEP === 0) for (const states of [alone, drift, provider]) states.step();
    for (const [path, { wander = 0.1, atNight = 1 }] of PATHS.entries()) {
      const changed = habits.filter(({ start, paths }) => minute >= start && paths?.includes(path) === true);
      factors[path] =
        Math.exp(wander * alone.at(path) + DRIFT.sigma * drift.at(path)) *
        (isNight(minute) ? atNight : 1) *
        changed.reduce((product, { factor = 1 }) => product * factor, 1);
    }
    for (const [index, segment] of gateway.segments.entries()) {
      const into = shares[index];
      if (into === undefined) continue;
      const together = Math.exp(PROVIDER.sigma * provider.at(segment.provider));
      const [first = 0, ...troubled] = segment.paths;
      let sum = 0;
      for (const path of troubled) {
        const level = (segment.levels[path] ?? 0) * (factors[path] ?? 1);
        // Deployments move a level within what is usual; noise comes on top.
        const usual = PATHS[path]?.level === 'drawn' ? Math.min(1.5 * HIGHEST_LEVEL, level) : level;
        into[path] = usual * together;
        sum += usual * together;
      }
      into[first] = Math.max(0.02, 1 - sum);
      slowness[index] = SLOWNESS * provider.at(segment.provider);
    }
  };
}

/** Numbers that wander around 0 with a standard deviation of 1, each by itself. */
function wandering(count: number, lasts: number, random: Random) {
  const slow = Math.exp(-STEP / lasts);
  const states = Float64Array.from({ length: count }, () => random.normal());
  return {
    at: (index: number): number => states[index] ?? 0,
    step(): void {
      for (const index of states.keys())
        states[index] = slow * (states[index] ?? 0) + Math.sqrt(1 - slow * slow) * random.normal();
    },
  };
}

/** A minute or two, some times a month, in which creating stutters. Nobody should be woken for it. */
export function stuttersOf(minutes: number, random: Random): Float32Array {
  const out = new Float32Array(minutes);
  for (let minute = random.below(3 * DAY); minute < minutes; minute += DAY + random.below(5 * DAY)) {
    const share = 0.1 + 0.2 * random.next();
    for (let left = 1 + random.below(2); left > 0; left--) out[minute + left] = share;
  }
  return out;
}

const STUTTERS = pathsNamed('createTimeout');

export function stutter(share: number, { shares }: Levels): void {
  if (share === 0) return;
  for (const levels of shares) {
    for (const path of levels.keys()) levels[path] = (levels[path] ?? 0) * (1 - share);
    for (const path of STUTTERS) levels[path] = (levels[path] ?? 0) + share;
  }
}
