import type { Clock } from '../../schemas/clock.ts';
import type { Rows } from '../../schemas/rows.ts';
import type { Store } from '../../store/store.ts';
import type { Alert } from '../explain/alert.ts';
import type { PageLinks } from '../explain/page.ts';
import type { Rule, RuleGroupName } from '../rules/rule.ts';
import {
  type DueInstant,
  dueInstants,
  type EvaluatedInstant,
  groupsAt,
  INTERVAL_MS,
  MOST_INSTANTS,
} from './due.ts';
import { evaluationsFrom, newestEvaluation } from './evaluation-store.ts';
import type { Evaluation, EvaluationPass } from './evaluation.ts';
import {
  alertsAt,
  type EvaluatorState,
  firingBySeverity,
  NOTHING_EVALUATED,
  resumedState,
  type RuleStep,
  withInstant,
  withStoredInstant,
} from './evaluator-state.ts';
import type { LeaseKeeper } from './lease.ts';
import { loadStates, newestState, stateRows } from './state-store.ts';

/**
 * Evaluates the rules at every instant, one collector at a time:
 *
 *     pass -> rows are stored -> states change -> states are stored -> receivers are offered what fires
 *
 * Each step can be repeated, and what was done is known from the store alone: whoever comes next begins with
 * the rows whose states are missing, and goes on with the instants that have no rows.
 */
export interface Evaluator {
  /**
   * Evaluates what is due, if this collector is the one.
   * @throws whatever a step throws: what is due stays due, and what could not be stored is stored later
   */
  tick(signal: AbortSignal): Promise<void>;
  /** The alerts that receivers are to know at `nowMs`; null: another collector tells them. */
  alerts(nowMs: number): Alert[] | null;
  /** How many alerts fire, by severity. */
  firing(): ReadonlyMap<string, number>;
  holdsLease(): boolean;
  /** The newest instant whose evaluations are stored, in milliseconds since 1970, whoever made them. */
  newestAsOfMs(): number | null;
}

export interface EvaluatorOptions {
  readonly rules: readonly Rule[];
  readonly pass: EvaluationPass;
  /** Prepares the passes from an instant on, a part at a time. True: there is more to do. @default nothing */
  readonly keep?: (asOfMs: number) => Promise<boolean>;
  readonly lease: LeaseKeeper;
  readonly store: Pick<Store, 'query' | 'insert'>;
  readonly collectorId: string;
  readonly clock: Clock;
  readonly links: PageLinks;
  /** Called whenever receivers may have to learn something. */
  readonly onChange: () => void;
  /** Called after each pass. */
  readonly onPass?: (pass: PassReport) => void;
}

export interface PassReport {
  readonly asOfMs: number;
  readonly tookMs: number;
  /** Instants before it that were given up. */
  readonly missed: number;
}

interface Observation {
  readonly rows: readonly Evaluation[];
  /** The rules that were evaluated. */
  readonly groups: readonly RuleGroupName[];
  /** Why those of the other groups were not. */
  readonly failure: Error | null;
}

/** What one instant has still to store. */
interface Unsaved {
  readonly asOfMs: number;
  readonly rows: readonly Evaluation[];
  readonly states: readonly Rows['alertStates'][];
}

