import { WHOLE } from '../count/slices.ts';

/**
 * One incident is one alert: of a symptom that is in breach in the whole gateway and in slices of its orders,
 * one of them stands for all. Pure.
 */

/** What one slice is judged to be; the whole gateway is `WHOLE`. */
export interface SliceVerdict {
  readonly slice: string;
  readonly holds: boolean;
  /** How much it explains: of two slices in breach the greater one stands for both. */
  readonly strength: number;
}

export interface OneSymptom {
  readonly verdicts: readonly SliceVerdict[];
  /** The slice, or the whole, that stood for the symptom until now; null: none did lately. */
  readonly before: string | null;
  /** Is the whole in breach without the orders of a slice, too? */
  readonly holdsWithout: (slice: string) => boolean;
}

/** Stands for the whole gateway among the causes of a suppression. */
export const WHOLE_GATEWAY = 'whole';

/**
 * The slice that stands for a symptom: what stood for it until now, else the whole where that is in breach,
 * else the slice that explains most. Null: nothing is in breach, nor was lately. A slice that was first goes
 * on for the whole as long as the other orders are healthy; and when it is over, no other slice begins with
 * what is left of it in the longer windows.
 */
export function leadOf({ verdicts, before, holdsWithout }: OneSymptom): string | null {
  const inBreach = verdicts.filter(({ holds }) => holds);
  if (inBreach.some(({ slice }) => slice === WHOLE)) {
    const goesOn = inBreach.some(({ slice }) => slice === before) && before !== null && before !== WHOLE;
    return goesOn && !holdsWithout(before) ? before : WHOLE;
  }
  return before ?? inBreach.toSorted((a, b) => b.strength - a.strength)[0]?.slice ?? null;
}

/** Why a slice in breach raises no alert of its own: the name of what stands for it; '' when it does. */
export const suppressedBy = (slice: string, lead: string | null): string =>
  lead === null || slice === lead ? '' : lead === WHOLE ? WHOLE_GATEWAY : lead;
