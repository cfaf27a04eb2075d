import { formatNumber, plainText, type Formatted } from '../model/units.ts';

const two = (value: number): string => String(value).padStart(2, '0');
const DAY_MS = 86_400_000;

/** Labels of a time axis, UTC: as short as the distance of its ticks allows. */
export function timeLabels(ticksMs: readonly number[], rangeMs: number): string[] {
  const step = (ticksMs[1] ?? 0) - (ticksMs[0] ?? 0);
  return ticksMs.map((ms) => {
    const date = new Date(ms);
    const day = `${two(date.getUTCMonth() + 1)}/${two(date.getUTCDate())}`;
    if (step >= DAY_MS) return day;
    const time = `${two(date.getUTCHours())}:${two(date.getUTCMinutes())}`;
    if (step > 0 && step < 60_000) {
      const seconds = `${time}:${two(date.getUTCSeconds())}`;
      return step < 1_000 ? `${seconds}.${String(date.getUTCMilliseconds()).padStart(3, '0')}` : seconds;
    }
    return rangeMs > 1.5 * DAY_MS ? `${day} ${time}` : time;
  });
}

// prettier-ignore
export const STEPS_MS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 10e3, 15e3, 30e3, 60e3, 120e3, 300e3, 600e3, 900e3, 1800e3, 3600e3,
  7200e3, 10800e3, 21600e3, 43200e3, DAY_MS, 2 * DAY_MS, 7 * DAY_MS, 14 * DAY_MS, 30 * DAY_MS,
];

/** Ticks at round times, at most `most` of them. */
export function timeTicks(from: number, to: number, most: number): number[] {
  const step = STEPS_MS.find((one) => (to - from) / one <= most) ?? 365 * DAY_MS;
  const ticks: number[] = [];
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) ticks.push(at);
  return ticks;
}

const POWERS = Array.from({ length: 60 }, (_, power) => 2 ** power);
const WHOLE = Array.from({ length: 15 }, (_, power) => [1, 2, 5].map((step) => step * 10 ** power)).flat();

/**
 * Distances of ticks where any will not do: binary units have round numbers of their own, and nothing is
 * counted in fifths.
 */
export function valueIncrements(unit = 'none', decimals: number | null = null): number[] | null {
  if (unit === 'bytes' || unit === 'bits') return POWERS;
  return decimals === 0 && ['locale', 'short', 'none'].includes(unit) ? WHOLE : null;
}

/**
 * Labels of a value axis, with no more decimals than its ticks need to differ and stay evenly spaced.
 */
export function valueLabels(ticks: readonly number[], unit: string | undefined): string[] {
  for (let decimals = 0; decimals < 6; decimals++) {
    const shown = ticks.map((tick) => formatNumber(tick, unit, decimals));
    const labels = shown.map(({ text, ...rest }) => plainText({ ...rest, text: withoutZeros(text) }));
    if (new Set(labels).size === labels.length && isEven(shown)) return labels;
  }
  return ticks.map((tick) => plainText(formatNumber(tick, unit)));
}

const withoutZeros = (text: string): string => (text.includes('.') ? text.replace(/\.?0+$/, '') : text);

/** Rounding may keep ticks distinct and still be wrong: after 2.5 and 5 comes 7.5, not 8. */
function isEven(shown: readonly Formatted[]): boolean {
  return shown.every(({ suffix }, i) => {
    const three = [shown[i - 2], shown[i - 1], shown[i]];
    if (three.some((one) => one?.suffix !== suffix)) return true;
    const [a = 0, b = 0, c = 0] = three.map((one) => Number(one?.text.replaceAll(',', '')));
    return Math.abs(c - b - (b - a)) < Math.abs(b - a) * 0.01;
  });
}
