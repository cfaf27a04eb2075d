import { type Clocks, endOf, settingOf, type WindowEnds } from '../count/clocks.ts';
import { labelsOf } from '../count/order-count.ts';
import type { OrderCounts } from '../count/order-counts.ts';
import { WHOLE } from '../count/slices.ts';
import { type ActivityRow, hasSlices, usualShare, usualShareOfSlice, usualTraffic } from '../count/usual.ts';
import { lengthsOf } from '../count/windows.ts';
import type { CountingRule } from '../rules/rule.ts';
import type { BreachMemory } from './breach-memory.ts';
import { judgeDrop, NOTHING_USUAL } from './judge-drop.ts';
import { judgeShare, type UsualShare, type Verdict, type WindowCounts } from './judge-share.ts';
import { leadOf, suppressedBy } from './judge-slices.ts';
import { breachOf, identity, isSwitchedOff, type Judged } from './judged.ts';
import { thresholdOf } from './slow-threshold.ts';

/** What the rules that count orders are judged by at one instant. */
export interface Counted {
  readonly counts: OrderCounts;
  /** By rule: what is usual. */
  readonly usual: ReadonlyMap<string, readonly ActivityRow[]>;
  readonly clocks: Clocks;
  readonly asOf: number;
  readonly memory: BreachMemory;
}

/** What a rule about orders says of each gateway, label and slice. */
export function judgeOrders(rule: CountingRule, ends: readonly WindowEnds[], counted: Counted): Judged[] {
  const usual = usualOf(rule.name, counted);
  const symptomsAt = symptomsOf(rule, counted);
  return ends.flatMap((end) =>
    symptomsAt(end.gateway).flatMap((symptom) => judgeSymptom(rule, symptom, end, counted, usual)),
  );
}

type Usual = ReadonlyMap<string, readonly ActivityRow[]>;
const usualOf = (rule: string, counted: Counted): Usual =>
  Map.groupBy(counted.usual.get(rule) ?? [], activityKey);

/** What one alert can be about: a label, or the thresholds of slices. */
interface Symptom {
  /** Null: each slice has a label of its own. */
  readonly label: string | null;
  readonly labelOf: (slice: string) => string;
}

function symptomsOf(rule: CountingRule, counted: Counted): (gateway: string) => readonly Symptom[] {
  const { counts } = rule.count;
  const threshold = rule.kind === 'share' ? rule.threshold : undefined;
  if (threshold === undefined) {
    const symptoms = labelsOf(rule.count).map((label): Symptom => ({ label, labelOf: () => label }));
    return () => symptoms;
  }
  const { rules, usuallyAtMost } = threshold;
  const usual = usualOf(rules[0], counted);
  return (gateway) => {
    const wanted = settingOf(counted.clocks, rules[0], gateway, 'slowerThanSeconds', 0);
    const chosenOf = (slice: string): string =>
      thresholdOf({
        counts,
        usualOf: (label) => usualShareIn(slice, usual.get(activityKey({ gateway, slice, label })) ?? []),
        usuallyAtMost,
        wantedSeconds: wanted > 0 ? wanted : null,
        before: counted.memory.labelBefore(rules, gateway, slice),
      });
    const slices = [WHOLE, ...counted.counts.slicesOf(gateway)];
    const chosen = new Map(slices.map((slice) => [slice, chosenOf(slice)]));
    return [{ label: null, labelOf: (slice) => chosen.get(slice) ?? '' }];
  };
}

const usualShareIn = (slice: string, rows: readonly ActivityRow[]): UsualShare | null =>
  slice === WHOLE ? usualShare(rows) : usualShareOfSlice(rows);

const activityKey = ({ gateway, slice, label }: Pick<ActivityRow, 'gateway' | 'slice' | 'label'>): string =>
  `${gateway}|${slice}|${label}`;

