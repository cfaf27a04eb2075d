import {
  instantOfLocal,
  isTimeZone,
  localDate,
  localSeconds,
  localWeekday,
} from '../../schemas/local-time.ts';

/** Which days are alike, for a baseline. */
export interface Calendar {
  /** The same for calendars that say the same. */
  readonly key: string;
  /** A day begins and ends there. */
  readonly timeZone: string;
  /** Days that are none of the week: `2026-12-25`. */
  readonly holidays: ReadonlySet<string>;
}

export const calendarOf = (timeZone: string, dates: readonly string[]): Calendar => {
  const holidays = [...new Set(dates)].toSorted();
  return { key: [timeZone, ...holidays].join(' '), timeZone, holidays: new Set(holidays) };
};

const NO_HOLIDAYS = calendarOf('UTC', []);

/** The name that stands for all rules among the settings of rules. */
export const EVERY_RULE = '*';
const ZONE = 'timeZone/';
const HOLIDAY = 'holiday/';

/** A calendar as names of settings. None: all days of a week are alike, and are those of UTC. */
export const settingsOfCalendar = (config: {
  readonly timeZone: string;
  readonly holidays: readonly string[];
}): string[] => [
  ...(config.timeZone === NO_HOLIDAYS.timeZone ? [] : [`${ZONE}${config.timeZone}`]),
  ...config.holidays.map((date) => `${HOLIDAY}${date}`),
];

/** The calendars among settings by `rule|gateway|setting`, by gateway. */
export function calendarsOf(settings: ReadonlyMap<string, number>): ReadonlyMap<string, Calendar> {
  const own = [...settings.keys()].filter((key) => key.startsWith(`${EVERY_RULE}|`));
  const byGateway = Map.groupBy(own, (key) => key.split('|')[1] ?? '');
  return new Map(
    [...byGateway].map(([gateway, keys]) => {
      const after = (name: string): string[] => {
        const start = `${EVERY_RULE}|${gateway}|${name}`;
        return keys.flatMap((key) => (key.startsWith(start) ? [key.slice(start.length)] : []));
      };
      // A newer version may have known a zone that this one does not.
      const timeZone = after(ZONE).find(isTimeZone) ?? NO_HOLIDAYS.timeZone;
      return [gateway, calendarOf(timeZone, after(HOLIDAY))];
    }),
  );
}

/** Stretches of time whose activity is read, as quarters of an hour counted from that of the instant. */
export interface Span {
  /** How many days back: 0 is the day of the instant, multiples of seven are the same day of other weeks. */
  readonly days: readonly number[];
  /** The first quarter, and the one after the last. */
  readonly from: number;
  readonly to: number;
  /** Quarters that are counted together, from a multiple of it on. */
  readonly stretch: number;
}

/** A time of the past, in seconds since 1970, that is compared with the one `shift` seconds later. */
export interface Source {
  /** How many days back the span says it is; 0 is the time itself. */
  readonly day: number;
  readonly from: number;
  readonly to: number;
  readonly shift: number;
}

const QUARTER = 900;
const DAY = 86_400;

/**
 * What the quarters of a span are compared with: the same ones, by local clocks, of the days before; in other
 * weeks those of a holiday with those of the Sundays. A day where one of them would be a holiday's is left
 * out.
 *
 * @param now the quarter of the instant, in seconds since 1970
 */
export function sourcesOf({ days, from, to }: Span, now: number, calendar = NO_HOLIDAYS): Source[] {
  return days.flatMap((day) => {
    const sources: Source[] = [];
    for (let time = now + from * QUARTER; time < now + to * QUARTER; time += QUARTER) {
      const source = day === 0 ? time : sourceOf(time, day, calendar);
      if (day > 0 && isHoliday(source, calendar)) return [];
      const shift = time - source;
      const last = sources.at(-1);
      if (last?.shift === shift) sources[sources.length - 1] = { ...last, to: source + QUARTER };
      else sources.push({ day, from: source, to: source + QUARTER, shift });
    }
    return sources;
  });
}

function sourceOf(time: number, day: number, { timeZone, holidays }: Calendar): number {
  const local = localSeconds(timeZone, time);
  const isSunday = isOtherWeek(day) && holidays.has(localDate(local));
  const back = isSunday ? (localWeekday(local) || 7) + day - 7 : day;
  return instantOfLocal(timeZone, local - back * DAY);
}

/** Is it the same day of another week? */
export const isOtherWeek = (day: number): boolean => day > 0 && day % 7 === 0;

const isHoliday = (time: number, { timeZone, holidays }: Calendar): boolean =>
  holidays.size > 0 && holidays.has(localDate(localSeconds(timeZone, time)));
