import {
  advance,
  type AlertMemory,
  isFiring,
  labelKey,
  type Labels,
  type RuleMemory,
} from '../evaluate/alert-state.ts';
import type { Evaluation } from '../evaluate/evaluation.ts';
import { instanceOf } from '../evaluate/instance.ts';
import { ruleTiming } from '../evaluate/timing.ts';
import type { Rule } from '../rules/rule.ts';
import { type Compared, comparedOf } from './headline.ts';

/** One alert: from the first evaluation that saw the condition to the one that resolved it. */
export interface Episode {
  readonly pendingAtMs: number;
  /** Null: the condition ended before `for` had passed. It notifies nobody. */
  readonly firedAtMs: number | null;
  /** Null: still going on at the end. */
  readonly resolvedAtMs: number | null;
  /** What the page shows: the values when it fired, or when it began. */
  readonly values: Readonly<Record<string, number | null>>;
}

export interface InstanceReplay {
  readonly labels: Labels;
  /** In order of time. */
  readonly episodes: readonly Episode[];
  /** By evaluation; null where the label set had no row. */
  readonly compared: readonly (Compared | null)[];
}

export interface RuleReplay {
  readonly rule: Rule;
  readonly instantsMs: readonly number[];
  /** By gateway, then by label. */
  readonly instances: readonly InstanceReplay[];
}

/** Takes in the evaluations of one rule, oldest first, and follows what becomes of its alerts. */
export interface Replaying {
  readonly add: (atMs: number, rows: readonly Evaluation[]) => void;
  readonly replay: () => RuleReplay;
}

interface Open {
  readonly labels: Labels;
  readonly episodes: Episode[];
  readonly compared: (Compared | null)[];
  quiet: boolean;
}

/** @param stepMs time between evaluations. All instances are quiet at the beginning. */
export function createReplay(rule: Rule, stepMs: number): Replaying {
  const timing = { ...ruleTiming(rule), intervalMs: stepMs };
  const instantsMs: number[] = [];
  const instances = new Map<string, Open>();
  let memory: RuleMemory = new Map();
  return {
    replay: () => ({
      rule,
      instantsMs,
      instances: [...instances]
        .toSorted(([one], [other]) => (one < other ? -1 : 1))
        .map(([, { labels, episodes, compared }]) => ({ labels, episodes, compared })),
    }),
    add(atMs, rows) {
      const seen = rows.map((row) => instanceOf(rule, row));
      const step = advance(timing, memory, { kind: 'instances', instances: seen }, atMs);
      memory = step.memory;
      const present = new Map(seen.map(({ labels, values }) => [labelKey(labels), values]));
      for (const alert of step.alerts) {
        const key = labelKey(alert.labels);
        const values = present.get(key);
        const open = instances.get(key) ?? { labels: alert.labels, episodes: [], compared: [], quiet: true };
        instances.set(key, open);
        while (open.compared.length < instantsMs.length) open.compared.push(null);
        open.compared.push(values === undefined ? null : comparedOf(rule, values));
        follow(open, alert, atMs);
      }
      instantsMs.push(atMs);
    },
  };
}

/** An episode begins as the instance leaves normal and ends as it comes back. */
function follow(open: Open, { state, values }: AlertMemory, atMs: number): void {
  const wasQuiet = open.quiet;
  open.quiet = state === 'Normal';
  const last = open.episodes.at(-1);
  const fired = isFiring(state);
  if (wasQuiet && !open.quiet)
    open.episodes.push({ pendingAtMs: atMs, firedAtMs: fired ? atMs : null, resolvedAtMs: null, values });
  else if (last === undefined || wasQuiet) return;
  else if (open.quiet) open.episodes[open.episodes.length - 1] = { ...last, resolvedAtMs: atMs };
  else if (fired && last.firedAtMs === null)
    open.episodes[open.episodes.length - 1] = { ...last, firedAtMs: atMs, values };
}
