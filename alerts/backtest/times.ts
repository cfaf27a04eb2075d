import { durationMs } from '../../schemas/duration.ts';

/** Seconds of a duration as Grafana writes them: `90s`, `5m`, `1h30m`, `2d`; null when it is none. */
export function durationSeconds(text: string): number | null {
  if (text === '' || text === '0') return null;
  try {
    return durationMs(text) / 1000;
  } catch {
    return null;
  }
}

/**
 * An instant as people give it: `now`, a duration before now (`7d`), or ISO 8601; without a zone it is UTC.
 * Null when it is none of them.
 */
export function instant(text: string, now: Date): Date | null {
  if (text === 'now') return now;
  const ago = durationSeconds(text);
  if (ago !== null) return new Date(now.getTime() - ago * 1000);
  if (!/^\d{4}-\d{2}-\d{2}/.test(text)) return null;
  const iso = text.replace(' ', 'T');
  const zoned = /T.*(Z|[+-]\d{2}:?\d{2})$/.test(iso) || !iso.includes('T') ? iso : `${iso}Z`;
  const date = new Date(zoned);
  return Number.isNaN(date.getTime()) ? null : date;
}

/** `38m`, `2h 05m`, `3d 04h`: two units, which is as exact as anyone reads. */
export function spanText(seconds: number): string {
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole}s`;
  const [large, small, units] =
    whole < 3600
      ? [Math.floor(whole / 60), whole % 60, 'ms']
      : whole < 86_400
        ? [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60), 'hm']
        : [Math.floor(whole / 86_400), Math.floor((whole % 86_400) / 3600), 'dh'];
  const rest = small === 0 ? '' : ` ${String(small).padStart(2, '0')}${units[1] ?? ''}`;
  return `${large}${units[0] ?? ''}${rest}`;
}

/** `2026-11-16 04:12`, UTC. */
export const minuteText = (epochMs: number): string =>
  new Date(epochMs).toISOString().slice(0, 16).replace('T', ' ');
