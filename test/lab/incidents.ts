import { type Gateway, shuffled, usualShareOf } from './gateway.ts';
import { type Form, GONE, type Kind, kindNamed, KINDS, RISE, SLICE_KINDS, SLOW_DOWN } from './kinds.ts';
import type { Random } from './random.ts';
import { explanationsOf, type Slice, troubledSlices, wholeOf } from './slices.ts';

/** What a score is about: the whole gateway, a slice, or a course that has a line of its own. */
export const SORTS = [
  'whole',
  'slice',
  'slow-down',
  'flapping',
  'half of all withdrawals',
  'down for an hour',
] as const;
export type Sort = (typeof SORTS)[number];

export interface Incident {
  readonly sort: Sort;
  readonly kind: Kind;
  readonly form: Form;
  /** The part of the traffic that it befalls. */
  readonly slice: Slice;
  /** Names of the slices that explain it; none of the gateway as a whole. */
  readonly explanations: readonly string[];
  /** Minutes; the end is exclusive. Orders begin to be affected, and end to be. */
  readonly start: number;
  readonly end: number;
  /** Points that the failing share rises by. */
  readonly rise: number;
  /** Minutes from the start until twelve affected orders are expected; null where none is affected. */
  readonly twelveAffected: number | null;
  /** Orders of the gateway that came a minute when it began. */
  readonly ordersPerMinute: number;
}

const FLAPPING = { everyMinutes: 20, forMinutes: 2, lasts: 180 };
const HOUR = 60;

/** Does it go on in that minute? What flaps does so for two minutes of every twenty. */
export const isOn = ({ sort, start, end }: Incident, minute: number): boolean =>
  minute >= start &&
  minute < end &&
  (sort !== 'flapping' || (minute - start) % FLAPPING.everyMinutes < FLAPPING.forMinutes);

/** Orders that it touches, as a share of all that come; null for what does not touch orders. */
export function affectedShare(
  { segments }: Gateway,
  { kind, form, slice, rise }: Pick<Incident, 'kind' | 'form' | 'slice' | 'rise'>,
): number | null {
  const { effect } = kind;
  const over = (of: (index: number) => number): number =>
    slice.segments.reduce((sum, index) => sum + (segments[index]?.share ?? 0) * of(index), 0);
  const usual = (index: number, paths: readonly number[]): number => {
    const segment = segments[index];
    const own = paths.filter((path) => segment?.paths.includes(path));
    return segment === undefined ? 0 : usualShareOf(segment, own);
  };
  switch (effect.type) {
    case 'drop':
      return GONE[form] * slice.share;
    case 'slow':
      return slice.share / 4;
    case 'silence':
      return over((index) => usual(index, effect.targets));
    case 'share': {
      const canHave = (index: number): boolean =>
        effect.targets.some((path) => segments[index]?.paths.includes(path));
      return rise * over((index) => (canHave(index) ? usual(index, effect.population) : 0));
    }
    default:
      return null;
  }
}

export interface ScheduleOptions {
  readonly gateway: Gateway;
  /** Orders a minute, by minute. */
  readonly rate: Float64Array;
  readonly random: Random;
  /** Nothing happens before: baselines need a past. */
  readonly from: number;
  /** Spans of minutes in which nothing is known, so that no incident is there. */
  readonly off: readonly { readonly start: number; readonly end: number }[];
}

/** Share of the time after `from` in which incidents occur; the rest is quiet to the end. */
const BUSY = 0.65;
/** An incident lasts until this number of orders is affected, but within the limits below, in minutes. */
const AFFECTED = 60;
/** However few orders there are, what is enough to distinguish it from chance. */
const CERTAIN = 24;
const SHORTEST = 45;
/** What does not happen is missed after hours only. */
const SHORTEST_SILENCE = 4 * HOUR;
const LONGEST = 24 * HOUR;
/** Minutes of quiet before each incident, at least and at most. */
const GAP = { least: 4 * HOUR, most: 10 * HOUR };

type Drawn = Pick<Incident, 'sort' | 'kind' | 'form' | 'slice' | 'rise'> & { readonly lasts?: number };

