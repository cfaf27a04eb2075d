import { isoTime } from './units.ts';

/**
 * A time in UTC and by the reader's clocks: `10:15:30 UTC (11:15:30 Europe/Berlin)`; the day beside it only
 * where it is another one there.
 */
export function zonedTime(ms: number, timeZone: string, withDate = true): string {
  const local = localMs(ms, timeZone);
  const utc = `${isoTime(ms, withDate)} UTC`;
  if (local === null) return utc;
  const otherDay = isoTime(local).slice(0, 10) !== isoTime(ms).slice(0, 10);
  return `${utc} (${isoTime(local, withDate && otherDay)} ${timeZone})`;
}

/**
 * What clocks of a zone show, as if it were UTC; null where they show UTC, or the browser does not know it.
 */
function localMs(ms: number, timeZone: string): number | null {
  if (timeZone === 'UTC' || Number.isNaN(new Date(ms).getTime())) return null;
  try {
    const format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
    if (format.resolvedOptions().timeZone === 'UTC') return null;
    const [, sign, hours = 0, minutes = 0] = /GMT([+-])(\d+):(\d+)/.exec(format.format(ms)) ?? [];
    const offset = (Number(hours) * 60 + Number(minutes)) * 60_000;
    return ms + (sign === '-' ? -offset : offset);
  } catch {
    return null;
  }
}
