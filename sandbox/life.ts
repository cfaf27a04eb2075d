import { OUTCOME_OF_GROUP, REASON_GROUPS, type Outcome } from '../schemas/dictionary.ts';
import type { CallbackType } from '../schemas/gateway/callback.ts';
import { createRandom, type Random } from './random.ts';
import { CHANNELS, INCIDENTS, LEADS, SCENARIOS } from './scenarios.ts';
import type { Channel, IncidentName, Scenario, Step } from './scenarios.ts';

/** A history item before it has a date. Times are microseconds after the order's creation, at speed 1. */
export interface PlannedItem {
  readonly action: string;
  readonly atUs: number;
  /** When a status reply first shows it: later than `atUs` for a late item (section 2.4, rule 2). */
  readonly visibleAtUs: number;
}

/** The whole future of an order: pure data, the same for the same seed, sequence and conditions. */
export interface Life {
  readonly scenario: string;
  /** In time order. */
  readonly items: readonly PlannedItem[];
  /** The first item that decides the payment, and the status it brings. Null: the order never ends. */
  readonly final: { readonly atUs: number; readonly status: 'Success' | 'Failed' } | null;
  readonly outcome: Outcome | 'pending';
  readonly callbacks: readonly { readonly type: CallbackType; readonly atUs: number }[];
  /** The amount changes (code 5.1.3.35) by this factor. */
  readonly amountChange: { readonly atUs: number; readonly factor: number } | null;
}

/** What is going on while the order is created. */
export interface Conditions {
  readonly incidents?: readonly {
    readonly name: IncidentName;
    readonly share: number;
    readonly channel?: Channel;
  }[];
  /** Share of the finished orders that get late items. @default 0.35 */
  readonly lateShare?: number;
  /** Codes which the catalogue lacks, put into the history before it ends (faults). */
  readonly foreignCodes?: readonly string[];
  /** Codes that come one after the other before the order ends (faults). */
  readonly newMove?: readonly [string, string];
  /** An order that succeeds is said to have failed before (faults). @default false */
  readonly failsFirst?: boolean;
  /** It stays in processing (faults). @default false */
  readonly neverEnds?: boolean;
}

const SECOND = 1e6;
/** The interface suggests re-reading for about 10 minutes; late items come within 9.5. */
const LATE_LIMIT_US = 570 * SECOND;
const DEFAULT_LATE_SHARE = 0.35;

/** How order number `sequence` of a seed goes. No clock and no other randomness than the seed's. */
export function planLife(
  seed: string,
  sequence: number,
  channel: Channel,
  conditions: Conditions = {},
): Life {
  const random = createRandom(seed, 'life', sequence);
  const scenario = drawScenario(seed, sequence, channel, conditions, random);
  const planned = walk([...LEADS[scenario.from][channel], ...scenario.steps], random);
  const items = conditions.neverEnds === true ? endless(planned) : planned;
  const decidedAt = items.findIndex((item) => statusOf(item.action));
  const decided = items[decidedAt];
  const status = decided && statusOf(decided.action);
  const final = decided && status ? { atUs: decided.atUs, status } : null;
  const callbacks = planCallbacks(items, final, random);
  if (conditions.failsFirst === true && final?.status === 'Success') {
    const atUs = beforeEnd(items, final.atUs, 1 / 2);
    items.push({ action: '4.1.4.00', atUs, visibleAtUs: atUs });
  }
  if (conditions.newMove && final) {
    const [first, second] = conditions.newMove;
    for (const [action, part] of [[first, 1 / 3] as const, [second, 2 / 3] as const]) {
      const atUs = beforeEnd(planned, final.atUs, part);
      items.push({ action, atUs, visibleAtUs: atUs });
    }
  }
  if (final && random.chance(conditions.lateShare ?? DEFAULT_LATE_SHARE))
    items.push(...lateItems(items, final, random));
  for (const action of conditions.foreignCodes ?? []) {
    // In an order that never ends, a code with a final state would decide it.
    if (final || !statusOf(action)) items.push(foreignItem(action, items, final, random));
  }
  items.sort((a, b) => a.atUs - b.atUs);
  const changed = items.find((item) => item.action === '5.1.3.35');
  return {
    scenario: scenario.name,
    items,
    final,
    outcome: outcomeOf(items.map((item) => item.action)),
    callbacks,
    amountChange: changed ? { atUs: changed.atUs, factor: random.pick([0.5, 0.8, 0.9, 0.95, 1.1]) } : null,
  };
}

