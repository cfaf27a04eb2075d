const DAY = 86_400;

const formats = new Map<string, Intl.DateTimeFormat>();

/** Making one takes a hundred times as long as using it. */
function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
  formats.set(timeZone, made);
  return made;
}

/** Names of the IANA database, as it spells them: other programs read them with their case. */
const ZONE_NAME = /^[A-Z][\w+-]*(\/[A-Z][\w+-]*)*$/;

export function isTimeZone(text: string): boolean {
  if (!ZONE_NAME.test(text)) return false;
  try {
    const { timeZone } = formatOf(text).resolvedOptions();
    // An old name is resolved to the new one, which differs in more than its case.
    return timeZone === text || timeZone.toLowerCase() !== text.toLowerCase();
  } catch {
    return false;
  }
}

/** UTC has several names. */
export const isUtc = (timeZone: string): boolean =>
  timeZone === 'UTC' || formatOf(timeZone).resolvedOptions().timeZone === 'UTC';

/** `2026-12-25`, and there is such a day. */
export function isDate(text: string): boolean {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

/**
 * What clocks of a zone show at an instant, both in seconds since 1970: as if the zone were UTC.
 *
 * @throws RangeError when there is no such zone
 */
export function localSeconds(timeZone: string, seconds: number): number {
  if (timeZone === 'UTC') return seconds;
  const [, sign, hours = 0, minutes = 0] =
    /GMT([+-])(\d+):(\d+)/.exec(formatOf(timeZone).format(seconds * 1000)) ?? [];
  const offset = Number(hours) * 3600 + Number(minutes) * 60;
  return seconds + (sign === '-' ? -offset : offset);
}

/** The other way round. Of a time that clocks skip or show twice: an instant beside it, or one of the two. */
export function instantOfLocal(timeZone: string, local: number): number {
  const near = local - (localSeconds(timeZone, local) - local);
  return near + local - localSeconds(timeZone, near);
}

/** `2026-12-25`: the day of a local time, in seconds since 1970. */
export const localDate = (local: number): string =>
  new Date(Math.floor(local / DAY) * DAY * 1000).toISOString().slice(0, 10);

/** 0 is Sunday. */
export const localWeekday = (local: number): number => (Math.floor(local / DAY) + 4) % 7;
