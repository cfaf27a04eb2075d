import { CATALOGUE, OUTCOME_OF_GROUP, REASON_GROUPS } from '../../schemas/dictionary.ts';
import type { SeedItem, SeedOrder } from '../support/seed-store.ts';

/**
 * Deterministic traffic with every oddity a history can have, and the measures worked out from it without
 * SQL.
 */
export const MINUTE = 60_000;

/** Histories as [seconds after the order's start, code]. */
const HISTORIES: readonly (readonly (readonly [number, string])[])[] = [
  [
    [0, '1.0.0.00'],
    [0, '1.1.1.00'],
    [1, '2.1.1.00'],
    [20, '3.1.1.55'],
    [31, '4.1.3.00'],
    [31, '5.1.3.00'],
    [33, '6.1.1.00'],
  ],
  [
    [0, '1.0.0.00'],
    [1, '2.2.4.11'],
  ],
  [
    [0, '1.0.0.00'],
    [1, '2.1.1.00'],
    [5, '4.2.2.13'],
    [10, '4.2.2.13'],
    [15, '4.2.2.13'],
    [90, '4.1.4.63'],
    [95, '6.1.1.00'],
  ],
  [
    [0, '1.0.0.00'],
    [1, '2.1.1.00'],
    [40, '3.0.4.54'],
    [41, '3.0.1.52'],
  ],
  [
    [0, '1.0.0.00'],
    [0, '1.2.4.32'],
  ],
  [
    [0, '1.0.0.00'],
    [2, '2.1.1.00'],
    [30, '4.1.4.41'],
  ],
  [
    [0, '1.0.0.00'],
    [2, '2.1.1.00'],
    [30, '4.1.4.00'],
    [400, '5.1.3.35'],
  ],
  [
    [0, '1.0.0.00'],
    [2, '2.2.4.22'],
  ],
  [
    [0, '1.0.0.00'],
    [2, '2.1.1.00'],
    [60, '5.2.2.16'],
    [120, '4.1.3.00'],
  ],
  // Two deciding items in one instant: the list's order decides, not the code's.
  [
    [0, '1.0.0.00'],
    [2, '2.1.1.00'],
    [50, '5.1.3.00'],
    [50, '4.1.4.61'],
  ],
  // Uncatalogued, legacy, unreadable; still pending.
  [
    [0, '1.0.0.00'],
    [2, '2.1.1.00'],
    [8, '4.2.2.11'],
    [9, '10.2.30.4'],
    [10, 'hello'],
  ],
  [
    [0, '1.0.0.00'],
    [2, '2.2.4.18'],
  ],
  // The payment form: all the way, left at the confirmation, failed there, left at once.
  [
    [0, '1.0.0.00'],
    [1, '2.1.1.00'],
    [2, '3.0.1.00'],
    [4, '3.0.1.51'],
    [20, '3.0.1.53'],
    [45, '3.1.1.55'],
    [50, '3.0.1.58'],
    [70, '4.1.3.00'],
  ],
  [
    [0, '1.0.0.00'],
    [2, '3.0.1.00'],
    [30, '3.0.1.53'],
    [55, '3.1.1.55'],
    [80, '3.2.4.57'],
  ],
  [
    [0, '1.0.0.00'],
    [2, '3.0.1.00'],
    [3, '3.0.1.51'],
    [9, '3.0.1.52'],
  ],
];

/** A small linear congruential generator: the same numbers on every machine. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

export function randomOrders(seed: number, count: number, from: number, to: number): SeedOrder[] {
  const random = randomFrom(seed);
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  return Array.from({ length: count }, (_, n) => {
    const start = from + Math.floor(random() * (to - from));
    return {
      gateway: pick(['acme-eu', 'acme-eu', 'acme-eu', 'blind-pay']),
      orderType: pick(['Deposit', 'Deposit', 'Withdrawal']),
      externalId: `order-${seed}-${n}`,
      channel: pick(['card', 'p2p', '', "o'neil"]),
      items: pick(HISTORIES).map(([second, action]): SeedItem => {
        const at = start + second * 1000;
        return { at, action, observedAt: at + 2000 };
      }),
    };
  });
}

export interface Scope {
  readonly from: number;
  /** Exclusive, a gateway at a time. */
  readonly end: (gateway: string) => number;
  readonly wants?: (order: SeedOrder) => boolean;
}