/** The outcome of a payment by its deciding item: the last one whose state is success or failed. */
export function outcomeOf(actionsInTimeOrder: readonly string[]): Outcome | 'pending' {
  const deciding = actionsInTimeOrder.findLast((action) => statusOf(action));
  if (!deciding) return 'pending';
  if (statusOf(deciding) === 'Success') return 'succeeded';
  const reason = Number(deciding.slice(6));
  const group = REASON_GROUPS.find(({ from, to }) => reason >= from && reason <= to);
  return group ? OUTCOME_OF_GROUP[group.name] : 'unspecified_failure';
}

/** The final status that a code stands for: segment B, where 3 is success and 4 is failed. */
export function statusOf(action: string): 'Success' | 'Failed' | undefined {
  const state = /^[1-6]\.[0-2]\.([34])\.\d\d$/.exec(action)?.[1];
  return state === '3' ? 'Success' : state === '4' ? 'Failed' : undefined;
}

/**
 * Incidents draw from a stream of their own, so that orders they leave alone go as they would have gone
 * without.
 */
function drawScenario(
  seed: string,
  sequence: number,
  channel: Channel,
  conditions: Conditions,
  random: Random,
): Scenario {
  const normal = random.weighted(SCENARIOS, (scenario) => scenario.weights[channel] ?? 0);
  const fate = createRandom(seed, 'incident', sequence);
  for (const incident of conditions.incidents ?? []) {
    const names: readonly string[] = INCIDENTS[incident.name].scenarios;
    const possible = SCENARIOS.filter(
      ({ name, weights }) => names.includes(name) && (weights[channel] ?? 0) > 0,
    );
    const meant = incident.channel === undefined || incident.channel === channel;
    if (meant && possible.length > 0 && fate.chance(incident.share)) return fate.pick(possible);
  }
  return normal;
}

/** A moment between the end and the item before it; `part` of the way. */
function beforeEnd(items: readonly PlannedItem[], endUs: number, part: number): number {
  const before = items.findLast(({ atUs }) => atUs < endUs)?.atUs ?? 0;
  return Math.round(before + (endUs - before) * part);
}

/** The items before the one that decides, and a check that finds nothing out. */
function endless(items: readonly PlannedItem[]): PlannedItem[] {
  const undecided = items.filter(({ action }) => !statusOf(action) && !action.startsWith('6.'));
  const atUs = (undecided.at(-1)?.atUs ?? 0) + SECOND;
  return [...undecided, { action: '4.2.2.13', atUs, visibleAtUs: atUs }];
}

function walk(steps: readonly Step[], random: Random): PlannedItem[] {
  let atUs = 0;
  return steps.flatMap(([action, minSeconds, maxSeconds, chance = 1]) => {
    if (chance < 1 && !random.chance(chance)) return [];
    atUs += Math.round(random.between(minSeconds, maxSeconds) * SECOND);
    return [{ action, atUs, visibleAtUs: atUs }];
  });
}

/**
 * The five callback types (section 6.2), each a moment after the item it reports, and never before
 * another's.
 */
function planCallbacks(
  items: readonly PlannedItem[],
  final: Life['final'],
  random: Random,
): Life['callbacks'] {
  const causedBy = (type: CallbackType, action: string) => {
    const item = items.find((candidate) => candidate.action === action);
    return item ? [{ type, causeUs: item.atUs }] : [];
  };
  const ended = final ? [{ type: final.status satisfies CallbackType, causeUs: final.atUs }] : [];
  // When one item causes both, the end is sent before the changed amount.
  const causes = [
    ...causedBy('Create', '1.1.1.00'),
    ...causedBy('Progress', '2.1.1.00'),
    ...ended,
    ...causedBy('AmountChanged', '5.1.3.35'),
  ];
  let lastUs = 0;
  return causes.map(({ type, causeUs }) => {
    lastUs = Math.max(lastUs, causeUs) + moment(random);
    return { type, atUs: lastUs };
  });
}

