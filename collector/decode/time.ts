import { instantOfLocal } from '../../schemas/local-time.ts';
import type { EpochMicros } from '../../schemas/rows.ts';

/** Extended and basic form; seconds may be missing, a fraction has any number of digits. */
const DATE = /(\d{4})-(\d{2})-(\d{2})|(\d{4})(\d{2})(\d{2})/;
const CLOCK = /(\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d+))?)?|(\d{2})(\d{2})(?:(\d{2})(?:[.,](\d+))?)?/;
/** With its zone's name behind it, as Java writes it: a name alone says no offset, unless it is UTC's. */
const ZONE = /(?:Z?(?:\[(?:UTC|GMT|Z|Etc\/UTC)\])?|([+-]\d{2}(?::?\d{2})?)(?:\[[\w/+-]{1,40}\])?)/;
const ISO = new RegExp(`^(?:${DATE.source})[Tt ](?:${CLOCK.source})${ZONE.source}$`, 'i');
/** No gateway writes more. */
const LONGEST = 64;

/**
 * Event times outside these years are refused: they are no payment's, and would make partitions of their own.
 */
const EARLIEST = Date.UTC(2000, 0, 1) * 1000;
const LATEST = Date.UTC(2100, 0, 1) * 1000;

/**
 * Reads an ISO 8601 time stamp (interface document, section 2.4) into microseconds: extended or basic, with
 * or without seconds. A time without a zone counts as UTC; digits beyond microseconds are cut off, so equal
 * instants stay equal; a leap second is the instant that follows it. `null` when it is no such time, does not
 * exist in the calendar, or lies outside the years 2000-2099.
 */
export function parseTime(text: string): EpochMicros | null {
  const usual = parseUsualTime(text);
  if (usual !== null) return usual;
  const match = text.length > LONGEST ? null : ISO.exec(text);
  if (match === null) return null;
  const either = (one: number, other: number): string => match[one] ?? match[other] ?? '0';
  const [year, month, day] = [Number(either(1, 4)), Number(either(2, 5)), Number(either(3, 6))];
  const [hour, minute] = [Number(either(7, 11)), Number(either(8, 12))];
  const second = Number(either(9, 13));
  // A leap second, and what some clocks make of one: the instant that follows the 59th.
  if (month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 || second > 60) return null;
  const midnight = Date.UTC(year, month - 1, day);
  // Date.UTC rolls 31 February over into March: such a day does not exist.
  if (new Date(midnight).getUTCDate() !== day) return null;
  const fraction = second === 60 ? 0 : Number(either(10, 14).padEnd(6, '0').slice(0, 6));
  const offsetMinutes = offsetOf(match[15] ?? '+00');
  if (offsetMinutes === null) return null;
  const utc = midnight + ((hour * 60 + minute - offsetMinutes) * 60 + second) * 1000;
  const micros = utc * 1000 + fraction;
  return micros >= EARLIEST && micros < LATEST ? micros : null;
}

/** Minutes ahead of UTC; null: no zone is so far away. */
function offsetOf(zone: string): number | null {
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(3).replace(':', '') || '0')];
  if (hours > 23 || minutes > 59) return null;
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
}

const OFFSET = /[T ].*[+-]\d{2}(?::?\d{2})?(?:\[[^\]]*\])?$/i;

/**
 * The same of a gateway that writes the clock of its own zone, with a `Z` or without: a time that names an
 * offset is what it says. Of a time that clocks show twice, or skip, one instant beside it, always the same.
 */
export function parseLocalTime(text: string, timeZone: string): EpochMicros | null {
  const micros = parseTime(text);
  if (micros === null || OFFSET.test(text)) return micros;
  const seconds = Math.floor(micros / 1_000_000);
  return instantOfLocal(timeZone, seconds) * 1_000_000 + (micros - seconds * 1_000_000);
}

/** How the usual form ends: with no fraction of a second, or with one of 3 or 6 digits. */
const USUAL_LENGTHS: ReadonlySet<number> = new Set([20, 24, 27]);

/**
 * `YYYY-MM-DDTHH:MM:SS[.fff[fff]]Z`, up to the 28th of a month, digit by digit; null for all else, which the
 * grammar above judges. It gives what `parseTime` gives, several times as fast.
 */
function parseUsualTime(text: string): EpochMicros | null {
  const { length } = text;
  if (!USUAL_LENGTHS.has(length) || !hasUsualMarks(text, length)) return null;
  const year = digits(text, 0, 4);
  const month = digits(text, 5, 2);
  const day = digits(text, 8, 2);
  const hour = digits(text, 11, 2);
  const minute = digits(text, 14, 2);
  const second = digits(text, 17, 2);
  const fraction = length === 27 ? digits(text, 20, 6) : length === 24 ? digits(text, 20, 3) * 1000 : 0;
  // A comparison with NaN, which stands for something else than a digit, is false.
  const isUsual =
    year >= 2000 &&
    year < 2100 &&
    month >= 1 &&
    month <= 12 &&
    day >= 1 &&
    day <= 28 &&
    hour <= 23 &&
    minute <= 59 &&
    second <= 59 &&
    fraction >= 0;
  return isUsual ? Date.UTC(year, month - 1, day, hour, minute, second) * 1000 + fraction : null;
}

function hasUsualMarks(text: string, length: number): boolean {
  return (
    text[4] === '-' &&
    text[7] === '-' &&
    text[10] === 'T' &&
    text[13] === ':' &&
    text[16] === ':' &&
    text[length - 1] === 'Z' &&
    (length === 20 || text[19] === '.')
  );
}

/** The number that `count` digits make; NaN when one of them is none. */
function digits(text: string, from: number, count: number): number {
  let value = 0;
  for (let i = from; i < from + count; i += 1) {
    const digit = text.charCodeAt(i) - 48;
    if (digit < 0 || digit > 9) return Number.NaN;
    value = value * 10 + digit;
  }
  return value;
}

/**
 * `YYYY-MM-DDTHH:MM:SS.ffffffZ`, the form that span ids are made of. Put together by hand: `toISOString`
 * takes twice as long as hashing the result.
 */
export function formatTime(micros: EpochMicros): string {
  const seconds = Math.floor(micros / 1_000_000);
  const fraction = micros - seconds * 1_000_000;
  const at = new Date(seconds * 1000);
  const day = `${String(at.getUTCFullYear()).padStart(4, '0')}-${two(at.getUTCMonth() + 1)}-${two(at.getUTCDate())}`;
  const time = `${two(at.getUTCHours())}:${two(at.getUTCMinutes())}:${two(at.getUTCSeconds())}`;
  const digits = `${two(Math.floor(fraction / 10_000))}${two(Math.floor(fraction / 100) % 100)}${two(fraction % 100)}`;
  return `${day}T${time}.${digits}Z`;
}

const TWO_DIGITS = Array.from({ length: 100 }, (_, value) => String(value).padStart(2, '0'));
const two = (value: number): string => TWO_DIGITS[value] ?? '';
