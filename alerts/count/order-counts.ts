import type { AddOrders } from './window-counts.ts';

/** Distinct orders of one label within one window. */
interface Counted {
  seen: number;
  hit: number;
}

/** Orders by rule, gateway, label and window: what was not added is zero. */
export interface OrderCounts {
  readonly add: AddOrders;
  readonly of: (
    rule: string,
    gateway: string,
    label: string,
  ) => { readonly seen: (windowSeconds: number) => number; readonly hit: (windowSeconds: number) => number };
}

export function createOrderCounts(): OrderCounts {
  const counts = new Map<string, Counted>();
  const keyOf = (rule: string, gateway: string, label: string): string => `${rule}|${gateway}|${label}|`;
  return {
    add({ rule, gateway, label, windowSeconds }, seen, hit) {
      const key = keyOf(rule, gateway, label) + windowSeconds;
      const before = counts.get(key);
      if (before === undefined) counts.set(key, { seen, hit });
      else {
        before.seen += seen;
        before.hit += hit;
      }
    },
    of(rule, gateway, label) {
      const key = keyOf(rule, gateway, label);
      return {
        seen: (windowSeconds) => counts.get(key + windowSeconds)?.seen ?? 0,
        hit: (windowSeconds) => counts.get(key + windowSeconds)?.hit ?? 0,
      };
    },
  };
}
