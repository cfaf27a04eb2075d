import type { LabelCount } from '../count/order-count.ts';
import type { UsualShare } from './judge-share.ts';

/** What the choice of a threshold is made of, for a gateway or a slice of its orders. */
export interface ThresholdQuestion {
  /** Thresholds, lowest first. */
  readonly counts: readonly LabelCount[];
  /** What share of all orders usually exceeds a threshold; null: that is not known. */
  readonly usualOf: (label: string) => UsualShare | null;
  readonly usuallyAtMost: number;
  /** What the settings say, in seconds; null: nothing. */
  readonly wantedSeconds: number | null;
  /** The threshold of the newest breach of the last hour; null: there was none. */
  readonly before: string | null;
}

/**
 * The threshold that is judged: the one that is wanted, or else the lowest that few orders usually exceed.
 * One that was in breach lately stays, so that an incident does not end because another hour begins. Where
 * many orders exceed all of them, or nothing is usual, it is the highest: there is a row, without a breach.
 */
export function thresholdOf(question: ThresholdQuestion): string {
  const { counts, usualOf, usuallyAtMost, wantedSeconds, before } = question;
  const highest = counts.at(-1)?.label ?? '';
  if (wantedSeconds !== null)
    return counts.find(({ slowerThanSeconds = 0 }) => slowerThanSeconds >= wantedSeconds)?.label ?? highest;
  if (before !== null && counts.some(({ label }) => label === before)) return before;
  const isSeldom = ({ label }: LabelCount): boolean => {
    const usual = usualOf(label);
    return usual !== null && usual.share <= usuallyAtMost;
  };
  return counts.find(isSeldom)?.label ?? highest;
}
