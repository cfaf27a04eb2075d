import type { Clock } from '../../schemas/clock.ts';
import type { Rows } from '../../schemas/rows.ts';
import type { Store } from '../../store/store.ts';
import type { Alert } from '../explain/alert.ts';
import type { PageSettings } from '../explain/page.ts';
import type { Rule } from '../rules/rule.ts';
import { type DueInstant, dueInstants, INTERVAL_MS, MOST_INSTANTS } from './due.ts';
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
import type { EvaluationLease } from './lease.ts';
import { createObserver } from './observer.ts';
import { shownAfter, shownAtStart, type ShownState } from './shown-state.ts';
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
  /** The alerts that receivers are to know at `nowMs`; null: another collector sends them. */
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
  /** Work in the background, a part at a time. True: there is more to do. @default nothing */
  readonly jobs?: (asOfMs: number) => Promise<boolean>;
  readonly lease: EvaluationLease;
  readonly store: Pick<Store, 'query' | 'insert'>;
  readonly collectorId: string;
  readonly clock: Clock;
  readonly page: PageSettings;
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

/** What one instant has still to store. */
interface Unsaved {
  readonly asOfMs: number;
  readonly rows: readonly Evaluation[];
  readonly states: readonly Rows['alertStates'][];
}

export function createEvaluator(options: EvaluatorOptions): Evaluator {
  const { rules, pass, lease, store, collectorId, clock, onChange } = options;
  const turn = createTurn(lease, clock);
  /** Null while another collector evaluates, and until what it left is known. */
  let state: EvaluatorState | null = null;
  let shown: ShownState | null = null;
  /** A pass takes longer than the time between two: the newest instant is never reached. */
  let isSlow = false;
  let newestAsOfMs: number | null = null;
  const record = createRecord(store, collectorId);
  const observe = createObserver(pass);
  const query = <T>(sql: string): Promise<T[]> => store.query<T>(sql);
  const wallMs = (): number => clock.now() / 1000;
  const save = (): Promise<void> => record.save((asOfMs) => void (newestAsOfMs = asOfMs));

  async function holdsLease(): Promise<boolean> {
    if (await turn.check()) return true;
    [state, shown] = [null, null];
    record.clear();
    return false;
  }

  async function resume(): Promise<EvaluatorState> {
    const resumed = await resumedFrom(query, rules, wallMs());
    newestAsOfMs = resumed.newestAsOfMs;
    for (const { asOfMs, steps } of resumed.behind) record.add(asOfMs, [], steps);
    await save();
    return resumed.state;
  }

  const due = (): DueInstant[] =>
    state === null ? [] : dueInstants(state.last, { wallMs: wallMs(), steadyMs: clock.monotonicMs() });

  /** Until the next instant is due. */
  async function runJobs(signal: AbortSignal): Promise<void> {
    const asOfMs = state?.last?.asOfMs;
    if (options.jobs === undefined || asOfMs === undefined) return;
    let isMore = true;
    while (isMore && !signal.aborted && (await holdsLease())) {
      isMore = (await options.jobs(asOfMs)) && due().length === 0;
    }
  }

  /** @returns why some of the rules could not be evaluated; null: all that were due were */
  async function evaluate(before: EvaluatorState, instant: DueInstant): Promise<Error | null> {
    const { asOfMs, missed } = instant;
    const isNewest = due().length === 1 || isSlow;
    const startedMs = clock.monotonicMs();
    const { failure, ...seen } = await observe(asOfMs);
    options.onPass?.({ asOfMs, tookMs: clock.monotonicMs() - startedMs, missed });
    const { state: after, steps } = withInstant(before, rules, { ...instant, ...seen });
    state = after;
    record.add(asOfMs, seen.rows, steps);
    isSlow = clock.monotonicMs() - startedMs > INTERVAL_MS;
    if (isNewest) shown = shownAfter(shown, after);
    try {
      await save();
    } finally {
      // The page matters more than its record, which is written with the next evaluation.
      if (isNewest) onChange();
    }
    return failure;
  }

  /** @throws why rules could not be evaluated, after all instants that could */
  async function evaluateDue(signal: AbortSignal): Promise<void> {
    let failure: Error | null = null;
    while (!signal.aborted) {
      const [next] = due();
      if (next === undefined || !(await holdsLease()) || state === null) break;
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
        shown = shownAtStart(state);
        // The collector that evaluated before may have had no time to send.
        onChange();
      }
      try {
        await evaluateDue(signal);
      } finally {
        await runJobs(signal);
      }
    },
    alerts: (nowMs) => (shown === null ? null : alertsAt(shown.state, rules, options.page, nowMs)),
    firing: () => firingBySeverity(state ?? NOTHING_EVALUATED, rules),
    holdsLease: turn.isOurs,
    newestAsOfMs: () => newestAsOfMs,
  };
}

