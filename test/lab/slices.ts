import type { Gateway, Segment } from './gateway.ts';

/**
 * A part of a gateway's orders. Its name is what an evaluation calls it: `order_type=Withdrawal`,
 * `channel=p2p`, `currency=BRL`; two of them with a comma between, where an incident has both; '' is all.
 */
export interface Slice {
  readonly name: string;
  /** By their place among the gateway's segments. */
  readonly segments: readonly number[];
  /** Of the gateway's traffic. 0..1. */
  readonly share: number;
}

const COLUMNS = { order_type: 'orderType', channel: 'channel', currency: 'currency' } as const;
type Column = keyof typeof COLUMNS;

function sliceOf({ segments }: Gateway, name: string, has: (segment: Segment) => boolean): Slice {
  const own = segments.flatMap((segment, index) => (has(segment) ? [index] : []));
  return { name, segments: own, share: own.reduce((sum, index) => sum + (segments[index]?.share ?? 0), 0) };
}

export const wholeOf = (gateway: Gateway): Slice => sliceOf(gateway, '', () => true);

/** The slices that rules can look at: each order type, channel and currency. */
export function slicesOf(gateway: Gateway): Slice[] {
  return (Object.keys(COLUMNS) as Column[]).flatMap((column) => {
    const key = COLUMNS[column];
    const values = [...new Set(gateway.segments.map((segment) => segment[key]))];
    return values.map((value) => sliceOf(gateway, `${column}=${value}`, (segment) => segment[key] === value));
  });
}

/** The slices that incidents befall: those, and each channel of one order type. */
export function troubledSlices(gateway: Gateway): Slice[] {
  const pairs = new Map(
    gateway.segments.map(({ orderType, channel }) => [
      `order_type=${orderType},channel=${channel}`,
      (segment: Segment) => segment.orderType === orderType && segment.channel === channel,
    ]),
  );
  const both = Array.from(pairs, ([name, has]) => sliceOf(gateway, name, has));
  return [...slicesOf(gateway), ...both].filter(({ share }) => share > 0 && share < 0.95);
}

/** How much two slices have in common: traffic in both, as a part of the traffic in either. */
export function overlap({ segments }: Gateway, one: Slice, other: Slice): number {
  const shareOf = (some: readonly number[]): number =>
    some.reduce((sum, index) => sum + (segments[index]?.share ?? 0), 0);
  const both = shareOf(one.segments.filter((index) => other.segments.includes(index)));
  const either = one.share + other.share - both;
  return either === 0 ? 0 : both / either;
}

/** With so much in common a slice explains an incident: see `overlap`. */
const EXPLAINS = 0.8;

/** Names of the slices that explain what befell a part of the traffic. */
export const explanationsOf = (gateway: Gateway, befallen: Slice): string[] =>
  slicesOf(gateway)
    .filter((slice) => overlap(gateway, slice, befallen) >= EXPLAINS)
    .map(({ name }) => name);
