import { LATENESS_EVERY_SECONDS } from '../../alerts/count/clocks.ts';
import { hasSlices } from '../../alerts/count/usual.ts';
import { END_STEP_SECONDS } from '../../alerts/count/windows.ts';
import type { Verdict } from '../../alerts/evaluate/judge-share.ts';
import { RULES } from '../../alerts/rules/all.ts';
import {
  type GaugeRule,
  isAskedDirectly,
  isHeartbeat,
  RULE_GROUPS,
  type Rule,
} from '../../alerts/rules/rule.ts';
import { type Classified, type Classifier } from './classify.ts';
import { createMeasures, type Measure, monthsOfSlice, ordersMeasure, slownessOf } from './counts.ts';
import { DELAYS } from './draw.ts';
import { createJudge, type Judge } from './judge.ts';
import { PATHS } from './paths.ts';
import type { Months } from './months.ts';
import { type Slice, slicesOf, wholeOf } from './slices.ts';

/** A rule under one label for a slice, evaluated for any minute without a database. */
export interface Twin {
  readonly rule: Rule;
  readonly label: string;
  readonly slice: Slice;
  /** Paths that make orders count, and that make them affected. */
  readonly seen: ReadonlySet<number>;
  readonly hit: ReadonlySet<number>;
  /** What the rule says at a minute, suppression left out. */
  readonly verdict: (at: number) => Verdict | { readonly number: number; readonly holds: boolean };
  readonly holds: (at: number) => boolean;
  /** Where its windows end at a minute, and what is known then. */
  readonly end: (at: number) => { readonly known: number; readonly end: number };
}

/** What each rule counts, by its name. */
export type Classes = ReadonlyMap<string, readonly Classified[]>;

/**
 * The rule about slow orders. All items of an order lie within a minute, so no path is slow: how many orders
 * are is drawn apart, at the threshold that one in twenty usually exceeds.
 */
export const SLOW_RULE = 'GatewatchSlow';

/**
 * Rules that no months can show: what they count does not follow from minutes. Their scenarios are tests of
 * their own.
 */
export const WITHOUT_TWIN: readonly string[] = [
  'GatewatchRereadCoverage',
  'GatewatchReadsSlow',
  'GatewatchPayersGiveUp',
];

/** Rules that are off by default, and the labels for which the lab's gateway switches them on. */
export const ENABLED: readonly string[] = ['GatewatchMerchantCallbackMissing/SUCCESS'];

/** What each rule counts; the same for all months. */
export async function classifyRules(classifier: Classifier): Promise<Classes> {
  const classes = new Map<string, readonly Classified[]>();
  for (const rule of RULES)
    if (rule.kind !== 'gauge' && rule.name !== SLOW_RULE && !WITHOUT_TWIN.includes(rule.name))
      classes.set(rule.name, await classifier.classify(rule));
  return classes;
}

/** The twins of the rules for the gateway as a whole, or of those that can judge it for a slice. */
export function createTwins(months: Months, classes: Classes, slice = wholeOf(months.gateway)): Twin[] {
  const own = monthsOfSlice(months, slice);
  const measureOf = createMeasures(own);
  const amongSlices = slice.name === '' ? null : slicesOf(months.gateway).length;
  const firsts = firstsOf(own);
  return RULES.flatMap((rule) => {
    if (isAskedDirectly(rule) || isHeartbeat(rule)) return [];
    if (slice.name !== '' && !hasSlices(rule)) return [];
    if (rule.kind === 'gauge') return [gaugeTwin(rule, own, slice)];
    if (rule.name === SLOW_RULE) return [slowTwin(rule, months, slice, amongSlices)];
    return (classes.get(rule.name) ?? [])
      .filter(({ label }) => rule.offByDefault !== true || ENABLED.includes(`${rule.name}/${label}`))
      .map((classified) => {
        const measures = { seen: measureOf(classified.seen), hit: measureOf(classified.hit) };
        const end = windowEnds(rule, own, measures.seen, firsts);
        return { ...countTwin(rule, classified, createJudge(rule, measures, amongSlices), end), slice };
      });
  });
}

function countTwin(
  rule: Exclude<Rule, GaugeRule>,
  classified: Classified,
  judge: Judge,
  end: Twin['end'],
): Omit<Twin, 'slice'> {
  const paths = (some: Classified['seen']): Set<number> => new Set(some.map(({ path }) => path));
  return {
    rule,
    label: classified.label,
    seen: paths(classified.seen),
    hit: paths(classified.hit),
    end,
    verdict(at) {
      const { known, end: to } = end(at);
      return judge.verdict(known, to, at);
    },
    holds(at) {
      const { known, end: to } = end(at);
      return judge.holds(known, to, at);
    },
  };
}

/** Slow orders of months: no path makes an order slow, so it has none. */
function slowTwin(
  rule: Exclude<Rule, GaugeRule>,
  months: Months,
  slice: Slice,
  amongSlices: number | null,
): Twin {
  const measures = slownessOf(months, slice);
  const end = windowEnds(rule, months, measures.seen, []);
  const classified = { label: '', seen: [], hit: [] };
  return { ...countTwin(rule, classified, createJudge(rule, measures, amongSlices), end), slice };
}

const LATEST = Math.max(...DELAYS.map(({ minutes }) => minutes));