/** Incidents of every sort, in random order and at random hours, as often as the time allows. */
export function scheduleIncidents(options: ScheduleOptions): Incident[] {
  const { gateway, rate, random, from, off } = options;
  const out: Incident[] = [];
  const latest = from + (rate.length - from) * BUSY;
  const draw = drawing(gateway, random);
  let at = from;
  for (;;) {
    at += GAP.least + random.below(GAP.most - GAP.least);
    const drawn = draw();
    const { kind } = drawn;
    const affected = affectedShare(gateway, drawn);
    const lasts = drawn.lasts ?? lengthOf(kind, affected, rate, at);
    if (at > latest) return out;
    if (lasts === null || at + lasts > rate.length) continue;
    const dark = off.find(({ start, end }) => at < end + GAP.most && at + lasts + GAP.least > start);
    if (dark !== undefined) {
      at = dark.end + GAP.most;
      continue;
    }
    const twelve = affected === null ? null : (until(rate, at, affected, 12) ?? rate.length) - at;
    const explanations = drawn.slice.name === '' ? [] : explanationsOf(gateway, drawn.slice);
    const ordersPerMinute = rate[at] ?? 0;
    const { sort, form, slice, rise } = drawn;
    const span = { start: at, end: at + lasts };
    out.push({
      sort,
      kind,
      form,
      slice,
      rise,
      explanations,
      ...span,
      twelveAffected: twelve,
      ordersPerMinute,
    });
    at += lasts;
  }
}

function lengthOf(kind: Kind, affected: number | null, rate: Float64Array, at: number): number | null {
  if (affected === null) return HOUR;
  const certain = (until(rate, at, affected, CERTAIN) ?? Infinity) - at;
  if (certain > 2 * LONGEST) return null;
  const enough = (until(rate, at, affected, AFFECTED) ?? rate.length) - at;
  const shortest = kind.effect.type === 'silence' ? SHORTEST_SILENCE : SHORTEST;
  return Math.max(certain, Math.min(LONGEST, Math.max(shortest, enough)));
}

/** What occurs next. Of the gateway as a whole every kind comes in every form before one comes again. */
function drawing(gateway: Gateway, random: Random): () => Drawn {
  const whole = wholeOf(gateway);
  const slices = troubledSlices(gateway);
  const payouts = slices.find(({ name }) => name === 'order_type=Withdrawal') ?? whole;
  const one = <T>(some: readonly T[]): T => some[random.below(some.length)] as T;
  const failing = (...names: readonly string[]): Kind => kindNamed(one(names));
  const deck: Drawn[] = [];
  const ofWhole = (): Drawn => {
    if (deck.length === 0)
      for (const kind of shuffled(KINDS, random))
        for (const form of kind.forms)
          deck.push({ sort: 'whole', kind, form, slice: whole, rise: RISE[form] });
    return deck.splice(random.below(deck.length), 1)[0] as Drawn;
  };
  const ofSlice = (): Drawn => {
    for (let tries = 0; tries < 20; tries++) {
      const kind = one(SLICE_KINDS);
      const slice = one(slices);
      const form = one([...kind.forms, ...kind.forms.filter((form) => form !== 'mild')]);
      const drawn: Drawn = { sort: 'slice', kind, form, slice, rise: RISE[form] };
      // Where a slice has hardly an order that could be affected there is nothing to find.
      if ((affectedShare(gateway, drawn) ?? 0) > 0.4 * slice.share * RISE[form]) return drawn;
    }
    return ofWhole();
  };
  const broad = (): Slice => (random.next() < 0.6 ? whole : one(slices.filter(({ share }) => share >= 0.1)));
  return () => {
    const chance = random.next();
    if (chance < 0.5) return ofWhole();
    if (chance < 0.78) return ofSlice();
    if (chance < 0.9) {
      const form = one(SLOW_DOWN.forms);
      return { sort: 'slow-down', kind: SLOW_DOWN, form, slice: broad(), rise: 0, lasts: HOUR };
    }
    const severe = { form: 'severe', rise: RISE.severe } as const;
    if (chance < 0.94) {
      const kind = failing('create timeouts', 'create unreachable', 'check unavailable');
      return { sort: 'flapping', kind, ...severe, slice: broad(), lasts: FLAPPING.lasts };
    }
    if (chance < 0.97) {
      const kind = failing('create timeouts', 'create unreachable', 'check timeouts', 'balance exhausted');
      return { sort: 'half of all withdrawals', kind, ...severe, slice: payouts };
    }
    const down = { form: 'severe', rise: 0.95 } as const;
    return {
      sort: 'down for an hour',
      kind: failing('create unreachable'),
      ...down,
      slice: whole,
      lasts: HOUR,
    };
  };
}

/** The minute at whose end `affected` of the orders are expected to be hit; null when fewer ever will be. */
function until(rate: Float64Array, start: number, affected: number, orders: number): number | null {
  if (affected === 0) return null;
  let sum = 0;
  for (let minute = start; minute < rate.length; minute++) {
    sum += (rate[minute] ?? 0) * affected;
    if (sum >= orders) return minute + 1;
  }
  return null;
}
