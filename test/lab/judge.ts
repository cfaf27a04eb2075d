import {
  type ActivityRow,
  hasBaseline,
  spanOf,
  usualShare,
  usualShareOfSlice,
  usualTraffic,
} from '../../alerts/count/usual.ts';
import { lengthsOf } from '../../alerts/count/windows.ts';
import { judgeDrop, type UsualTraffic } from '../../alerts/evaluate/judge-drop.ts';
import { judgeShare, type Verdict, type WindowCounts } from '../../alerts/evaluate/judge-share.ts';
import type { CountingRule, DropRule, ShareRule } from '../../alerts/rules/rule.ts';
import type { Measure } from './counts.ts';
import { DAY } from './seasons.ts';

/** Orders of a rule under one label. */
export interface RuleCounts {
  readonly seen: Measure;
  readonly hit: Measure;
}

export interface Judge {
  readonly verdict: (known: number, end: number, at: number) => Verdict;
  /** Whether the condition holds; quick where it plainly does not. */
  readonly holds: (known: number, end: number, at: number) => boolean;
}

/**
 * The product's own judgement, over counts by minute.
 *
 * @param amongSlices of a slice, how many there are; null: the whole gateway
 */
export const createJudge = (rule: CountingRule, counts: RuleCounts, amongSlices: number | null): Judge =>
  rule.kind === 'share' ? shareJudge(rule, counts, amongSlices) : dropJudge(rule, counts);

function shareJudge(rule: ShareRule, counts: RuleCounts, amongSlices: number | null): Judge {
  const { condition } = rule;
  const usualOf = amongSlices === null ? usualShare : usualShareOfSlice;
  const usualAt = hasBaseline(rule) ? eachQuarter(rule, counts, usualOf) : () => null;
  // What lies above no window's share is no incident, whatever else the condition says.
  const isAbove = (known: number, end: number, usual: number | undefined): boolean =>
    condition.windows.some(({ windowSeconds, shareAbove = condition.shareAbove }) => {
      const affected = counts.hit.within(known, end, windowSeconds / 60);
      if (affected < condition.minimumAffectedOrders) return false;
      const p = Math.min(1, usual ?? shareAbove);
      return affected > p * counts.seen.within(known, end, windowSeconds / 60);
    });
  const verdict: Judge['verdict'] = (known, end, at) =>
    judgeShare(rule, windowCounts(counts, known, end), usualAt(seenAt(at, end)), condition, amongSlices);
  return {
    verdict,
    holds: (known, end, at) =>
      isAbove(known, end, usualAt(seenAt(at, end))?.share) && verdict(known, end, at).holds,
  };
}

function dropJudge(rule: DropRule, counts: RuleCounts): Judge {
  const lengths = lengthsOf(rule);
  const usualAt = eachQuarter(rule, counts, (rows) => workedOut(usualTraffic(rows), lengths));
  const verdict: Judge['verdict'] = (known, end, at) =>
    judgeDrop(rule, windowCounts(counts, known, end), usualAt(seenAt(at, end)), rule.condition);
  return { verdict, holds: (known, end, at) => verdict(known, end, at).holds };
}

const windowCounts = ({ seen, hit }: RuleCounts, known: number, end: number): WindowCounts => ({
  seen: (windowSeconds) => seen.within(known, end, windowSeconds / 60),
  hit: (windowSeconds) => hit.within(known, end, windowSeconds / 60),
});

const QUARTER = 15;

/** What is usual when our picture of the gateway is old is what was usual then. */
const seenAt = (at: number, end: number): number => (end < at - 30 ? end : at);

/** What is usual changes with the quarter of the hour only. */
function eachQuarter<T>(
  rule: CountingRule,
  counts: RuleCounts,
  usualOf: (rows: readonly ActivityRow[]) => T,
): (at: number) => T {
  let last: { readonly quarter: number; readonly usual: T } | null = null;
  return (at) => {
    const quarter = Math.floor(at / QUARTER);
    if (last?.quarter !== quarter) last = { quarter, usual: usualOf(activityAt(rule, counts, quarter)) };
    return last.usual;
  };
}

/** The rows that `usualCounting` gives: stretches without orders have none. */
function activityAt(
  rule: CountingRule,
  { seen: usualSeen, hit: usualHit }: RuleCounts,
  quarter: number,
): ActivityRow[] {
  const { days, from, to, stretch } = spanOf(rule);
  const rows: ActivityRow[] = [];
  for (const day of days)
    for (let first = from; first < to; first += stretch) {
      const begin = (quarter + first) * QUARTER - day * DAY;
      const end = begin + (Math.min(first + stretch, to) - first) * QUARTER;
      const seen = usualSeen.between(begin, end);
      const hit = usualHit.between(begin, end);
      if (seen > 0)
        rows.push({ gateway: 'lab', slice: '', label: '', day, place: first / stretch, seen, hit });
    }
  return rows;
}

/** Asked every minute, so kept as numbers. */
function workedOut(usual: UsualTraffic, lengths: readonly number[]): UsualTraffic {
  const table = (of: (windowSeconds: number) => number): ((windowSeconds: number) => number) => {
    const numbers = new Map(lengths.map((windowSeconds) => [windowSeconds, of(windowSeconds)]));
    return (windowSeconds) => numbers.get(windowSeconds) ?? 0;
  };
  return { ...usual, expected: table(usual.expected), following: table(usual.following) };
}
