import type { AlertsAnswer, ConsoleAlert } from '../../../schemas/console.ts';
import { isoTime } from './units.ts';
import { zonedTime } from './zoned.ts';

/** Rules are evaluated once a minute: with an older evaluation nothing can be said of now. */
const LATE_AFTER_MS = 3 * 60_000;

/** How far the alerts of an answer can be relied on. */
export interface Standing {
  /** The rules were not evaluated of late: that no alert is there means nothing. */
  readonly isLate: boolean;
  readonly text: string;
}

export function standingOf({ asOf, ageMs, timeZone }: AlertsAnswer): Standing {
  if (asOf === null || ageMs === null)
    return { isLate: true, text: 'No collector has evaluated the rules yet, or not for days.' };
  if (ageMs <= LATE_AFTER_MS)
    return { isLate: false, text: `Evaluated as of ${zonedTime(asOf, timeZone, false)}, once a minute.` };
  return { isLate: true, text: `No collector has evaluated the rules since ${zonedTime(asOf, timeZone)}.` };
}

export interface AlertState {
  /** `waiting`: nobody is notified yet; `ending`: it no longer holds. */
  readonly phase: 'waiting' | 'firing' | 'ending';
  readonly text: string;
}

/** The state of an alert, and since when. Days are left out while it is the day of the evaluation. */
export function alertStateOf(
  { state, since }: ConsoleAlert,
  { asOf, timeZone }: Pick<AlertsAnswer, 'asOf' | 'timeZone'>,
): AlertState {
  const sameDay =
    asOf !== null && since !== null && isoTime(since).slice(0, 10) === isoTime(asOf).slice(0, 10);
  const sinceText = since === null ? '' : ` since ${zonedTime(since, timeZone, !sameDay)}`;
  switch (state) {
    case 'Pending':
      return { phase: 'waiting', text: `Pending${sinceText}: nobody is notified yet` };
    case 'Recovering':
      return { phase: 'ending', text: `Firing${sinceText}: ending, the condition no longer holds` };
    case 'NoData':
      return { phase: 'firing', text: `Firing${sinceText}: there is no data` };
    case 'Error':
      return { phase: 'firing', text: `Firing${sinceText}: the rule cannot be evaluated` };
    default:
      return { phase: 'firing', text: `Firing${sinceText}` };
  }
}
