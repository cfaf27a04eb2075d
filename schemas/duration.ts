import { GatewatchError } from './errors.ts';

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/**
 * Milliseconds of a duration as Grafana writes it: `90s`, `5m`, `1h30m`; '' and `0` are none.
 * @throws GatewatchError `config_invalid` when it is no duration
 */
export function durationMs(text: string): number {
  const ms = readDurationMs(text);
  if (ms !== null) return ms;
  throw new GatewatchError(`"${text}" is no duration, as 90s, 5m or 1h are`, { code: 'config_invalid' });
}

/** The same; null when it is no duration. */
export function readDurationMs(text: string): number | null {
  if (text === '' || text === '0') return 0;
  if (!/^(\d+(ms|s|m|h|d|w))+$/.test(text)) return null;
  let total = 0;
  for (const [, count, unit = ''] of text.matchAll(/(\d+)(ms|s|m|h|d|w)/g))
    total += Number(count) * (UNIT_MS[unit] ?? 0);
  return total;
}