/** One symptom at one gateway: the whole gateway, and its slices where they matter. */
function judgeSymptom(
  rule: CountingRule,
  { label: ofAll, labelOf }: Symptom,
  ends: WindowEnds,
  { counts, clocks, asOf, memory }: Counted,
  usual: Usual,
): Judged[] {
  const { gateway } = ends;
  const windowEnd = endOf(rule, ends, asOf);
  const isOff = isSwitchedOff(rule, gateway, labelOf(WHOLE), clocks);
  const setting = (name: string, otherwise: number): number =>
    settingOf(clocks, rule.name, gateway, name, otherwise);
  const countsOf = (slice: string, label = labelOf(slice)) =>
    counts.of({ rule: rule.name, gateway, slice, label });
  const longest = Math.max(...lengthsOf(rule));
  const all = countsOf(WHOLE).seen(longest);
  // A slice that all orders are in says what the whole says.
  const slices =
    hasSlices(rule) && !isOff
      ? counts.slicesOf(gateway).filter((slice) => countsOf(slice).seen(longest) < all)
      : [];
  const judge = (slice: string, label: string, own = countsOf(slice, label)): Verdict => {
    const rows = usual.get(activityKey({ gateway, slice, label }));
    return verdictOf(rule, own, rows, setting, slice === WHOLE ? null : slices.length);
  };
  const verdicts = [WHOLE, ...slices].map((slice) => {
    const label = labelOf(slice);
    return { slice, label, verdict: judge(slice, label) };
  });
  const place = { rule: rule.name, gateway, label: ofAll };
  const lead = leadOf({
    verdicts: verdicts.map(({ slice, verdict }) => ({
      slice,
      holds: verdict.holds,
      strength: strengthOf(verdict),
    })),
    before: memory.leadBefore(place),
    holdsWithout: (slice) => {
      const label = labelOf(WHOLE);
      return judge(WHOLE, label, without(countsOf(WHOLE, label), countsOf(slice, label))).holds;
    },
  });
  const followed = memory.followed(place);
  return verdicts
    .filter(({ slice, verdict }) => slice === WHOLE || verdict.holds || followed.has(slice))
    .map(({ slice, label, verdict }) => {
      const { seen, affected, expected, limit, holds } = verdict;
      const base = rule.kind === 'drop' ? (expected ?? 0) : seen;
      const cause = holds ? suppressedBy(slice, lead) : '';
      const own = breachOf(rule, holds && cause === '', gateway, label, clocks);
      return {
        ...identity(rule, gateway, label, asOf, clocks),
        slice,
        window_from: (windowEnd - verdict.windowSeconds) * 1e6,
        window_to: windowEnd * 1e6,
        seen,
        affected,
        expected,
        limit,
        share: base > 0 ? affected / base : null,
        number: null,
        ...own,
        suppressed_by: cause === '' ? own.suppressed_by : cause,
      };
    });
}

/**
 * How much a slice explains: the affected orders beyond what is usual, times the share that they are of it. A
 * wider slice has no more of them and a smaller share, a narrower one has fewer.
 */
const strengthOf = ({ seen, affected, expected }: Verdict): number =>
  seen === 0 ? 0 : (affected - (expected ?? 0)) ** 2 / seen;

const without = (all: WindowCounts, some: WindowCounts): WindowCounts => ({
  seen: (seconds) => all.seen(seconds) - some.seen(seconds),
  hit: (seconds) => all.hit(seconds) - some.hit(seconds),
});

function verdictOf(
  rule: CountingRule,
  counts: WindowCounts,
  rows: readonly ActivityRow[] | undefined,
  setting: (name: string, otherwise: number) => number,
  amongSlices: number | null,
): Verdict {
  if (rule.kind === 'share') {
    const usualOf = amongSlices === null ? usualShare : usualShareOfSlice;
    const usual = rule.condition.baseline === undefined ? null : usualOf(rows ?? []);
    const settings = {
      shareAbove: setting('shareAbove', rule.condition.shareAbove),
      minimumAffectedOrders: setting('minimumAffectedOrders', rule.condition.minimumAffectedOrders),
    };
    return judgeShare(rule, counts, usual, settings, amongSlices);
  }
  return judgeDrop(rule, counts, rows === undefined ? NOTHING_USUAL : usualTraffic(rows), {
    below: setting('below', rule.condition.below),
    minimumExpectedOrders: setting('minimumExpectedOrders', rule.condition.minimumExpectedOrders),
  });
}
