import type { EpochMicros } from '../../schemas/rows.ts';
import { decode } from './code.ts';
import { itemKey, itemPair, unescapeAction, type DecodedItem, type SeenItem } from './history.ts';

/**
 * The items of an order that are already stored, as compact text: one line an item,
 * `time|action|occurrence|position`, after a line `@time` that says when these were first seen, and one line
 * `!id` for each refused item that went to `rejects`. A hundred thousand of these live in the poller's
 * memory, so objects would cost too much.
 */
export type KnownHistory = string;

/** No item's line begins so: those begin with a time. */
const REFUSED = '!';
const SEEN_AT = '@';

export const NOTHING_KNOWN: KnownHistory = '';

/** An item as it is stored. */
export interface StoredItem {
  readonly time: EpochMicros;
  readonly action: string;
  readonly occurrence: number;
  readonly position: number;
  readonly observedAt: EpochMicros;
}

/** The known items by their identity. */
export function readKnown(known: KnownHistory): Map<string, SeenItem> {
  const items = new Map<string, SeenItem>();
  eachItem(known, (from, end, observedAt) => {
    const first = known.indexOf('|', from);
    const last = known.lastIndexOf('|', end);
    const middle = known.lastIndexOf('|', last - 1);
    items.set(known.slice(from, last), {
      time: Number(known.slice(from, first)),
      code: decode(unescapeAction(known.slice(first + 1, middle))),
      occurrence: Number(known.slice(middle + 1, last)),
      position: Number(known.slice(last + 1, end)),
      observedAt,
    });
    return true;
  });
  return items;
}

/**
 * Calls `take` with where each item's line begins and ends, and when the item was first seen, until it
 * returns false. Returns whether all lines were taken.
 */
function eachItem(
  known: KnownHistory,
  take: (from: number, end: number, observedAt: EpochMicros) => boolean,
): boolean {
  let observedAt: EpochMicros = 0;
  for (let from = 0, end = 0; from < known.length; from = end + 1) {
    end = known.indexOf('\n', from);
    if (end < 0) end = known.length;
    if (known.startsWith(SEEN_AT, from)) observedAt = Number(known.slice(from + SEEN_AT.length, end));
    else if (!known.startsWith(REFUSED, from) && !take(from, end, observedAt)) return false;
  }
  return true;
}

/** The known items, set against those of a reply. */
export interface KnownItems {
  readonly items: readonly SeenItem[];
  /** Is this one of the known items, or of the reply's, known? */
  has(item: DecodedItem): boolean;
}

/**
 * Finds the known items among those of a reply. A reply usually begins with all that is known: then nothing
 * is read from the text but whether that is so.
 */
export function findKnown(known: KnownHistory, reply: readonly DecodedItem[]): KnownItems {
  const first = firstKnown(known, reply);
  if (first !== null) {
    const firstNew = reply[first.length]?.position ?? Number.POSITIVE_INFINITY;
    return { items: first, has: ({ position }) => position < firstNew };
  }
  const items = readKnown(known);
  return { items: [...items.values()], has: (item) => items.has(itemKey(item)) };
}

/** The known items, when they are the first of the list in the order of the text; else null. */
function firstKnown(known: KnownHistory, list: readonly DecodedItem[]): SeenItem[] | null {
  const items: SeenItem[] = [];
  const all = eachItem(known, (from, end, observedAt) => {
    const item = list[items.length];
    if (item === undefined || !isLineOf(item, known, from, end)) return false;
    const { time, code, occurrence, position } = item;
    items.push({ time, code, occurrence, position, observedAt });
    return true;
  });
  return all ? items : null;
}

/** Is this the item's line? An action with escapes in it is never found equal: the line is read then. */
function isLineOf(item: DecodedItem, known: string, from: number, end: number): boolean {
  const first = known.indexOf('|', from);
  const middle = first + 1 + item.code.action.length;
  const rest = `|${item.occurrence}|${item.position}`;
  return (
    middle + rest.length === end &&
    known.startsWith(item.code.action, first + 1) &&
    known.startsWith(rest, middle) &&
    Number(known.slice(from, first)) === item.time
  );
}

/** The refused items that are in `rejects` already, by their reject's id. */
export function readRefused(known: KnownHistory): Set<string> {
  const lines = known.includes(REFUSED) ? known.split('\n') : [];
  return new Set(lines.filter((line) => line.startsWith(REFUSED)).map((line) => line.slice(REFUSED.length)));
}

/**
 * What is known once these items of one read and these refused ones are, too. None of them was known before.
 */
export function addKnown(
  known: KnownHistory,
  items: readonly SeenItem[],
  refused: readonly string[] = [],
): KnownHistory {
  const lines = known === '' ? [] : [known];
  for (const { observedAt } of items.slice(0, 1)) lines.push(SEEN_AT + observedAt);
  for (const item of items) lines.push(`${itemKey(item)}|${item.position}`);
  for (const id of refused) lines.push(REFUSED + id);
  return lines.join('\n');
}

/** Known history from stored items, those of one read after each other. */
export function knownOf(items: readonly StoredItem[]): KnownHistory {
  const lines: string[] = [];
  let seenAt: EpochMicros | null = null;
  for (const item of items.toSorted((a, b) => a.observedAt - b.observedAt)) {
    if (item.observedAt !== seenAt) lines.push(SEEN_AT + (seenAt = item.observedAt));
    lines.push(`${itemPair(item.time, item.action)}|${item.occurrence}|${item.position}`);
  }
  return lines.join('\n');
}
