import type { Random } from './random.ts';

export const DAY = 1440;
export const WEEK = 7 * DAY;
/** A Monday, so that minute 0 is the first of its week. */
export const EPOCH_MS = Date.parse('2025-09-01T00:00:00Z');

/** Relative traffic at each hour of a day, from midnight UTC. */
const HOURS = [
  0.55, 0.38, 0.27, 0.21, 0.2, 0.24, 0.36, 0.55, 0.78, 0.98, 1.12, 1.2, 1.24, 1.22, 1.2, 1.22, 1.3, 1.42,
  1.58, 1.7, 1.74, 1.62, 1.3, 0.88,
];
/** From Monday on. */
const WEEKDAYS = [0.94, 0.92, 0.95, 1, 1.12, 1.13, 0.94];
/** Days that are like no other day of their weekday, by month and day. */
const HOLIDAYS: Readonly<Record<string, number>> = {
  '11-28': 2.1,
  '12-01': 1.6,
  '12-24': 0.7,
  '12-25': 0.4,
  '12-26': 0.6,
  '12-31': 0.6,
  '01-01': 0.35,
  '01-06': 0.7,
  '02-14': 1.4,
  '04-03': 0.6,
  '04-06': 0.6,
  '05-01': 0.65,
  '05-25': 0.7,
  '07-04': 0.7,
  '08-15': 0.7,
};

/** The share of a usual day's traffic that a day has, counted from the first minute's. */
const holidayOf = (day: number, weekOfYear: number): number =>
  HOLIDAYS[new Date(EPOCH_MS + (weekOfYear * 7 + day) * DAY * 60_000).toISOString().slice(5, 10)] ?? 1;

/** Days that differ from others of their weekday, as spans of minutes. */
export function holidays(minutes: number, weekOfYear: number): { start: number; end: number }[] {
  const days = Array.from({ length: Math.floor(minutes / DAY) }, (_, day) => day);
  return days
    .filter((day) => holidayOf(day, weekOfYear) !== 1)
    .map((day) => ({ start: day * DAY, end: (day + 1) * DAY }));
}

export interface DemandOptions {
  readonly minutes: number;
  readonly random: Random;
  /** Weeks by which the first minute lies after EPOCH_MS in the calendar of holidays. @default 0 */
  readonly weekOfYear?: number;
  /** From this minute on the day's course comes an hour earlier: summer time. @default never */
  readonly shiftedFrom?: number;
  /** Spans of minutes with five times the traffic, reached within ten minutes. @default none */
  readonly campaigns?: readonly { readonly start: number; readonly end: number }[];
}

/**
 * Traffic of each minute relative to the mean: hours, weekdays, holidays, growth, small campaigns every week,
 * large ones where they are asked for, and noise that lasts for hours.
 */
export function demand(options: DemandOptions): Float64Array {
  const { minutes, random, weekOfYear = 0, shiftedFrom = Infinity, campaigns = [] } = options;
  const out = new Float64Array(minutes);
  const mean = HOURS.reduce((sum, hour) => sum + hour, 0) / 24;
  const days = Float64Array.from({ length: Math.ceil(minutes / DAY) + 2 }, (_, day) => {
    return (WEEKDAYS[day % 7] ?? 1) * holidayOf(day, weekOfYear) * Math.exp(0.06 * random.normal());
  });
  const slow = Math.exp(-1 / 90);
  let wander = 0;
  let campaignLeft = 0;
  for (let minute = 0; minute < minutes; minute++) {
    if (campaignLeft > 0) campaignLeft--;
    else if (random.next() < 1 / WEEK) campaignLeft = 60;
    wander = slow * wander + Math.sqrt(1 - slow * slow) * random.normal();
    const hour = ((minute + (minute >= shiftedFrom ? 60 : 0)) % DAY) / 60;
    const daily = between(HOURS[Math.floor(hour)] ?? 1, HOURS[(Math.floor(hour) + 1) % 24] ?? 1, hour % 1);
    // A small campaign rises and falls within an hour.
    const campaign = 1 + 0.6 * Math.sin((Math.PI * campaignLeft) / 60) ** 2;
    const growth = 1 + (0.2 * minute) / (52 * WEEK);
    out[minute] = (daily / mean) * dayLevel(days, minute) * campaign * growth * Math.exp(0.08 * wander);
  }
  for (const { start, end } of campaigns)
    for (let minute = start; minute < end; minute++)
      out[minute] = (out[minute] ?? 0) * (1 + 4 * Math.min(1, (minute - start) / 10, (end - minute) / 10));
  return out;
}

/** One day passes into the next over the night, from ten in the evening to six in the morning. */
function dayLevel(days: Float64Array, minute: number): number {
  const day = Math.floor(minute / DAY);
  const hour = (minute % DAY) / 60;
  const today = days[day] ?? 1;
  if (hour >= 22) return between(today, days[day + 1] ?? today, (hour - 22) / 8);
  return hour < 6 ? between(days[day - 1] ?? today, today, (hour + 2) / 8) : today;
}

const between = (low: number, high: number, share: number): number => low + (high - low) * share;

export const isNight = (minute: number): boolean => minute % DAY < 6 * 60;