/** What instants have still to store: at most as many as are caught up. */
function createRecord(store: EvaluatorOptions['store'], collectorId: string) {
  let unsaved: readonly Unsaved[] = [];
  return {
    clear: () => void (unsaved = []),
    add(asOfMs: number, rows: readonly Evaluation[], steps: readonly RuleStep[]): void {
      const states = steps.flatMap(({ rule, before, alerts }) =>
        stateRows(rule, before, alerts, collectorId),
      );
      unsaved = [...unsaved, { asOfMs, rows, states }].slice(-MOST_INSTANTS);
    },
    /** Rows before states: states without rows would hide that rows are missing. */
    async save(onSaved: (asOfMs: number) => void): Promise<void> {
      for (const one of unsaved) {
        await store.insert('alertEvaluations', one.rows);
        if (one.states.length > 0) await store.insert('alertStates', one.states);
        unsaved = unsaved.filter((other) => other !== one);
        onSaved(one.asOfMs);
      }
    },
  };
}

/** Is it this collector that evaluates? Asked once a minute, also while there is much to catch up. */
function createTurn(lease: EvaluationLease, clock: Clock) {
  let isOurs = false;
  let checkedMs = -Infinity;
  return {
    isOurs: () => isOurs,
    async check(): Promise<boolean> {
      if (clock.monotonicMs() - checkedMs < INTERVAL_MS / 2) return isOurs;
      isOurs = await lease.check();
      checkedMs = clock.monotonicMs();
      return isOurs;
    },
  };
}

interface Resumed {
  readonly state: EvaluatorState;
  readonly newestAsOfMs: number | null;
  /** Instants whose states are missing, oldest first. */
  readonly behind: readonly { readonly asOfMs: number; readonly steps: readonly RuleStep[] }[];
}

/** Goes on where the last evaluation in the store was, whoever made it. */
async function resumedFrom(
  query: <T>(sql: string) => Promise<T[]>,
  rules: readonly Rule[],
  wallMs: number,
): Promise<Resumed> {
  const newestAsOfMs = await newestEvaluation(query, wallMs);
  const newest = newestAsOfMs ?? wallMs;
  const stored = await loadStates(query);
  const from = Math.max(newestState(stored), newest - MOST_INSTANTS * INTERVAL_MS);
  const last = newestAsOfMs === null ? null : { asOfMs: newestAsOfMs, steadyMs: null };
  // Stored by a clock that was set back since: the time that has passed is not known, and counts as none.
  const none = [
    ['fast', 0],
    ['slow', 0],
  ] as const;
  let state: EvaluatorState = {
    ...resumedState(rules, stored, last),
    passedMs: new Map(newest > wallMs ? none : []),
  };
  const behind: Resumed['behind'][number][] = [];
  for (const [asOfMs, rows] of await evaluationsFrom(query, from)) {
    const step = withStoredInstant(state, rules, asOfMs, rows);
    state = step.state;
    behind.push({ asOfMs, steps: step.steps });
  }
  return { state, newestAsOfMs, behind };
}
