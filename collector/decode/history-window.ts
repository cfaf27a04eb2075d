import type { EpochMicros } from '../../schemas/rows.ts';
import type { DecodedItem, RefusedItem } from './history.ts';
import { formatTime } from './time.ts';

/** Which times of history items are kept. */
export interface HistoryWindow {
  /** Items before it would be deleted as soon as they are stored. */
  readonly from: EpochMicros;
  /** No clock of a gateway is so far ahead. */
  readonly until: EpochMicros;
}

/** Every time that a history can have (see `parseTime`). */
export const ANY_TIME: HistoryWindow = { from: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY };

const DAY: EpochMicros = 86_400_000_000;

/** What is kept at `now` of histories that are stored for `days`; 0: for ever. */
export function historyWindow(now: EpochMicros, days: number): HistoryWindow {
  return { from: days === 0 ? Number.NEGATIVE_INFINITY : now - days * DAY, until: now + DAY };
}

/** Items of one order that are stored at most, over all its replies: as many as one reply may have. */
export const MAX_ITEMS = 10_000;

/** An item that comes when its order has MAX_ITEMS. */
export function beyondAll(item: DecodedItem): RefusedItem {
  const content = `${formatTime(item.time)} ${item.code.action}`;
  const problem = { field: 'orderHistory', received: 'more items', expected: `at most ${MAX_ITEMS} items` };
  return { position: item.position, reason: 'history_too_long', problem, content };
}

/**
 * Rejects of one reply at most: a bad item is a row as a good one is, and nobody reads ten thousand of them.
 */
const MAX_REFUSED = 100;

/** The refused items of a reply, the last one standing for all that are too many. */
export function summedUp(refused: readonly RefusedItem[]): readonly RefusedItem[] {
  const last = refused[MAX_REFUSED - 1];
  if (refused.length <= MAX_REFUSED || last === undefined) return refused;
  const received = `${refused.length - MAX_REFUSED + 1} more items`;
  const problem = { field: 'orderHistory', received, expected: last.problem.expected };
  return [...refused.slice(0, MAX_REFUSED - 1), { ...last, problem, content: received }];
}

/**
 * Why an item is not stored, null when it is. Rows lie in partitions of a week each, and every partition that
 * an insert touches costs the store as much as a thousand rows: a reply must not be able to name any week it
 * likes.
 */
export function outsideWindow(item: DecodedItem, window: HistoryWindow): RefusedItem | null {
  if (item.time >= window.from && item.time < window.until) return null;
  const isOld = item.time < window.from;
  const received = formatTime(item.time);
  return {
    position: item.position,
    reason: isOld ? 'history_older_than_retention' : 'history_in_the_future',
    problem: {
      field: 'time',
      received,
      expected: isOld ? 'a time within the retention' : 'a time at most a day ahead',
    },
    content: `${received} ${item.code.action}`,
  };
}
