import {
  type AlertMemory,
  type AlertState,
  type EvaluationOutcome,
  advance,
  isFiring,
  labelKey,
  RESOLVED_RETENTION_MS,
  type RuleMemory,
  until,
} from './alert-state.ts';
import { type Alert, alertOf, type AlertTexts } from '../explain/alert.ts';
import { createRuleQueries, type RuleQueries } from './rule-queries.ts';
import type { TableResult } from '../../store/store.ts';
import type { ProvisionedRule } from './rule-file.ts';
import type { StateStore } from './state-store.ts';
import { timingOf } from './timing.ts';

/** Evaluates rules one after the other and remembers their alerts. Knows no clock: instants come in. */
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
  /** The alerts that receivers are to know at `nowMs`: those that fire, and those that ended lately. */
  alerts(nowMs: number): Alert[];
  /** How many instances fire, by severity. */
  firing(): ReadonlyMap<string, number>;
}

/** The moment of an evaluation, in milliseconds. */
export interface Instant {
  /** Since 1970, by a wall clock that can be set forward and back. */
  readonly nowMs: number;
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
  readonly states: StateStore;
}

/** An alert that ended with its series: no longer in a rule's memory, and receivers still have to know. */
export interface DepartedAlert {
  readonly rule: ProvisionedRule;
  readonly alert: AlertMemory;
  /** The state under which receivers know it. */
  readonly firedAs: AlertState | undefined;
}

/** All that an evaluator remembers, as data. */
export interface EvaluatorState {
  /** By rule uid. */
  readonly memory: ReadonlyMap<string, RuleMemory>;
  /** By rule uid: its last evaluation on the steady clock. */
  readonly evaluatedMs: ReadonlyMap<string, number>;
  readonly departed: readonly DepartedAlert[];
}

export const NOTHING_EVALUATED: EvaluatorState = { memory: new Map(), evaluatedMs: new Map(), departed: [] };

/** What is remembered after one rule was evaluated, and every alert that this touched. */
export function withEvaluation(
  state: EvaluatorState,
  rule: ProvisionedRule,
  outcome: EvaluationOutcome,
  { nowMs, steadyMs }: Instant,
): { readonly state: EvaluatorState; readonly alerts: readonly AlertMemory[] } {
  const before = state.memory.get(rule.uid) ?? new Map<string, AlertMemory>();
  const last = state.evaluatedMs.get(rule.uid);
  const passedMs = last === undefined ? undefined : steadyMs - last;
  const { memory, alerts } = advance(timingOf(rule), before, outcome, nowMs, passedMs);
  const departed = alerts
    .filter(({ reason, resolvedAt }) => reason === 'MissingSeries' && resolvedAt === nowMs)
    .map((alert) => ({ rule, alert, firedAs: before.get(labelKey(alert.labels))?.state }));
  return {
    state: {
      memory: new Map(state.memory).set(rule.uid, memory),
      evaluatedMs: new Map(state.evaluatedMs).set(rule.uid, steadyMs),
      departed: [...state.departed.filter(({ alert }) => isRecent(alert, nowMs)), ...departed],
    },
    alerts,
  };
}

/** The alerts that receivers are to know at `nowMs`. */
export function alertsAt(
  { memory, departed }: EvaluatorState,
  rules: readonly ProvisionedRule[],
  texts: AlertTexts,
  nowMs: number,
): Alert[] {
  const known = rules.flatMap((rule) =>
    [...(memory.get(rule.uid)?.values() ?? [])].map((alert) => ({ rule, alert, firedAs: alert.state })),
  );
  return [...known, ...departed].flatMap(({ rule, alert, firedAs }) => {
    // An evaluation can take longer than receivers trust the one before.
    const held = isFiring(alert.state)
      ? { ...alert, endsAt: until(timingOf(rule), nowMs) }
      : notInFuture(alert, nowMs);
    const shown = isRecent(held, nowMs) ? alertOf(rule, held, texts, firedAs) : null;
    return shown === null ? [] : [shown];
  });
}

/** How many instances fire, by severity. */
export function firingBySeverity(
  { memory }: EvaluatorState,
  rules: readonly ProvisionedRule[],
): Map<string, number> {
  const counts = new Map<string, number>();
  for (const rule of rules) {
    const severity = rule.labels['severity'] ?? '';
    counts.set(severity, (counts.get(severity) ?? 0) + firingOf(memory.get(rule.uid)).length);
  }
  return counts;
}

const firingOf = (memory: RuleMemory | undefined): AlertMemory[] =>
  [...(memory?.values() ?? [])].filter(({ state }) => isFiring(state));

const isRecent = ({ state, resolvedAt }: AlertMemory, nowMs: number): boolean =>
  isFiring(state) || (resolvedAt !== null && nowMs - resolvedAt <= RESOLVED_RETENTION_MS);

/**
 * After a clock was set back, an end may lie in the future: receivers would take it for firing until then.
 */
const notInFuture = (alert: AlertMemory, nowMs: number): AlertMemory =>
  alert.resolvedAt !== null && alert.resolvedAt > nowMs
    ? { ...alert, resolvedAt: nowMs - alert.heldMs - alert.missingForMs }
    : alert;

export function createEvaluator(options: EvaluatorOptions): Evaluator {
  const { query, states } = options;
  const rules = options.rules.filter(({ isPaused }) => !isPaused);
  let state = NOTHING_EVALUATED;
  // A rule's numbers in one statement: planning it costs more than running it. A rule that fires needs the
  // numbers of its texts as well.
  const withoutTexts = createRuleQueries({ query, concurrency: 1 });
  const withTexts = createRuleQueries({ query, concurrency: 1, texts: true });

  return {
    intervalsMs: [...new Set(rules.map((rule) => timingOf(rule).intervalMs))],
    async resume() {
      state = { ...state, memory: await states.load() };
    },
    async tick(intervalMs, instant, signal, afterRule) {
      const failures: RuleFailure[] = [];
      for (const rule of rules) {
        if (timingOf(rule).intervalMs !== intervalMs) continue;
        if (signal.aborted) break;
        const before = state.memory.get(rule.uid) ?? new Map<string, AlertMemory>();
        const source = firingOf(before).length > 0 ? withTexts : withoutTexts;
        const outcome = await outcomeOf(source, rule, instant.nowMs);
        if (outcome.kind === 'error') failures.push({ rule: rule.title, error: outcome.error });
        const step = withEvaluation(state, rule, outcome, instant);
        state = step.state;
        try {
          await states.save(rule, before, step.alerts);
        } catch (error) {
          // The page matters more than its record; the next evaluation writes it down.
          failures.push({ rule: rule.title, error });
        }
        afterRule?.();
      }
      return failures;
    },
    alerts: (nowMs) => alertsAt(state, rules, options, nowMs),
    firing: () => firingBySeverity(state, rules),
  };
}

async function outcomeOf(
  source: RuleQueries,
  rule: ProvisionedRule,
  nowMs: number,
): Promise<EvaluationOutcome & { error?: unknown }> {
  try {
    const [evaluation] = await source.evaluate(rule, [new Date(nowMs)]);
    if (evaluation === undefined || evaluation.noData) return { kind: 'no-data' };
    return { kind: 'instances', instances: evaluation.instances };
  } catch (error) {
    return { kind: 'error', message: String((error as Error).message).slice(0, 500), error };
  }
}
