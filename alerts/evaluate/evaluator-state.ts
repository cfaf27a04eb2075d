import { type Alert, alertOf } from '../explain/alert.ts';
import type { PageSettings } from '../explain/page.ts';
import { isHeartbeat, type Rule, type RuleGroupName } from '../rules/rule.ts';
import {
  advance,
  type AlertMemory,
  isFiring,
  labelKey,
  RESOLVED_RETENTION_MS,
  type RuleMemory,
  until,
} from './alert-state.ts';
import type { EvaluatedInstant } from './due.ts';
import type { Evaluation } from './evaluation.ts';
import { instanceOf } from './instance.ts';
import type { KnownAlerts } from './state-store.ts';
import { ruleTiming } from './timing.ts';

/** All that the collector that evaluates remembers, as data, and what becomes of it. */
export interface EvaluatorState {
  /** By rule uid. */
  readonly memory: ReadonlyMap<string, RuleMemory>;
  readonly departed: readonly DepartedAlert[];
  /** The newest instant that was evaluated. */
  readonly last: EvaluatedInstant | null;
  /**
   * How much time has passed since the rules of a group were evaluated. Missing until they are: then an
   * alert's own state counts.
   */
  readonly passedMs: ReadonlyMap<RuleGroupName, number>;
}

/** An alert that ended with its series: no longer in a rule's memory, and receivers still have to know. */
export interface DepartedAlert {
  readonly rule: Rule;
  readonly alert: AlertMemory;
}

/** What the evaluation of one rule did. */
export interface RuleStep {
  readonly rule: Rule;
  readonly before: RuleMemory;
  /** Every alert that it touched. */
  readonly alerts: readonly AlertMemory[];
}

export const NOTHING_EVALUATED: EvaluatorState = {
  memory: new Map(),
  departed: [],
  last: null,
  passedMs: new Map(),
};

/** Where the evaluator before left off. `last`: the newest instant that has evaluations. */
export function resumedState(
  rules: readonly Rule[],
  stored: KnownAlerts,
  last: EvaluatedInstant | null,
): EvaluatorState {
  const hasDeparted = ({ reason }: AlertMemory): boolean => reason === 'MissingSeries';
  return {
    ...NOTHING_EVALUATED,
    memory: new Map(
      [...stored].map(([uid, known]) => [
        uid,
        new Map([...known].filter(([, alert]) => !hasDeparted(alert))),
      ]),
    ),
    departed: rules.flatMap((rule) =>
      [...(stored.get(rule.uid)?.values() ?? [])].filter(hasDeparted).map((alert) => ({ rule, alert })),
    ),
    last,
  };
}

/** An instant with what the rules saw. */
export interface Observed {
  readonly asOfMs: number;
  readonly steadyMs: number | null;
  /** Since the instant before; undefined: as the alerts' own states say. */
  readonly passedMs?: number;
  readonly rows: readonly Evaluation[];
  /** The rules that were evaluated. */
  readonly groups: readonly RuleGroupName[];
}

/** After one instant: what is remembered, and what that did to each rule. */
export function withInstant(
  state: EvaluatorState,
  rules: readonly Rule[],
  { asOfMs, steadyMs, passedMs, rows, groups }: Observed,
): { readonly state: EvaluatorState; readonly steps: readonly RuleStep[] } {
  const due = new Set(groups);
  const seen = Map.groupBy(rows, ({ rule }) => rule);
  const passed = new Map(
    [...state.passedMs].map(([group, before]) => [group, before + (passedMs ?? 0)] as const),
  );
  const steps = rules
    .filter(({ group = 'fast' }) => due.has(group))
    .map((rule) => {
      const before = state.memory.get(rule.uid) ?? new Map<string, AlertMemory>();
      const since = passed.get(rule.group ?? 'fast');
      return ruleStep(rule, before, seen.get(rule.name) ?? [], asOfMs, since);
    });
  return {
    state: {
      ...withSteps(state, steps, asOfMs),
      last: { asOfMs, steadyMs },
      passedMs: new Map([...passed, ...[...due].map((group) => [group, 0] as const)]),
    },
    steps,
  };
}

/**
 * After an instant whose rows were stored by whoever evaluated before. Alerts whose states were stored as
 * well have been there already.
 */