const segments = (action: string) => {
  const match = /^([1-6])\.([0-2])\.([0-4])\.(\d\d)$/.exec(action);
  if (match === null) return null;
  const reason = Number(match[4]);
  const group = REASON_GROUPS.find((candidate) => reason >= candidate.from && reason <= candidate.to);
  if (group === undefined) return null;
  return {
    stage: Number(match[1]),
    result: Number(match[2]),
    state: Number(match[3]),
    reason,
    group: group.name,
  };
};

/** An order's items inside the scope, decoded, in time order. */
export function itemsIn(order: SeedOrder, scope: Scope) {
  if (scope.wants?.(order) === false) return [];
  const inside = order.items.filter(({ at }) => at >= scope.from && at < scope.end(order.gateway));
  return inside
    .toSorted((a, b) => a.at - b.at)
    .map(({ at, action }) => ({ at, action, code: segments(action) }));
}

export const isFailing = (code: ReturnType<typeof segments>): boolean =>
  code?.result === 2 || code?.state === 4;

/** One entry per order whose deciding item, as known now, lies inside the scope. */
export function decided(orders: readonly SeedOrder[], scope: Scope) {
  const { from, end } = scope;
  return orders.flatMap((order) => {
    const item = itemsIn(order, { ...scope, from: 0, end: () => Infinity }).findLast(
      ({ code }) => code?.state === 3 || code?.state === 4,
    );
    if (item?.code == null || item.at < from || item.at >= end(order.gateway)) return [];
    return [
      {
        order,
        at: item.at,
        outcome: item.code.state === 3 ? 'succeeded' : OUTCOME_OF_GROUP[item.code.group],
      },
    ];
  });
}

export function shares(orders: readonly SeedOrder[], scope: Scope) {
  const outcomes = decided(orders, scope).map(({ outcome }) => outcome);
  const count = (...wanted: string[]): number =>
    outcomes.filter((outcome) => wanted.includes(outcome)).length;
  const judged = count('succeeded', 'risk_decline', 'issuer_decline', 'unspecified_failure');
  return {
    technicalSuccess: 1 - count('technical_failure') / outcomes.length,
    finished: outcomes.length,
    approval: count('succeeded') / judged,
    judged,
  };
}

/** Distinct orders by a key of their failing items. */
export function failures(
  orders: readonly SeedOrder[],
  scope: Scope,
  keyOf: (item: { at: number; code: NonNullable<ReturnType<typeof segments>> }) => string,
): Map<string, number> {
  const counts = new Map<string, number>();
  for (const order of orders) {
    const keys = itemsIn(order, scope).flatMap(({ at, code }) =>
      code !== null && isFailing(code) ? [keyOf({ at, code })] : [],
    );
    for (const key of new Set(keys)) counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

/** Codes that the catalogue lacks, with the orders that have them. */
export function unknownCodes(orders: readonly SeedOrder[], scope: Scope): Map<string, number> {
  const known = new Set<string>(CATALOGUE.map(({ action }) => action));
  const counts = new Map<string, number>();
  for (const order of orders)
    for (const action of new Set(itemsIn(order, scope).map((item) => item.action)))
      if (!known.has(action)) counts.set(action, (counts.get(action) ?? 0) + 1);
  return counts;
}

/** Starts of orders inside the scope, by minute. */
export function startsPerMinute(
  orders: readonly SeedOrder[],
  scope: Scope,
  gateway: string,
): Map<number, number> {
  const counts = new Map<number, number>();
  for (const order of orders.filter((one) => one.gateway === gateway)) {
    const at = order.items[0]?.at ?? 0;
    if (at < scope.from || at >= scope.end(gateway) || scope.wants?.(order) === false) continue;
    const minute = Math.floor(at / MINUTE) * MINUTE;
    counts.set(minute, (counts.get(minute) ?? 0) + 1);
  }
  return counts;
}
