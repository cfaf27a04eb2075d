import { InvalidArgumentError } from 'commander';

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };

/** Reads `90m`, `36h`, `7d` as seconds, for commander. */
export function parseDuration(text: string): number {
  const [, count, unit] = /^(\d{1,9})([smhdw])$/.exec(text) ?? [];
  const seconds = Number(count) * (UNITS[unit ?? ''] ?? NaN);
  if (seconds > 0) return seconds;
  throw new InvalidArgumentError('Expected a number and s, m, h, d or w, such as 90m or 7d.');
}