export function withStoredInstant(
  state: EvaluatorState,
  rules: readonly Rule[],
  asOfMs: number,
  rows: readonly Evaluation[],
): { readonly state: EvaluatorState; readonly steps: readonly RuleStep[] } {
  const seen = Map.groupBy(rows, ({ rule }) => rule);
  // Rules that could not be evaluated at their time left no row, and nothing follows from that.
  const due = new Set(rules.flatMap(({ name, group = 'fast' }) => (seen.has(name) ? [group] : [])));
  const steps = rules
    .filter(({ group = 'fast' }) => due.has(group))
    .map((rule) => {
      const known = state.memory.get(rule.uid) ?? new Map<string, AlertMemory>();
      const done = new Map([...known].filter(([, { evaluatedAt }]) => evaluatedAt >= asOfMs));
      const behind = new Map([...known].filter(([key]) => !done.has(key)));
      const unseen = (seen.get(rule.name) ?? []).filter(
        (row) => !done.has(labelKey(instanceOf(rule, row).labels)),
      );
      const step = ruleStep(rule, behind, unseen, asOfMs, undefined);
      return { ...step, memory: new Map([...done, ...step.memory]) };
    });
  return { state: { ...withSteps(state, steps, asOfMs), last: { asOfMs, steadyMs: null } }, steps };
}

type Stepped = RuleStep & { readonly memory: RuleMemory };

function ruleStep(
  rule: Rule,
  before: RuleMemory,
  rows: readonly Evaluation[],
  asOfMs: number,
  passedMs: number | undefined,
): Stepped {
  const instances = rows.map((row) => instanceOf(rule, row));
  const outcome = { kind: 'instances', instances } as const;
  return { rule, before, ...advance(ruleTiming(rule), before, outcome, asOfMs, passedMs) };
}

function withSteps(state: EvaluatorState, steps: readonly Stepped[], asOfMs: number): EvaluatorState {
  const departed = steps.flatMap(({ rule, alerts }) =>
    alerts
      .filter(({ reason, resolvedAt }) => reason === 'MissingSeries' && resolvedAt === asOfMs)
      .map((alert) => ({ rule, alert })),
  );
  return {
    ...state,
    memory: new Map([...state.memory, ...steps.map(({ rule, memory }) => [rule.uid, memory] as const)]),
    departed: [...state.departed.filter(({ alert }) => isRecent(alert, asOfMs)), ...departed],
  };
}

/**
 * The alerts that receivers are to know at `nowMs`: those that fire, and those that had ended lately when
 * rules were last evaluated.
 */
export function alertsAt(
  { memory, departed, last }: EvaluatorState,
  rules: readonly Rule[],
  page: PageSettings,
  nowMs: number,
): Alert[] {
  const known = rules.flatMap((rule) =>
    [...(memory.get(rule.uid)?.values() ?? [])].map((alert) => ({ rule, alert })),
  );
  const asOfMs = Math.min(nowMs, last?.asOfMs ?? nowMs);
  return [...known, ...departed].flatMap(({ rule, alert }) => {
    // A sign of life is none unless it is new.
    if (isHeartbeat(rule)) return alert.endsAt > nowMs ? (alertOf(rule, alert, page) ?? []) : [];
    // What fires goes on firing for receivers as long as nothing else is known.
    const held = isFiring(alert.state)
      ? { ...alert, endsAt: until(ruleTiming(rule), nowMs) }
      : notInFuture(alert, nowMs);
    const shown = isRecent(held, asOfMs) ? alertOf(rule, held, page) : null;
    return shown === null ? [] : [shown];
  });
}

/** How many alerts fire, by severity. A heartbeat is none. */
export function firingBySeverity({ memory }: EvaluatorState, rules: readonly Rule[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { uid, severity } of rules.filter((rule) => !isHeartbeat(rule))) {
    const firing = [...(memory.get(uid)?.values() ?? [])].filter(({ state }) => isFiring(state));
    counts.set(severity, (counts.get(severity) ?? 0) + firing.length);
  }
  return counts;
}

const isRecent = ({ state, resolvedAt }: AlertMemory, nowMs: number): boolean =>
  isFiring(state) || (resolvedAt !== null && nowMs - resolvedAt <= RESOLVED_RETENTION_MS);

/**
 * After a clock was set back, an end may lie in the future: receivers would take it for firing until then.
 */
const notInFuture = (alert: AlertMemory, nowMs: number): AlertMemory =>
  alert.resolvedAt !== null && alert.resolvedAt > nowMs
    ? { ...alert, resolvedAt: nowMs - alert.heldMs - alert.missingForMs }
    : alert;
