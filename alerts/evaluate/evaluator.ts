import type { Clock } from '../../schemas/clock.ts';
import { untilAborted } from '../../schemas/deadline.ts';
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
  resumedState,
  type RuleStep,
  withInstant,
  withStoredInstant,
} from './evaluator-state.ts';
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
   * Evaluates the oldest instant that is due. True: another one is.
   *
   * @param signal gives up what the rules see, as long as that is not known
   * @throws whatever a step throws: what is due stays due, and what could not be stored is stored later
   */
  run(signal: AbortSignal): Promise<boolean>;
  /** Another collector evaluates: forgets what is known, and looks how far that one is. */
  standBy(): Promise<void>;
  /** The alerts that receivers are to know at `nowMs`; null: another collector sends them. */
  alerts(nowMs: number): Alert[] | null;
  /** How many alerts fire, by severity; empty where another collector evaluates. */
  firing(): ReadonlyMap<string, number>;
  /** The newest instant whose evaluations are stored, in milliseconds since 1970, whoever made them. */
  newestAsOfMs(): number | null;
}

export interface EvaluatorOptions {
  readonly rules: readonly Rule[];
  readonly pass: EvaluationPass;
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
  const { rules, pass, store, collectorId, clock, onChange } = options;
  /** Null while another collector evaluates, and until what it left is known. */
  let state: EvaluatorState | null = null;
  let shown: ShownState | null = null;
  /** A pass takes longer than the time between two: the newest instant is never reached. */
  let isSlow = false;
  /** Why some of the rules could not be evaluated at an instant that is caught up. */
  let failure: Error | null = null;
  let newestAsOfMs: number | null = null;
  const record = createRecord(store, collectorId);
  const observe = createObserver(pass);
  const query = <T>(sql: string): Promise<T[]> => store.query<T>(sql);
  const wallMs = (): number => clock.now() / 1000;
  const save = (): Promise<void> => record.save((asOfMs) => void (newestAsOfMs = asOfMs));

  async function resume(): Promise<EvaluatorState> {
    const resumed = await resumedFrom(query, rules, wallMs());
    newestAsOfMs = resumed.newestAsOfMs;
    for (const { asOfMs, steps } of resumed.behind) record.add(asOfMs, [], steps);
    await save();
    return resumed.state;
  }

  const due = (): DueInstant[] =>
    state === null ? [] : dueInstants(state.last, { wallMs: wallMs(), steadyMs: clock.monotonicMs() });

  /** @returns why some of the rules could not be evaluated; null: all that were due were */
  async function evaluate(
    before: EvaluatorState,
    instant: DueInstant,
    signal: AbortSignal,
  ): Promise<Error | null> {
    const { asOfMs, missed } = instant;
    const isNewest = due().length === 1 || isSlow;
    const startedMs = clock.monotonicMs();
    const { failure: missing, ...seen } = await untilAborted(observe(asOfMs), signal);
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
    return missing;
  }

  return {
    async run(signal) {
      if (state === null) {
        state = await resume();
        shown = shownAtStart(state);
        // The collector that evaluated before may have had no time to send.
        onChange();
      }
      const [next] = due();
      if (next !== undefined) failure = (await evaluate(state, next, signal)) ?? failure;
      if (due().length > 0) return true;
      const missing = failure;
      failure = null;
      if (missing !== null) throw missing;
      return false;
    },
    async standBy() {
      [state, shown, failure] = [null, null, null];
      record.clear();
      newestAsOfMs = await newestEvaluation(query, wallMs());
    },
    alerts: (nowMs) => (shown === null ? null : alertsAt(shown.state, rules, options.page, nowMs)),
    firing: () => (state === null ? new Map() : firingBySeverity(state, rules)),
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
