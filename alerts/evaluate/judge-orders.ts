import { type Clocks, endOf, settingOf, type WindowEnds } from '../count/clocks.ts';
import { labelsOf } from '../count/order-count.ts';
import type { OrderCounts } from '../count/order-counts.ts';
import { WHOLE } from '../count/slices.ts';
import { type ActivityRow, hasSlices, usualShare, usualShareOfSlice, usualTraffic } from '../count/usual.ts';
import { lengthsOf } from '../count/windows.ts';
import type { CountingRule } from '../rules/rule.ts';
import type { BreachMemory } from './breach-memory.ts';
import { judgeDrop, NOTHING_USUAL } from './judge-drop.ts';
import { judgeShare, type Verdict, type WindowCounts } from './judge-share.ts';
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
  const labelsAt = judgedLabels(rule, counted);
  return ends.flatMap((end) =>
    labelsAt(end.gateway).flatMap((label) => judgeSymptom(rule, label, end, counted, usual)),
  );
}

const usualOf = (rule: string, counted: Counted) =>
  Map.groupBy(counted.usual.get(rule) ?? [], activityKey) as ReadonlyMap<string, readonly ActivityRow[]>;

/** The labels that a rule is judged under at a gateway: of thresholds one. */
function judgedLabels(rule: CountingRule, counted: Counted): (gateway: string) => readonly string[] {
  const { counts } = rule.count;
  const threshold = rule.kind === 'share' ? rule.threshold : undefined;
  if (threshold === undefined) return () => labelsOf(rule.count);
  const { rules, usuallyAtMost } = threshold;
  const usual = usualOf(rules[0], counted);
  return (gateway) => {
    const wanted = settingOf(counted.clocks, rules[0], gateway, 'slowerThanSeconds', 0);
    const label = thresholdOf({
      counts,
      usualOf: (one) => usualShare(usual.get(activityKey({ gateway, slice: WHOLE, label: one })) ?? []),
      usuallyAtMost,
      wantedSeconds: wanted > 0 ? wanted : null,
      before: counted.memory.labelBefore(rules, gateway),
    });
    return [label];
  };
}

const activityKey = ({ gateway, slice, label }: Pick<ActivityRow, 'gateway' | 'slice' | 'label'>): string =>
  `${gateway}|${slice}|${label}`;

/** One rule at one gateway under one label: the whole gateway, and its slices where they matter. */
function judgeSymptom(
  rule: CountingRule,
  label: string,
  ends: WindowEnds,
  { counts, clocks, asOf, memory }: Counted,
  usual: ReadonlyMap<string, readonly ActivityRow[]>,
): Judged[] {
  const { gateway } = ends;
  const windowEnd = endOf(rule, ends, asOf);
  const isOff = isSwitchedOff(rule, gateway, label, clocks);
  const setting = (name: string, otherwise: number): number =>
    settingOf(clocks, rule.name, gateway, name, otherwise);
  const rowsOf = (slice: string) => usual.get(activityKey({ gateway, slice, label }));
  const countsOf = (slice: string) => counts.of({ rule: rule.name, gateway, slice, label });
  const longest = Math.max(...lengthsOf(rule));
  const all = countsOf(WHOLE).seen(longest);
  // A slice that all orders are in says what the whole says.
  const slices =
    hasSlices(rule) && !isOff
      ? counts.slicesOf(gateway).filter((slice) => countsOf(slice).seen(longest) < all)
      : [];
  const judge = (slice: string, own = countsOf(slice)): Verdict =>
    verdictOf(rule, own, rowsOf(slice), setting, slice === WHOLE ? null : slices.length);
  const verdicts = [WHOLE, ...slices].map((slice) => ({ slice, verdict: judge(slice) }));
  const place = { rule: rule.name, gateway, label };
  const lead = leadOf({
    verdicts: verdicts.map(({ slice, verdict }) => ({
      slice,
      holds: verdict.holds,
      strength: strengthOf(verdict),
    })),
    before: memory.leadBefore(place),
    holdsWithout: (slice) => judge(WHOLE, without(countsOf(WHOLE), countsOf(slice))).holds,
  });
  const followed = memory.followed(place);
  return verdicts
    .filter(({ slice, verdict }) => slice === WHOLE || verdict.holds || followed.has(slice))
    .map(({ slice, verdict }) => {
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
