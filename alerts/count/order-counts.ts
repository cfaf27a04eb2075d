import { WHOLE } from './slices.ts';
import type { AddOrders } from './window-counts.ts';

/** Distinct orders of one label within one window. */
interface Counted {
  seen: number;
  hit: number;
}

/** Of which orders something is asked. */
export interface CountedAt {
  readonly rule: string;
  readonly gateway: string;
  readonly slice: string;
  readonly label: string;
}

/** Orders by rule, gateway, slice, label and window: what was not added is zero. */
export interface OrderCounts {
  readonly add: AddOrders;
  readonly of: (at: CountedAt) => {
    readonly seen: (windowSeconds: number) => number;
    readonly hit: (windowSeconds: number) => number;
  };
  /** The slices of a gateway that were counted, without the whole. */
  readonly slicesOf: (gateway: string) => readonly string[];
}

export function createOrderCounts(): OrderCounts {
  const counts = new Map<string, Counted>();
  const slices = new Map<string, Set<string>>();
  const keyOf = ({ rule, gateway, slice, label }: CountedAt): string =>
    `${rule}|${gateway}|${slice}|${label}|`;
  return {
    add({ windowSeconds, ...at }, seen, hit) {
      const key = keyOf(at) + windowSeconds;
      const known = slices.get(at.gateway) ?? new Set();
      if (at.slice !== WHOLE) slices.set(at.gateway, known.add(at.slice));
      const before = counts.get(key);
      if (before === undefined) counts.set(key, { seen, hit });
      else {
        before.seen += seen;
        before.hit += hit;
      }
    },
    of(at) {
      const key = keyOf(at);
      return {
        seen: (windowSeconds) => counts.get(key + windowSeconds)?.seen ?? 0,
        hit: (windowSeconds) => counts.get(key + windowSeconds)?.hit ?? 0,
      };
    },
    slicesOf: (gateway) => [...(slices.get(gateway) ?? [])],
  };
}
