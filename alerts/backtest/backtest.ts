import type { Evaluation } from '../evaluate/evaluation.ts';
import { evaluationsAt } from '../evaluate/evaluation-store.ts';
import { view } from '../../schemas/measures.ts';
import { type Rule, RULE_GROUPS } from '../rules/rule.ts';
import type { Trial } from './overrides.ts';
import { createRecount } from './recount.ts';
import { createReplay, type Replaying, type RuleReplay } from './replay.ts';
import { type RuleSummary, summarize } from './summary.ts';

export interface BacktestRange {
  readonly fromMs: number;
  /** Inclusive. */
  readonly toMs: number;
  /** Whole seconds between evaluations, in milliseconds; null: each rule's own interval. */
  readonly stepMs: number | null;
}

export interface BacktestOptions extends BacktestRange {
  readonly trials: readonly Trial[];
  /** Runs one SELECT with the collector's rights; whole numbers up to 2 ** 53 come exact. */
  readonly query: <T>(sql: string) => Promise<T[]>;
  /**
   * What the configuration says, by rule, gateway and setting with bars between: a store in which no
   * collector ran does not know. @default as it is stored
   */
  readonly settings?: ReadonlyMap<string, number> | undefined;
  /** Instants that are read at once. @default 120 */
  readonly batch?: number;
  /** Called after each instant. */
  readonly onProgress?: (done: number, total: number, atMs: number) => void;
}

export interface ReplayedRule {
  readonly replay: RuleReplay;
  readonly summary: RuleSummary;
}

/** One rule, while it is replayed. */
interface Run {
  readonly rule: Rule;
  readonly stepMs: number;
  /** Other limits are tried: what was stored says nothing. */
  readonly isChanged: boolean;
  readonly replaying: Replaying;
  recounted: number;
}

/**
 * Replays rules over the past: from the evaluations that were stored, and where there are none from a new
 * count of what was known at that instant.
 */
export async function runBacktest(options: BacktestOptions): Promise<ReplayedRule[]> {
  const { trials, query, batch = 120, onProgress } = options;
  const changed = trials.filter(({ limits }) => Object.keys(limits).length > 0).map(({ rule }) => rule.name);
  const runs = trials.map(({ rule }): Run => {
    const stepMs = stepOf(rule, options.stepMs);
    // A rule is silent while the one that names the cause holds, so that one's limits matter as well.
    const isChanged = changed.some((name) => name === rule.name || name === rule.suppressedBy);
    return { rule, stepMs, isChanged, replaying: createReplay(rule, stepMs), recounted: 0 };
  });
  const recount = createRecount(
    query,
    Object.fromEntries(trials.map(({ rule, limits }) => [rule.name, limits])),
    options.settings,
  );
  const switchedOn = await rulesSwitchedOn(options);
  const instants = instantsOf(options, new Set(runs.map(({ stepMs }) => stepMs)));
  for (let first = 0; first < instants.length; first += batch) {
    const some = instants.slice(first, first + batch);
    const stored = await readStored(query, runs, some);
    for (const [index, atMs] of some.entries()) {
      const due = runs.filter(({ stepMs }) => atMs % stepMs === 0);
      const read = stored.get(atMs) ?? [];
      const missing = due.filter((run) => !read.some(({ rule }) => rule === run.rule.name));
      const counted = await recount(
        missing.map(({ rule }) => rule),
        atMs,
      );
      for (const run of missing) run.recounted += 1;
      const rows = Map.groupBy([...read, ...counted], ({ rule }) => rule);
      for (const { rule, replaying } of due) replaying.add(atMs, rows.get(rule.name) ?? []);
      onProgress?.(first + index + 1, instants.length, atMs);
    }
  }
  return runs.map(({ replaying, stepMs, recounted }) => {
    const replay = replaying.replay();
    const isOff = replay.rule.offByDefault === true && !switchedOn.has(replay.rule.name);
    return { replay, summary: summarize(replay, stepMs, recounted, isOff) };
  });
}

/** The rules that a setting switches on, for some gateway at least. */
async function rulesSwitchedOn({ query, settings }: BacktestOptions): Promise<ReadonlySet<string>> {
  const stored = await query<{ rule: string }>(
    `SELECT DISTINCT toString(rule) AS rule FROM ${view('alertSettings')} WHERE startsWith(setting, 'enabled') AND value != 0`,
  );
  const own = [...(settings ?? [])].flatMap(([key, value]) => {
    const [rule = '', , setting = ''] = key.split('|');
    return setting.startsWith('enabled') && value !== 0 ? [rule] : [];
  });
  return new Set([...stored.map(({ rule }) => rule), ...own]);
}

/** Slow rules are evaluated no more often than their group is. */
function stepOf({ group = 'fast' }: Rule, wantedMs: number | null): number {
  const ownMs = RULE_GROUPS[group].intervalSeconds * 1000;
  return group === 'slow' ? Math.max(ownMs, wantedMs ?? 0) : (wantedMs ?? ownMs);
}

/** All instants of these steps, on whole multiples as evaluations are. */
function instantsOf({ fromMs, toMs }: BacktestRange, stepsMs: ReadonlySet<number>): number[] {
  const instants = new Set<number>();
  for (const stepMs of stepsMs)
    for (let atMs = Math.ceil(fromMs / stepMs) * stepMs; atMs <= toMs; atMs += stepMs) instants.add(atMs);
  return [...instants].toSorted((a, b) => a - b);
}

function readStored(
  query: BacktestOptions['query'],
  runs: readonly Run[],
  instantsMs: readonly number[],
): Promise<Map<number, Evaluation[]>> {
  const names = runs.filter(({ isChanged }) => !isChanged).map(({ rule }) => rule.name);
  return names.length === 0 ? Promise.resolve(new Map()) : evaluationsAt(query, names, instantsMs);
}