const moment = (random: Random) => random.int(20_000, 300_000);

/** One or two items that become visible only after the end: at the end of the list, or inside it. */
function lateItems(
  items: readonly PlannedItem[],
  final: NonNullable<Life['final']>,
  random: Random,
): PlannedItem[] {
  const accepted = items.find((item) => item.action === '2.1.1.00');
  const seen = items.some((item) => item.action === '3.0.1.51');
  // Without a form only failures can land inside, and in calm weather these are rare.
  const inside = accepted && random.chance(seen ? 0.5 : 0.02);
  const outside = !inside || random.chance(0.3);
  const later = () => final.atUs + random.int(5 * SECOND, LATE_LIMIT_US);
  const late: PlannedItem[] = [];
  if (inside) {
    const action = random.weighted(seen ? INSIDE_FORM : INSIDE, ([, weight]) => weight)[0];
    late.push({ action, atUs: random.int(accepted.atUs + 1, final.atUs - 1), visibleAtUs: later() });
  }
  if (outside) {
    const decided = items.find((item) => item.atUs === final.atUs && statusOf(item.action));
    const repeats = final.status === 'Success' ? ['5.1.3.00', '4.1.3.00'] : repeatOf(decided);
    const atUs = later();
    late.push({ action: random.pick(['6.1.1.00', ...repeats]), atUs, visibleAtUs: atUs });
  }
  return late;
}

/** Retried reads may find the same failure again; a failed create or form is never repeated. */
const repeatOf = (item: PlannedItem | undefined) => (item?.action.startsWith('4.') ? [item.action] : []);

const INSIDE: readonly (readonly [string, number])[] = [
  ['4.2.2.13', 1],
  ['5.2.2.17', 1],
];
const INSIDE_FORM: readonly (readonly [string, number])[] = [['3.0.1.52', 98], ...INSIDE];

/** Placed before the deciding item: an unknown code must not change how the payment ended. */
function foreignItem(
  action: string,
  items: readonly PlannedItem[],
  final: Life['final'],
  random: Random,
): PlannedItem {
  const endUs = final?.atUs ?? items.at(-1)?.atUs ?? SECOND;
  const atUs = random.int(1, Math.max(endUs - 1, 1));
  return { action, atUs, visibleAtUs: atUs };
}

/** What the sandbox's own traffic asks for as order number `sequence`. */
export interface PlannedRequest {
  readonly channel: Channel;
  readonly amountMinor: number;
  readonly currency: string;
  readonly externalTransactionId: string;
}

/**
 * Share of each channel in the sandbox's own traffic. @default acquiring 45, card 5, p2p 28, token 12, payout
 * 10
 */
export type ChannelMix = Readonly<Record<Channel, number>>;
export const DEFAULT_MIX: ChannelMix = { acquiring: 45, card: 5, p2p: 28, token: 12, payout: 10 };

const CURRENCIES = [
  ['EUR', 60],
  ['USD', 20],
  ['GBP', 12],
  ['PLN', 8],
] as const;

/** Order number `sequence` of the sandbox's own traffic: the same for the same seed. */
export function planRequest(seed: string, sequence: number, mix: ChannelMix = DEFAULT_MIX): PlannedRequest {
  const random = createRandom(seed, 'request', sequence);
  const channel = random.weighted(CHANNELS, (name) => mix[name]);
  return {
    channel,
    amountMinor: drawAmount(random),
    currency: random.weighted(CURRENCIES, ([, weight]) => weight)[0],
    externalTransactionId: `shop-${random.hex(8)}-${sequence}`,
  };
}

/** Between 1 and about 5,000, small ones more often; half of them round. */
export function drawAmount(random: Random): number {
  const minor = Math.round(100 * 10 ** random.between(0.3, random.between(1.5, 3.7)));
  return random.chance(0.5) ? Math.max(Math.round(minor / 500) * 500, 500) : minor;
}

/** Milliseconds until the next order at `ratePerSecond`: a Poisson process, seeded. */
export function planGapMs(seed: string, sequence: number, ratePerSecond: number): number {
  return (-Math.log(1 - createRandom(seed, 'gap', sequence).next()) / ratePerSecond) * 1000;
}
