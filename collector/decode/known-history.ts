import type { EpochMicros } from '../../schemas/rows.ts';
import { decode } from './code.ts';
import { itemKey, itemPair, unescapeAction, type DecodedItem } from './history.ts';

/**
 * The items of an order that are already stored, as compact text: one line an item,
 * `time|action|occurrence|position`, and one line `!id` for each refused item that went to `rejects`. The
 * first line may be `=` and the other facts of the last reply. A hundred thousand of these live in the
 * poller's memory, so objects would cost too much.
 */
export type KnownHistory = string;

/** No item's line begins so: those begin with a time. */
const REFUSED = '!';
const REPLY_FACTS = '=';

export const NOTHING_KNOWN: KnownHistory = '';

/** The known items by their identity. */
export function readKnown(known: KnownHistory): Map<string, DecodedItem> {
  const items = new Map<string, DecodedItem>();
  if (known === '') return items;
  for (let from = 0, end = 0; from <= known.length; from = end + 1) {
    end = known.indexOf('\n', from);
    if (end < 0) end = known.length;
    if (known.startsWith(REFUSED, from) || known.startsWith(REPLY_FACTS, from)) continue;
    const first = known.indexOf('|', from);
    const last = known.lastIndexOf('|', end);
    const middle = known.lastIndexOf('|', last - 1);
    const key = known.slice(from, last);
    items.set(key, {
      time: Number(known.slice(from, first)),
      code: decode(unescapeAction(known.slice(first + 1, middle))),
      occurrence: Number(known.slice(middle + 1, last)),
      position: Number(known.slice(last + 1, end)),
    });
  }
  return items;
}

/** The known items, set against those of a reply. */
export interface KnownItems {
  readonly items: readonly DecodedItem[];
  /** Is this one of the known items, or of the reply's, known? */
  has(item: DecodedItem): boolean;
}

/**
 * Finds the known items among those of a reply. A reply usually begins with all that is known: then nothing
 * is read from the text but whether that is so.
 */
export function findKnown(known: KnownHistory, reply: readonly DecodedItem[]): KnownItems {
  const count = countFirst(known, reply);
  if (count !== null) {
    const firstNew = reply[count]?.position ?? Number.POSITIVE_INFINITY;
    return { items: reply.slice(0, count), has: ({ position }) => position < firstNew };
  }
  const items = readKnown(known);
  return { items: [...items.values()], has: (item) => items.has(itemKey(item)) };
}

/** How many items are known, when they are the first of the list in the order of the text; else null. */
function countFirst(known: KnownHistory, list: readonly DecodedItem[]): number | null {
  // A first reply of 120,000 items, as a hostile gateway's, would take 0.2 s more.
  if (known === NOTHING_KNOWN) return 0;
  let count = 0;
  for (let from = 0, end = 0; from <= known.length; from = end + 1) {
    end = known.indexOf('\n', from);
    if (end < 0) end = known.length;
    if (known.startsWith(REFUSED, from) || known.startsWith(REPLY_FACTS, from)) continue;
    const item = list[count];
    if (item === undefined || !isLineOf(item, known, from, end)) return null;
    count += 1;
  }
  return count;
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

/** What is known once these items and refused ones are, too. None of them was known before. */
export function addKnown(
  known: KnownHistory,
  items: readonly DecodedItem[],
  refused: readonly string[] = [],
): KnownHistory {
  const lines = known === '' ? [] : [known];
  for (const item of items) lines.push(`${itemKey(item)}|${item.position}`);
  for (const id of refused) lines.push(REFUSED + id);
  return lines.join('\n');
}

/** The last reply's facts besides its history; null when none are known, as of stored rows. */
export function readReplyFacts(known: KnownHistory): string | null {
  if (!known.startsWith(REPLY_FACTS)) return null;
  const end = known.indexOf('\n');
  return known.slice(REPLY_FACTS.length, end < 0 ? known.length : end);
}

/** The known history with the other facts of a reply, one line of text, in the place of an earlier one's. */
export function withReplyFacts(known: KnownHistory, facts: string): KnownHistory {
  const before = readReplyFacts(known);
  if (before === facts) return known;
  const rest = before === null ? known : known.slice(REPLY_FACTS.length + before.length + 1);
  return rest === '' ? REPLY_FACTS + facts : `${REPLY_FACTS}${facts}\n${rest}`;
}

/** One line of known history from a stored row. */
export function knownLine(row: {
  time: EpochMicros;
  action: string;
  occurrence: number;
  position: number;
}): string {
  return `${itemPair(row.time, row.action)}|${row.occurrence}|${row.position}`;
}