/** The twin of `endsOf`, at the half minute after minute `at` began: in minutes, exclusive. */
function windowEnds(
  rule: Exclude<Rule, GaugeRule>,
  months: Months,
  seen: Measure,
  firsts: readonly First[],
): Twin['end'] {
  const until = (at: number): number => Math.min(at, months.seenUntil[at - 1] ?? at);
  // What we see ourselves is never late.
  if (rule.count.clock === 'wall') return (at) => ({ known: at + LATEST, end: at });
  if (rule.count.clock !== 'late') return (at) => ({ known: until(at), end: until(at) });
  const measuredEvery = LATENESS_EVERY_SECONDS / 60;
  return (at) => {
    const known = until(at);
    const measuredAt = at - (at % measuredEvery);
    const waited = lateness(firsts, measuredAt, until(measuredAt));
    const end = slotOf(60 * at + 30 - waited);
    return { known, end: Math.min(known, Math.ceil((end - slotOf(seen.second)) / 60)) };
  };
}

const slotOf = (second: number): number => Math.floor(second / END_STEP_SECONDS) * END_STEP_SECONDS;

/**
 * Second of its minute at which an order's first item lies, and how late it is known by delay: see `orderOf`.
 */
const FIRST_SECOND = 2;
const FIRST_SECONDS = [3, 188, 668] as const;

/** First items of orders that are known equally late. */
interface First {
  readonly lateSeconds: number;
  readonly orders: Measure;
}

const firstsOf = ({ orders, minutes }: Months): First[] =>
  FIRST_SECONDS.map((lateSeconds, index) => ({
    lateSeconds,
    orders: ordersMeasure(
      { minutes, orders: orders.map((paths, delay) => (delay === index ? paths : [])) },
      PATHS.map((_, path) => ({ path, atSecond: FIRST_SECOND })),
    ),
  }));

/** The twin of the measured lateness: the 95th percentile over the hour before, within its limits. */
function lateness(firsts: readonly First[], at: number, known: number): number {
  // What comes late comes after a minute has begun, which is when this is measured.
  const counts = firsts.map(({ orders }, index) =>
    orders.within(index === 0 ? known : Math.min(known, at - 1), at, 60),
  );
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return 30;
  const place = 0.95 * (total - 1);
  const valueAt = (index: number): number => {
    let passed = 0;
    for (const [nth, count] of counts.entries()) {
      passed += count;
      if (index < passed) return firsts[nth]?.lateSeconds ?? 0;
    }
    return firsts.at(-1)?.lateSeconds ?? 0;
  };
  const low = valueAt(Math.floor(place));
  const value =
    low + (valueAt(Math.min(total - 1, Math.floor(place) + 1)) - low) * (place - Math.floor(place));
  return Math.min(300, Math.max(30, Math.ceil(value)));
}

/** Orders that the gateway dates ahead of our clock. */
const PATHS_AHEAD: ReadonlySet<number> = new Set(
  PATHS.flatMap(({ aheadSeconds = 0 }, path) => (aheadSeconds > 0 ? [path] : [])),
);

/** The numbers of the gauges: each is written here once more, since they read reports and not orders. */
function gaugeTwin(rule: GaugeRule, months: Months, slice: Slice): Twin {
  const newest = new Int32Array(months.minutes + 1);
  for (let minute = 1; minute <= months.minutes; minute++)
    newest[minute] = months.reporting[minute - 1] === 1 ? minute : (newest[minute - 1] ?? 0);
  const recent = (at: number): number | null => {
    const minute = newest[at] ?? 0;
    return 60 * (at - minute) + 15 < 300 ? minute : null;
  };
  const numbers: Readonly<Record<string, (at: number) => number>> = {
    GatewatchCollectorSilent: (at) => 60 * (at - (newest[at] ?? 0)) + 15,
    GatewatchPictureBehind: (at) => {
      const minute = recent(at);
      return minute === null ? 0 : 60 * (at - (months.seenUntil[minute - 1] ?? minute)) + 30;
    },
    GatewatchCircuitOpen: (at) => months.circuits[(recent(at) ?? 0) - 1] ?? 0,
    GatewatchConsumerLag: (at) => months.lag[(recent(at) ?? 0) - 1] ?? 0,
    GatewatchRejects: (at) => {
      let sum = 0;
      for (let minute = at - 14; minute <= at; minute++) sum += months.rejects[minute] ?? 0;
      return sum;
    },
    GatewatchClockSkew: (at) => months.clockSkew[(recent(at) ?? 0) - 1] ?? 0,
    GatewatchHistoryMisdated: (at) => months.clockSkew[(recent(at) ?? 0) - 1] ?? 0,
    // No producer of these months leaves a transaction open.
    GatewatchTransactionOpen: () => 0,
    // No order of these months contradicts itself.
    GatewatchFindingsGateway: () => 0,
    GatewatchFindingsMerchant: () => 0,
    GatewatchFindingsStranger: () => 0,
  };
  const number = numbers[rule.name];
  if (number === undefined) throw new Error(`${rule.name} has no twin`);
  return {
    rule,
    label: '',
    slice,
    seen: new Set(),
    hit: rule.name === 'GatewatchClockSkew' ? PATHS_AHEAD : new Set(),
    end: (at) => ({ known: at, end: at }),
    verdict: (at) => ({ number: number(at), holds: number(at) > rule.above }),
    holds: (at) => number(at) > rule.above,
  };
}

/** Minutes between evaluations of a rule. */
export const intervalMinutes = (rule: Rule): number => RULE_GROUPS[rule.group ?? 'fast'].intervalSeconds / 60;
