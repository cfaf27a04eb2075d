import { advance, type AlertMemory, isFiring, labelKey, type RuleMemory } from '../evaluate/alert-state.ts';
import type { RuleEvaluation } from '../evaluate/evaluate-rule.ts';
import type { Labels } from '../evaluate/math.ts';
import type { ProvisionedRule } from '../evaluate/rule-file.ts';
import { timingOf } from '../evaluate/timing.ts';
import type { RuleQueries } from '../evaluate/rule-queries.ts';

export interface ReplayOptions {
  readonly source: RuleQueries;
  readonly fromMs: number;
  /** Inclusive. */
  readonly toMs: number;
  /**
   * Between evaluations. Grafana's is the group's interval: a longer one is coarser than what Grafana would
   * do.
   */
  readonly stepMs: number;
  /** Evaluations that are asked for at once. @default 60 */
  readonly batch?: number;
  /** Called after each batch with the number of evaluations so far. */
  readonly onProgress?: (done: number) => void;
}

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
  readonly values: readonly (Readonly<Record<string, number | null>> | null)[];
}

export interface RuleReplay {
  readonly rule: ProvisionedRule;
  readonly instantsMs: readonly number[];
  /** Label sets in the order of their first appearance. */
  readonly instances: readonly InstanceReplay[];
}

interface Open {
  readonly labels: Labels;
  readonly episodes: Episode[];
  readonly values: (Readonly<Record<string, number | null>> | null)[];
  quiet: boolean;
}

/** Evaluations from `fromMs` to `toMs`, on whole multiples of the step as Grafana's scheduler ticks. */
export function instantsOf({
  fromMs,
  toMs,
  stepMs,
}: Pick<ReplayOptions, 'fromMs' | 'toMs' | 'stepMs'>): number[] {
  const first = Math.ceil(fromMs / stepMs) * stepMs;
  const count = Math.max(0, Math.floor((toMs - first) / stepMs) + 1);
  return Array.from({ length: count }, (_, index) => first + index * stepMs);
}

/** Evaluates one rule over the past as Grafana would have. All instances are quiet at the beginning. */
export async function replayRule(rule: ProvisionedRule, options: ReplayOptions): Promise<RuleReplay> {
  const { source, batch = 60, stepMs, onProgress } = options;
  const instantsMs = instantsOf(options);
  const timing = { ...timingOf(rule), intervalMs: stepMs };
  const instances = new Map<string, Open>();
  let memory: RuleMemory = new Map();
  for (let at = 0; at < instantsMs.length; at += batch) {
    const some = instantsMs.slice(at, at + batch);
    const evaluations = await source.evaluate(
      rule,
      some.map((ms) => new Date(ms)),
    );
    for (const [offset, evaluation] of evaluations.entries()) {
      const now = some[offset] ?? 0;
      const outcome = evaluation.noData
        ? ({ kind: 'no-data' } as const)
        : ({ kind: 'instances', instances: evaluation.instances } as const);
      const step = advance(timing, memory, outcome, now);
      memory = step.memory;
      take(instances, step.alerts, evaluation, at + offset, now);
    }
    onProgress?.(Math.min(at + batch, instantsMs.length));
  }
  return { rule, instantsMs, instances: [...instances.values()] };
}

function take(
  instances: Map<string, Open>,
  alerts: readonly AlertMemory[],
  evaluation: RuleEvaluation,
  index: number,
  atMs: number,
): void {
  const present = new Map(evaluation.instances.map(({ labels, values }) => [labelKey(labels), values]));
  for (const alert of alerts) {
    const key = labelKey(alert.labels);
    const open: Open = instances.get(key) ?? { labels: alert.labels, episodes: [], values: [], quiet: true };
    instances.set(key, open);
    while (open.values.length < index) open.values.push(null);
    open.values.push(present.get(key) ?? null);
    follow(open, alert, atMs);
  }
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
