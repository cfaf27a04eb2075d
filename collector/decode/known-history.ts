import type { EpochMicros } from '../../schemas/rows.ts';
import { decode } from './code.ts';
import { itemPair, unescapeAction, type DecodedItem } from './history.ts';

/**
 * The items of an order that are already stored, as compact text: one line an item, `time|action|occurrence|position`, and
 * one line `!id` for each refused item that went to `rejects`.
 * A hundred thousand of these live in the poller's memory, so objects would cost too much.
 */
export type KnownHistory = string;

/** No item's line begins so: those begin with a time. */
const REFUSED = '!';

export const NOTHING_KNOWN: KnownHistory = '';

/** The known items by their identity. */
export function readKnown(known: KnownHistory): Map<string, DecodedItem> {
  const items = new Map<string, DecodedItem>();
  if (known === '') return items;
  for (const line of known.split('\n')) {
    if (line.startsWith(REFUSED)) continue;
    const first = line.indexOf('|');
    const last = line.lastIndexOf('|');
    const middle = line.lastIndexOf('|', last - 1);
    const key = line.slice(0, last);
    items.set(key, {
      time: Number(line.slice(0, first)),
      code: decode(unescapeAction(line.slice(first + 1, middle))),
      occurrence: Number(line.slice(middle + 1, last)),
      position: Number(line.slice(last + 1)),
      key,
    });
  }
  return items;
}

/** The refused items that are in `rejects` already, by their reject's id. */
export function readRefused(known: KnownHistory): Set<string> {
  const lines = known.includes(REFUSED) ? known.split('\n') : [];
  return new Set(lines.filter((line) => line.startsWith(REFUSED)).map((line) => line.slice(REFUSED.length)));
}

export function writeKnown(
  items: Iterable<Pick<DecodedItem, 'key' | 'position'>>,
  refused: Iterable<string> = [],
): KnownHistory {
  const lines = Array.from(items, (item) => `${item.key}|${item.position}`);
  for (const id of refused) lines.push(REFUSED + id);
  return lines.join('\n');
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
