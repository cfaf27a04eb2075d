import { itemKey, type DecodedItem } from './history.ts';
import type { KnownItems } from './known-history.ts';
import { formatTime } from './time.ts';

/** What earlier replies had and a reply lacks. */
export interface MissingItems {
  readonly count: number;
  /** The earliest in time order, as `time action occurrence`; '' when none is missing. */
  readonly first: string;
}

export const NOTHING_MISSING: MissingItems = { count: 0, first: '' };

/** @param ordered the known and the new items in time order */
export function missingItems(
  ordered: readonly DecodedItem[],
  known: KnownItems,
  reply: readonly DecodedItem[],
): MissingItems {
  const there = new Set(reply.map(itemKey));
  const missing = ordered.filter((item) => known.has(item) && !there.has(itemKey(item)));
  const [first] = missing;
  if (first === undefined) return NOTHING_MISSING;
  const { time, code, occurrence } = first;
  return { count: missing.length, first: `${formatTime(time)} ${code.action} ${occurrence}` };
}