export function createEvaluator(options: EvaluatorOptions): Evaluator {
  const { rules, pass, lease, store, collectorId, clock, onChange } = options;
  let holds = false;
  /** Null while another collector evaluates, and until what it left is known. */
  let state: EvaluatorState | null = null;
  let unsaved: readonly Unsaved[] = [];
  let newestAsOfMs: number | null = null;
  let checkedMs = -Infinity;
  /** Rules that could not be evaluated when they were due. */
  let owed: readonly RuleGroupName[] = [];
  const query = <T>(sql: string): Promise<T[]> => store.query<T>(sql);
  const wallMs = (): number => clock.now() / 1000;
  const statesOf = (steps: readonly RuleStep[]): Rows['alertStates'][] =>
    steps.flatMap(({ rule, before, alerts }) => stateRows(rule, before, alerts, collectorId));

  /** Is it still this collector that evaluates? Asked once a minute, also while there is much to catch up. */
  async function holdsLease(): Promise<boolean> {
    if (clock.monotonicMs() - checkedMs < INTERVAL_MS / 2) return holds;
    holds = await lease.check();
    checkedMs = clock.monotonicMs();
    if (!holds) [state, unsaved] = [null, []];
    return holds;
  }

  /** Rows before states: states without rows would hide that rows are missing. */
  async function save(): Promise<void> {
    for (const one of unsaved) {
      await store.insert('alertEvaluations', one.rows);
      if (one.states.length > 0) await store.insert('alertStates', one.states);
      unsaved = unsaved.filter((other) => other !== one);
      newestAsOfMs = one.asOfMs;
    }
  }

  /** Goes on where the last evaluation in the store was, whoever made it. */
  async function resume(): Promise<EvaluatorState> {
    newestAsOfMs = await newestEvaluation(query, wallMs());
    const newest = newestAsOfMs ?? wallMs();
    const stored = await loadStates(query);
    const from = Math.max(newestState(stored), newest - MOST_INSTANTS * INTERVAL_MS);
    const last = newestAsOfMs === null ? null : { asOfMs: newestAsOfMs, steadyMs: null };
    let known: EvaluatorState = {
      ...resumedState(rules, stored, last),
      // Stored by a clock that was set back since: no time has passed, as far as anybody can tell.
      passedMs:
        newest > wallMs()
          ? new Map([
              ['fast', 0],
              ['slow', 0],
            ])
          : new Map(),
    };
    unsaved = [];
    for (const [asOfMs, rows] of await evaluationsFrom(query, from)) {
      const step = withStoredInstant(known, rules, asOfMs, rows);
      known = step.state;
      unsaved = [...unsaved, { asOfMs, rows: [], states: statesOf(step.steps) }];
    }
    await save();
    return known;
  }

  /** The first instant that is due; the last one that was, while nothing is. */
  const firstDueMs = (last: EvaluatedInstant | null): number | undefined =>
    dueInstants(last, { wallMs: wallMs(), steadyMs: clock.monotonicMs() })[0]?.asOfMs ?? last?.asOfMs;

  /** Prepares what is due. With `wholly` until nothing is left to do: much history may never have been read. */
  async function prepare(wholly: boolean, signal: AbortSignal): Promise<void> {
    if (options.keep === undefined) return;
    for (let isMore = true; isMore && !signal.aborted;) {
      const asOfMs = firstDueMs(state?.last ?? null);
      if (state === null || asOfMs === undefined) return;
      isMore = (await options.keep(asOfMs)) && wholly && (await holdsLease());
    }
  }

  /**
   * What the rules see. Those of long windows read most: when they cannot be evaluated, the others are, and
   * they themselves the next time.
   */
  async function observe(asOfMs: number): Promise<Observation> {
    const groups = [...new Set([...groupsAt(asOfMs), ...owed])];
    owed = [];
    try {
      return { rows: await pass(asOfMs, groups), groups, failure: null };
    } catch (failure) {
      if (groups.length === 1) throw failure;
      const rows = await pass(asOfMs, ['fast']);
      // Once: then their own time comes again.
      if (groupsAt(asOfMs).includes('slow')) owed = ['slow'];
      return { rows, groups: ['fast'], failure: failure as Error };
    }
  }

  /** @returns why some of the rules could not be evaluated; null: all that were due were */
  async function evaluate(before: EvaluatorState, due: DueInstant): Promise<Error | null> {
    const { asOfMs, steadyMs, passedMs, missed } = due;
    const startedMs = clock.monotonicMs();
    const { rows, groups, failure } = await observe(asOfMs);
    options.onPass?.({ asOfMs, tookMs: clock.monotonicMs() - startedMs, missed });
    const { state: after, steps } = withInstant(before, rules, { asOfMs, steadyMs, passedMs, rows, groups });
    state = after;
    unsaved = [...unsaved, { asOfMs, rows, states: statesOf(steps) }].slice(-MOST_INSTANTS);
    try {
      await save();
    } finally {
      // The page matters more than its record, which is written with the next evaluation.
      onChange();
    }
    return failure;
  }

  /** @throws why rules could not be evaluated, after all instants that could */
  async function evaluateDue(signal: AbortSignal): Promise<void> {
    let failure: Error | null = null;
    while (state !== null && !signal.aborted) {
      const [next] = dueInstants(state.last, { wallMs: wallMs(), steadyMs: clock.monotonicMs() });
      if (next === undefined || !(await holdsLease())) break;
      failure = (await evaluate(state, next)) ?? failure;
    }
    if (failure !== null) throw failure;
  }

  return {
    async tick(signal) {
      if (!(await holdsLease())) {
        newestAsOfMs = await newestEvaluation(query, wallMs());
        return;
      }
      if (state === null) {
        state = await resume();
        // Whoever evaluated before may have had no time to tell.
        onChange();
        await prepare(true, signal);
      }
      try {
        await evaluateDue(signal);
      } finally {
        // Above all after a failure: what is prepared need not be read when it is tried again.
        await prepare(false, signal);
      }
    },
    alerts: (nowMs) => (state === null ? null : alertsAt(state, rules, options.links, nowMs)),
    firing: () => firingBySeverity(state ?? NOTHING_EVALUATED, rules),
    holdsLease: () => holds,
    newestAsOfMs: () => newestAsOfMs,
  };
}
