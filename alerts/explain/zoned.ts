import { isUtc, localSeconds } from '../../schemas/local-time.ts';
import type { EpochMicros } from '../../schemas/rows.ts';

/** How a time looks, given as what clocks show, with or without its day. */
export type TimeText = (at: EpochMicros, withDay: boolean) => string;

/**
 * Times as the reader's clocks show them, with days only where UTC's are not enough: another day there, or
 * not the same for all. None when they show UTC.
 */
export function localTexts(
  times: readonly EpochMicros[],
  timeZone: string,
  textOf: TimeText,
  withDay = true,
): string[] {
  if (isUtc(timeZone)) return [];
  const local = times.map((at) => localMicros(timeZone, at));
  const days = new Set([...times, ...local].map(dayText));
  return local.map((at) => textOf(at, withDay && days.size > 1));
}

/** `10:15 and 10:30 UTC (11:15 and 11:30 Europe/Berlin)`; without brackets when the reader's zone is UTC. */
export function timesText(
  times: readonly EpochMicros[],
  timeZone: string,
  textOf: TimeText,
  withDay = true,
): string {
  const utc = `${times.map((at) => textOf(at, withDay)).join(' and ')} UTC`;
  const local = localTexts(times, timeZone, textOf, withDay);
  return local.length === 0 ? utc : `${utc} (${local.join(' and ')} ${timeZone})`;
}

/** What clocks of a zone show at an instant, as if it were UTC. */
const localMicros = (timeZone: string, at: EpochMicros): EpochMicros =>
  at + Math.round(localSeconds(timeZone, at / 1e6) * 1e6 - at);

const iso = (micros: EpochMicros): string => new Date(micros / 1000).toISOString();
/** `2026-11-21`. */
export const dayText = (micros: EpochMicros): string => iso(micros).slice(0, 10);

/** `2026-11-21 10:15:00`. */
export const secondText: TimeText = (micros, withDay) =>
  `${withDay ? `${dayText(micros)} ` : ''}${iso(micros).slice(11, 19)}`;

/** `2026-11-21 10:15`. */
export const minuteText: TimeText = (micros, withDay) => secondText(micros, withDay).slice(0, -3);

/** Minutes; with seconds where it is no whole minute. */
export const shortText: TimeText = (micros, withDay) => secondText(micros, withDay).replace(/:00$/, '');
