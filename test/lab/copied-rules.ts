import type { Measure } from './counts.ts';
import type { Months } from './simulate.ts';
import { WEEK } from './seasons.ts';

/** The two rules that people copy, over the same counts, evaluated as often and pending as long as ours. */

const WINDOW = 5;
const STATIC_SHARE = 0.05;
const SIGMAS = 3;

/** A share above 5 % over five minutes. */
export function staticShare(months: Months, seen: Measure, hit: Measure): Uint8Array {
  return eachMinute(months, (at, end) => {
    const n = seen.within(at, end, WINDOW);
    return n > 0 && hit.within(at, end, WINDOW) / n > STATIC_SHARE;
  });
}

/** No order at all for five minutes: what is copied where traffic is meant. */
export function staticAbsence(months: Months, seen: Measure): Uint8Array {
  return eachMinute(months, (at, end) => seen.within(at, end, WINDOW) === 0);
}

/** A share over five minutes beyond the mean and three standard deviations of the week before. */
export function sigmaShare(months: Months, seen: Measure, hit: Measure): Uint8Array {
  const share = (minute: number): number => {
    const n = seen.between(minute - WINDOW, minute);
    return n === 0 ? 0 : hit.between(minute - WINDOW, minute) / n;
  };
  const { mean, deviation } = rolling(months.minutes, share);
  return eachMinute(months, (at, end) => {
    const n = seen.within(at, end, WINDOW);
    return n > 0 && hit.within(at, end, WINDOW) / n > mean(end) + SIGMAS * deviation(end);
  });
}

/** Orders in five minutes below the mean less three standard deviations of the week before. */
export function sigmaDrop(months: Months, seen: Measure): Uint8Array {
  const { mean, deviation } = rolling(months.minutes, (minute) => seen.between(minute - WINDOW, minute));
  return eachMinute(months, (at, end) => seen.within(at, end, WINDOW) < mean(end) - SIGMAS * deviation(end));
}

function eachMinute(months: Months, holds: (at: number, end: number) => boolean): Uint8Array {
  const out = new Uint8Array(months.minutes);
  for (let at = months.from; at < months.minutes; at++)
    out[at] = Number(holds(at, Math.min(at, months.seenUntil[at - 1] ?? at)));
  return out;
}

/** Mean and standard deviation of the week before a minute. */
function rolling(
  minutes: number,
  value: (minute: number) => number,
): { mean: (minute: number) => number; deviation: (minute: number) => number } {
  const sums = new Float64Array(minutes + 1);
  const squares = new Float64Array(minutes + 1);
  for (let minute = 0; minute < minutes; minute++) {
    const x = value(minute);
    sums[minute + 1] = (sums[minute] ?? 0) + x;
    squares[minute + 1] = (squares[minute] ?? 0) + x * x;
  }
  const over = (all: Float64Array, minute: number): number =>
    ((all[minute] ?? 0) - (all[minute - WEEK] ?? 0)) / WEEK;
  const mean = (minute: number): number => over(sums, minute);
  return {
    mean,
    deviation: (minute) => Math.sqrt(Math.max(0, over(squares, minute) - mean(minute) ** 2)),
  };
}
