import type { OrderType } from '../../schemas/dictionary.ts';
import { type Conditions, type Life, planGapMs, planLife, planRequest } from '../../sandbox/life.ts';
import { createRandom } from '../../sandbox/random.ts';
import type { IncidentName } from '../../sandbox/scenarios.ts';

/**
 * Three weeks of two gateways, as the sandbox's own plans have them: quiet weeks, a busy last day with every
 * incident, late items, repeats, legacy and unknown codes. The same on every machine and at every hour.
 */

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
/** The instant at which the story is looked at; the engine's clock stands here (`golden-store.ts`). */
export const NOW = Date.UTC(2026, 9, 26, 12, 0);
export const START = NOW - 21 * DAY;
export const GATEWAYS = ['acme-eu', 'blue-pay'] as const;
export type Gateway = (typeof GATEWAYS)[number];

const SEED = 'golden';
const QUIET_PER_HOUR = 2;
const BUSY_PER_HOUR = 40;
const BUSY_FROM = NOW - DAY;

/** What goes wrong, in the last day: when it begins, in minutes before the end, and for how long. */
const INCIDENTS: readonly (readonly [
  Gateway,
  IncidentName,
  beforeEnd: number,
  minutes: number,
  share: number,
])[] = [
  ['acme-eu', 'tech_timeout', 22 * 60, 40, 0.6],
  ['acme-eu', 'authz', 19 * 60, 40, 0.5],
  ['acme-eu', 'signature', 16 * 60, 40, 0.6],
  ['acme-eu', 'issuer_decline', 13 * 60, 90, 0.7],
  ['blue-pay', 'payform_drop', 21 * 60, 90, 0.8],
  ['blue-pay', 'gateway_down', 17 * 60, 40, 0.6],
  ['blue-pay', 'antifraud', 12 * 60, 90, 0.6],
  ['blue-pay', 'traffic_drop', 8 * 60, 60, 1],
  // Still going on at the end.
  ['acme-eu', 'tech_timeout', 50, 60, 0.5],
];

/** The gateway answers 503 to every read: what happens then is read afterwards. */
export const OUTAGE = { gateway: 'acme-eu', from: NOW - 10 * HOUR, to: NOW - 10 * HOUR + 25 * MINUTE };
/** The collector is killed, and another goes on from what is stored. */
export const RESTART_AT = NOW - 6 * HOUR - 7 * MINUTE;

/** How callbacks of a span of time are bent. */
export const BENT_CALLBACKS: readonly {
  readonly gateway: Gateway;
  readonly how: 'wrong_signature' | 'missing' | 'sent_twice' | 'other_amount' | 'unsigned';
  readonly from: number;
  readonly minutes: number;
}[] = [
  { gateway: 'acme-eu', how: 'wrong_signature', from: NOW - 5 * HOUR, minutes: 35 },
  { gateway: 'blue-pay', how: 'missing', from: NOW - 4 * HOUR, minutes: 60 },
  { gateway: 'blue-pay', how: 'sent_twice', from: NOW - 15 * HOUR, minutes: 60 },
  { gateway: 'acme-eu', how: 'other_amount', from: NOW - 3 * HOUR, minutes: 20 },
  { gateway: 'acme-eu', how: 'unsigned', from: NOW - 2 * HOUR, minutes: 15 },
];

/** An order and its whole future. Times are epoch milliseconds, of items also microseconds. */
export interface StoryOrder {
  readonly number: number;
  readonly gateway: Gateway;
  readonly orderType: OrderType;
  readonly externalId: string;
  readonly externalTransactionId: string;
  readonly channel: string;
  readonly amountMinor: number;
  readonly currency: string;
  readonly createdAt: number;
  readonly life: Life;
  /** How we hear of it first. */
  readonly heardBy: 'watch' | 'watch_by_transaction' | 'callback';
}

export function storyOrders(): StoryOrder[] {
  return GATEWAYS.flatMap((gateway, index) => ordersOf(gateway, index * 1_000_000)).toSorted(
    (a, b) => a.createdAt - b.createdAt,
  );
}

function ordersOf(gateway: Gateway, firstNumber: number): StoryOrder[] {
  const orders: StoryOrder[] = [];
  let at = START;
  for (let number = firstNumber; ; number += 1) {
    const perHour = at >= BUSY_FROM ? BUSY_PER_HOUR : QUIET_PER_HOUR;
    at += Math.round(planGapMs(SEED, number, perHour / 3600));
    if (at >= NOW) return orders;
    const incidents = INCIDENTS.filter(
      ([of, , beforeEnd, minutes]) =>
        of === gateway && at >= NOW - beforeEnd * MINUTE && at < NOW - (beforeEnd - minutes) * MINUTE,
    ).map(([, name, , , share]) => ({ name, share }));
    if (incidents.some(({ name }) => name === 'traffic_drop')) continue;
    orders.push(orderOf(gateway, number, at, { ...oddities(number), incidents }));
  }
}

function orderOf(gateway: Gateway, number: number, createdAt: number, conditions: Conditions): StoryOrder {
  const { channel, amountMinor, currency, externalTransactionId } = planRequest(SEED, number);
  const random = createRandom(SEED, 'order', number);
  return {
    number,
    gateway,
    orderType: channel === 'payout' ? 'Withdrawal' : 'Deposit',
    externalId: random.uuid(),
    externalTransactionId,
    channel,
    amountMinor,
    currency,
    createdAt,
    life: planLife(SEED, number, channel, conditions),
    heardBy: random.weighted(['watch', 'watch_by_transaction', 'callback'] as const, (way) =>
      way === 'watch' ? 7 : way === 'watch_by_transaction' ? 1 : 2,
    ),
  };
}

/** Some orders are unusual, whenever they come. */
function oddities(number: number): Conditions {
  if (number % 61 === 7) return { foreignCodes: ['10.0.1.5'] };
  if (number % 67 === 9) return { foreignCodes: ['2.2.4.18', '4.2.9.99'] };
  if (number % 71 === 11) return { failsFirst: true };
  if (number % 73 === 13) return { neverEnds: true };
  if (number % 79 === 17) return { newMove: ['4.1.2.00', '2.0.2.00'] };
  return {};
}
