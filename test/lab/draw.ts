import type { Gateway } from './gateway.ts';
import type { Levels } from './noise.ts';
import { PATHS } from './paths.ts';
import type { Random } from './random.ts';

/**
 * Minutes after which an item becomes known, beyond the minute it belongs to; and how many orders are so
 * late.
 */
export const DELAYS = [
  { minutes: 0, share: 0.975 },
  { minutes: 2, share: 0.02 },
  { minutes: 10, share: 0.005 },
] as const;

/** With more orders a minute than this, each path is drawn by itself: the same numbers, faster. */
const MANY = 40;
/** Payers try again within so many minutes, and a part of them fails the same way. */
const RETRY_MINUTES = 5;
const FAILS_AGAIN = 0.3;

const FAILED = PATHS.map(({ codes }) => /\.4\.\d\d$/.test(codes.at(-1) ?? ''));
const AHEAD = PATHS.map(({ aheadSeconds = 0 }) => aheadSeconds > 0);

export type Add = (segment: number, path: number, delay: number, count: number) => void;

/**
 * Draws the orders of a segment in a minute: how many come, which way each goes, how late it is known, and
 * which payers of failed orders come again.
 */
export function createDrawer(gateway: Gateway, random: Random, add: Add) {
  const cumulative = gateway.segments.map(({ paths }) => new Float64Array(paths.length));
  /** Orders to come by minute (a ring), segment and path; a path of -1 is whatever comes. */
  const due: number[][][] = Array.from({ length: RETRY_MINUTES + 1 }, () =>
    gateway.segments.map((): number[] => []),
  );
  const retry = (minute: number, segment: number, path: number, count: number): void => {
    for (let n = random.poisson(count * gateway.retried); n > 0; n--) {
      const later = (minute + 1 + random.below(RETRY_MINUTES)) % due.length;
      due[later]?.[segment]?.push(random.next() < FAILS_AGAIN ? path : -1);
    }
  };
  const one = (minute: number, segment: number, path: number): void => {
    // What is dated ahead and known late is no longer ahead.
    add(segment, path, AHEAD[path] === true ? 0 : delayOf(random.next()), 1);
    if (FAILED[path] === true) retry(minute, segment, path, 1);
  };
  const many = (minute: number, segment: number, path: number, mean: number): void => {
    let total = 0;
    for (const [delay, { share }] of DELAYS.entries()) {
      const count = random.poisson(mean * (AHEAD[path] === true ? Number(delay === 0) : share));
      if (count > 0) add(segment, path, delay, count);
      total += count;
    }
    if (FAILED[path] === true) retry(minute, segment, path, total);
  };
  return {
    /** To be called when the levels have changed. */
    prepare({ shares }: Levels): void {
      for (const [segment, { paths }] of gateway.segments.entries()) {
        let sum = 0;
        const own = cumulative[segment];
        if (own === undefined) continue;
        for (const [place, path] of paths.entries()) own[place] = sum += shares[segment]?.[path] ?? 0;
      }
    },
    orders(minute: number, segment: number, mean: number): void {
      const paths = gateway.segments[segment]?.paths ?? [];
      const own = cumulative[segment] as Float64Array;
      const again = due[minute % due.length]?.[segment] ?? [];
      let anyWay = 0;
      for (const path of again.splice(0)) {
        if (path === -1) anyWay++;
        else one(minute, segment, path);
      }
      const total = own.at(-1) ?? 1;
      if (mean > MANY) {
        let before = 0;
        for (const [place, path] of paths.entries()) {
          const share = ((own[place] ?? 0) - before) / total;
          before = own[place] ?? 0;
          if (share > 0) many(minute, segment, path, (mean + anyWay) * share);
        }
        return;
      }
      for (let n = random.poisson(mean) + anyWay; n > 0; n--) {
        const at = random.next() * total;
        let place = 0;
        while (place < paths.length - 1 && (own[place] ?? 0) <= at) place++;
        one(minute, segment, paths[place] ?? 0);
      }
    },
  };
}

function delayOf(chance: number): number {
  if (chance < DELAYS[0].share) return 0;
  return chance < DELAYS[0].share + DELAYS[1].share ? 1 : 2;
}
