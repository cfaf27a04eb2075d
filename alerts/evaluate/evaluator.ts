import {
  advance,
  type AlertMemory,
  type AlertState,
  type EvaluationOutcome,
  isFiring,
  labelKey,
  type RuleMemory,
  type RuleTiming,
  until,
} from './advance.ts';
import { type Alert, alertOf, type AlertTexts } from '../explain/alert.ts';
import { createReferenceSource } from './reference-source.ts';
import type { TableResult } from '../../store/store.ts';
import type { ProvisionedRule } from './rule-file.ts';
import type { StateBook } from './state-book.ts';
import { timingOf } from './timing.ts';

/**
 * Evaluates rules one after the other and remembers what became of their alerts. Knows no clock: instants
 * come in.
 */
export interface Evaluator {
  /** The lengths of the intervals that the rules have, in milliseconds. */
  readonly intervalsMs: readonly number[];
  /** Goes on where the last evaluation in the store was. */
  resume(): Promise<void>;
  /**
   * Evaluates the rules of one interval at an instant, and calls `afterRule` after each. Returns those that
   * could not be.
   */
  tick(
    intervalMs: number,
    instant: Instant,
    signal: AbortSignal,
    afterRule?: () => void,
  ): Promise<readonly RuleFailure[]>;
  /** What fires, and what ended within the retention, as receivers that are told at `now` should know it. */
  alerts(now: number): Alert[];
  /** How many instances fire, by severity. */
  firing(): ReadonlyMap<string, number>;
}

/** The moment of an evaluation, in milliseconds. */
export interface Instant {
  /** Since 1970, by a wall clock that can be set forward and back. */
  readonly now: number;
  /** On a clock that only runs. */
  readonly steadyMs: number;
}

export interface RuleFailure {
  readonly rule: string;
  readonly error: unknown;
}

export interface EvaluatorOptions extends AlertTexts {
  readonly rules: readonly ProvisionedRule[];
  readonly query: (sql: string) => Promise<TableResult>;
  readonly book: StateBook;
}

/** An end that a clock which was set back since puts into the future would read as firing until then. */
const notInFuture = (alert: AlertMemory, now: number): AlertMemory =>
  alert.resolvedAt !== null && alert.resolvedAt > now
    ? { ...alert, resolvedAt: now - alert.heldMs - alert.missedMs }
    : alert;

/** What has ended is repeated to receivers for so long. */
const RESOLVED_RETENTION_MS = 15 * 60_000;

export function createEvaluator(options: EvaluatorOptions): Evaluator {
  const { query, book } = options;
  const rules = options.rules.filter(({ isPaused }) => !isPaused);
  const timings = new Map<string, RuleTiming>(rules.map((rule) => [rule.uid, timingOf(rule)]));
  let memory = new Map<string, RuleMemory>();
  /** By rule: the last evaluation on the steady clock. */
  const evaluatedMs = new Map<string, number>();
  /** Ended with their series: no longer in a rule's memory, and still to be told. */
  let departed: {
    readonly rule: ProvisionedRule;
    readonly alert: AlertMemory;
    readonly firedAs: AlertState | undefined;
  }[] = [];

  // A rule's numbers in one statement: planning it costs more than running it. What is told needs its texts
  // as well.
  const quiet = createReferenceSource({ query, concurrency: 1 });
  const telling = createReferenceSource({ query, concurrency: 1, texts: true });

  async function outcomeOf(
    rule: ProvisionedRule,
    now: number,
  ): Promise<EvaluationOutcome & { error?: unknown }> {
    const fires = [...(memory.get(rule.uid)?.values() ?? [])].some(({ state }) => isFiring(state));
    try {
      const [evaluation] = await (fires ? telling : quiet).evaluate(rule, [new Date(now)]);
      if (evaluation === undefined || evaluation.noData) return { kind: 'no-data' };
      return { kind: 'instances', instances: evaluation.instances };
    } catch (error) {
      return { kind: 'error', message: String((error as Error).message).slice(0, 500), error };
    }
  }

  return {
    intervalsMs: [...new Set([...timings.values()].map(({ intervalMs }) => intervalMs))],
    async resume() {
      memory = await book.load();
    },
    async tick(intervalMs, { now, steadyMs }, signal, afterRule) {
      const failures: RuleFailure[] = [];
      for (const rule of rules) {
        const timing = timings.get(rule.uid);
        if (timing === undefined || timing.intervalMs !== intervalMs) continue;
        if (signal.aborted) break;
        const outcome = await outcomeOf(rule, now);
        if (outcome.kind === 'error') failures.push({ rule: rule.title, error: outcome.error });
        const before = memory.get(rule.uid) ?? new Map<string, AlertMemory>();
        const last = evaluatedMs.get(rule.uid);
        const step = advance(timing, before, outcome, now, last === undefined ? undefined : steadyMs - last);
        evaluatedMs.set(rule.uid, steadyMs);
        memory.set(rule.uid, step.memory);
        departed.push(
          ...step.alerts
            .filter(({ reason, resolvedAt }) => reason === 'MissingSeries' && resolvedAt === now)
            .map((alert) => ({ rule, alert, firedAs: before.get(labelKey(alert.labels))?.state })),
        );
        try {
          await book.save(rule, before, step.alerts);
        } catch (error) {
          // The page matters more than its record; the next evaluation writes it down.
          failures.push({ rule: rule.title, error });
        }
        afterRule?.();
      }
      return failures;
    },
    alerts(now) {
      const recent = ({ state, resolvedAt }: AlertMemory): boolean =>
        isFiring(state) || (resolvedAt !== null && now - resolvedAt <= RESOLVED_RETENTION_MS);
      departed = departed.filter(({ alert }) => recent(alert));
      const known = rules.flatMap((rule) =>
        [...(memory.get(rule.uid)?.values() ?? [])].map((alert) => ({ rule, alert, firedAs: alert.state })),
      );
      return [...known, ...departed].flatMap(({ rule, alert, firedAs }) => {
        const timing = timings.get(rule.uid);
        // An evaluation can take longer than receivers would go on believing the one before.
        const held =
          isFiring(alert.state) && timing !== undefined
            ? { ...alert, endsAt: until(timing, now) }
            : notInFuture(alert, now);
        const told = recent(held) ? alertOf(rule, held, options, firedAs) : null;
        return told === null ? [] : [told];
      });
    },
    firing() {
      const counts = new Map<string, number>();
      for (const rule of rules) {
        const severity = rule.labels['severity'] ?? '';
        const firing = [...(memory.get(rule.uid)?.values() ?? [])].filter(({ state }) =>
          isFiring(state),
        ).length;
        counts.set(severity, (counts.get(severity) ?? 0) + firing);
      }
      return counts;
    },
  };
}
