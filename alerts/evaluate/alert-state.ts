/**
 * What becomes of an alert from one evaluation to the next, as Grafana has it: interval, pending (`for`),
 * keep firing, missing series, no data and errors. Pure: time and results come in, states and changes go out.
 * The running evaluation and the backtest share it. How long a state has lasted is the sum of the times
 * between evaluations, never a difference of wall-clock instants, since that clock can be set.
 *
 *     Normal --fires--> Pending --for over--> Alerting --stops--> Recovering --keep firing over--> Normal
 *        ^                 |                     ^                    |
 *        +-----stops-------+                     +------fires---------+
 */

export type Labels = Readonly<Record<string, string>>;

export const ALERT_STATES = ['Normal', 'Pending', 'Alerting', 'Recovering', 'NoData', 'Error'] as const;
export type AlertState = (typeof ALERT_STATES)[number];

/** What a rule says about time and about having no answer. All in milliseconds. */
export interface RuleTiming {
  readonly intervalMs: number;
  readonly forMs: number;
  readonly keepFiringForMs: number;
  /** Evaluations without a series after which its alert ends. */
  readonly missingSeriesEvals: number;
  readonly noDataState: 'NoData' | 'OK' | 'Alerting' | 'KeepLast';
  readonly execErrState: 'Error' | 'OK' | 'Alerting' | 'KeepLast';
}

/** One alert instance as it was after its last evaluation. Times in epoch milliseconds. */
export interface AlertMemory {
  /** Labels of the query's row, without the rule's own. */
  readonly labels: Labels;
  readonly state: AlertState;
  /** '', `NoData`, `Error`, `KeepLast` or `MissingSeries`. */
  readonly reason: string;
  /** When this state began. */
  readonly startsAt: number;
  /** Until when a receiver may rely on it without another notification. */
  readonly endsAt: number;
  /**
   * When it last had a series. Never falls, whatever the clock does: the newest row of an instance is known
   * by it.
   */
  readonly evaluatedAt: number;
  /** How long this state had lasted at its last evaluation, in milliseconds that passed. */
  readonly heldMs: number;
  /** For how long its series has been missing since then, in milliseconds. */
  readonly missingForMs: number;
  /** When it last stopped firing; null while it fires, or when it never did. */
  readonly resolvedAt: number | null;
  /**
   * When it last began to fire, kept when it has ended: what a page calls "since". Null when it never did.
   */
  readonly firingSince: number | null;
  readonly values: Readonly<Record<string, number | null>>;
  readonly error: string;
}

/** By `labelKey`. */
export type RuleMemory = ReadonlyMap<string, AlertMemory>;

/** What an evaluation says of one instance. */
export interface AlertInstance {
  readonly labels: Labels;
  readonly firing: boolean;
  readonly values: Readonly<Record<string, number | null>>;
}

export type EvaluationOutcome =
  | { readonly kind: 'instances'; readonly instances: readonly AlertInstance[] }
  | { readonly kind: 'no-data' }
  | { readonly kind: 'error'; readonly message: string };

export interface Step {
  readonly memory: RuleMemory;
  /** Every instance that was touched, those that ended among them. */
  readonly alerts: readonly AlertMemory[];
}

/** States that receivers see as firing. */
export const isFiring = (state: AlertState): boolean =>
  state === 'Alerting' || state === 'Recovering' || state === 'NoData' || state === 'Error';

/** Names and values of labels, by name. */
export const sortedLabels = (labels: Labels): [name: string, value: string][] =>
  Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1));

/** Key of an instance: its labels in a fixed order. */
export const labelKey = (labels: Labels): string => JSON.stringify(sortedLabels(labels));

/** Ended alerts are repeated to receivers for this long, also after a restart. */
export const RESOLVED_RETENTION_MS = 15 * 60_000;

/** Receivers take an alert for ended after this many intervals without a notification. */
const FORGET_AFTER_INTERVALS = 4;
/** Grafana repeats itself to receivers no faster than this. */
const RESEND_DELAY_MS = 30_000;

/**
 * An evaluation that begins late by less than this part of its interval still counts as one interval after
 * the last.
 */
const LATE = 0.1;

/**
 * One evaluation of one rule at `now`, `passedMs` after the one before it; without that, after what the wall
 * clock says has passed since an instance was evaluated.
 */
export function advance(
  timing: RuleTiming,
  before: RuleMemory,
  outcome: EvaluationOutcome,
  now: number,
  passedMs?: number,
): Step {
  const older = new Map(
    [...before].map(([key, alert]) => {
      const passed = passedMs ?? Math.max(0, now - alert.evaluatedAt - alert.missingForMs);
      return [key, { ...alert, missingForMs: alert.missingForMs + passed }];
    }),
  );
  const evaluated = evaluatedAlerts(timing, older, outcome, now);
  const missing = [...older]
    .filter(([key]) => !evaluated.has(key))
    .map(([, alert]) => miss(timing, alert, now));
  const alerts = [...evaluated.values(), ...missing];
  const kept = alerts.filter((alert) => alert.reason !== 'MissingSeries');
  return { memory: new Map(kept.map((alert) => [labelKey(alert.labels), alert])), alerts };
}

function evaluatedAlerts(
  timing: RuleTiming,
  before: RuleMemory,
  outcome: EvaluationOutcome,
  now: number,
): Map<string, AlertMemory> {
  if (outcome.kind === 'instances')
    return new Map(
      outcome.instances.map(({ labels, firing, values }) => {
        const key = labelKey(labels);
        const was = { ...(before.get(key) ?? fresh(labels, now)), values, error: '' };
        const next = firing ? fire(timing, was, now, '') : notFiring(timing, was, now, '');
        return [key, withTimes(before.get(key), next, now)];
      }),
    );
  const wanted = outcome.kind === 'no-data' ? timing.noDataState : timing.execErrState;
  const error = outcome.kind === 'error' ? outcome.message : '';
  // NoData and Error are one instance without labels. Otherwise all known instances change together.
  const own = wanted === 'NoData' || wanted === 'Error';
  const bare = fresh({}, now);
  const targets = own || before.size === 0 ? [before.get(labelKey({})) ?? bare] : [...before.values()];
  return new Map(
    targets.map((was) => {
      const key = labelKey(was.labels);
      const next = unanswered(
        timing,
        { ...was, error },
        wanted,
        outcome.kind === 'no-data' ? 'NoData' : 'Error',
        now,
      );
      return [key, withTimes(before.get(key), next, now)];
    }),
  );
}

const fresh = (labels: Labels, now: number): AlertMemory => ({
  labels,
  state: 'Normal',
  reason: '',
  startsAt: now,
  endsAt: now,
  evaluatedAt: now,
  heldMs: 0,
  missingForMs: 0,
  resolvedAt: null,
  firingSince: null,
  values: {},
  error: '',
});

/** The same alert at the beginning of a state. */
const enter = (
  was: AlertMemory,
  state: AlertState,
  reason: string,
  startsAt: number,
  endsAt: number,
): AlertMemory => ({
  ...was,
  state,
  reason,
  startsAt,
  endsAt,
  heldMs: 0,
  missingForMs: 0,
});

/** Has this state lasted that long, rounded up to whole intervals? */
const hasLasted = ({ intervalMs }: RuleTiming, was: AlertMemory, ms: number): boolean =>
  was.heldMs + was.missingForMs >= (Math.ceil(ms / intervalMs) - LATE) * intervalMs;

/** Until when a receiver that is notified at `now` may rely on it that the alert fires. */
export const until = ({ intervalMs }: RuleTiming, now: number): number =>
  now + FORGET_AFTER_INTERVALS * Math.max(intervalMs, RESEND_DELAY_MS);

/** After an evaluation in which it fires. */
function fire(timing: RuleTiming, was: AlertMemory, now: number, reason: string): AlertMemory {
  const ends = until(timing, now);
  switch (was.state) {
    case 'Alerting':
      return { ...was, endsAt: ends };
    case 'Pending':
      return hasLasted(timing, was, timing.forMs) ? enter(was, 'Alerting', reason, now, ends) : was;
    case 'Recovering':
      return enter(was, 'Alerting', reason, now, ends);
    default:
      return enter(was, timing.forMs > 0 ? 'Pending' : 'Alerting', reason, now, ends);
  }
}

/** After an evaluation in which it does not fire. */
function notFiring(timing: RuleTiming, was: AlertMemory, now: number, reason: string): AlertMemory {
  switch (was.state) {
    case 'Normal':
      return was;
    case 'Recovering':
      return hasLasted(timing, was, timing.keepFiringForMs)
        ? enter(was, 'Normal', reason, now, now)
        : { ...was, endsAt: until(timing, now) };
    case 'Alerting':
      return timing.keepFiringForMs > 0
        ? enter(was, 'Recovering', reason, now, until(timing, now))
        : enter(was, 'Normal', reason, now, now);
    default:
      return enter(was, 'Normal', reason, now, now);
  }
}

function unanswered(
  timing: RuleTiming,
  was: AlertMemory,
  wanted: RuleTiming['noDataState'] | RuleTiming['execErrState'],
  cause: 'NoData' | 'Error',
  now: number,
): AlertMemory {
  switch (wanted) {
    case 'Alerting':
      return fire(timing, was, now, cause);
    case 'OK':
      return notFiring(timing, was, now, cause);
    case 'KeepLast':
      if (was.state === 'Alerting' || was.state === 'Pending') return fire(timing, was, now, was.reason);
      // There is no new answer: an alert that was ending has not ended yet.
      return was.state === 'Recovering' ? { ...was, endsAt: until(timing, now) } : was;
    default:
      return was.state === wanted
        ? { ...was, endsAt: until(timing, now) }
        : enter(was, wanted, '', now, until(timing, now));
  }
}

/** A series that the evaluation did not have: it keeps its state for a while, and then ends. */
function miss(timing: RuleTiming, was: AlertMemory, now: number): AlertMemory {
  const evals = was.state === 'NoData' || was.state === 'Error' ? 1 : timing.missingSeriesEvals;
  if (was.missingForMs < (evals - LATE) * timing.intervalMs)
    return was.state === 'Alerting' ? { ...was, endsAt: until(timing, now) } : was;
  return withTimes(was, enter(was, 'Normal', 'MissingSeries', was.startsAt, now), now);
}

/** Records when it was evaluated, when it began to fire and when it ended. */
function withTimes(before: AlertMemory | undefined, next: AlertMemory, now: number): AlertMemory {
  const fires = isFiring(next.state);
  const fired = before !== undefined && isFiring(before.state);
  return {
    ...next,
    evaluatedAt: before === undefined ? now : Math.max(now, before.evaluatedAt + 1),
    heldMs: next.heldMs + next.missingForMs,
    missingForMs: 0,
    firingSince: fires && !fired ? now : (before?.firingSince ?? null),
    resolvedAt: fires ? null : fired && next.state === 'Normal' ? now : next.resolvedAt,
  };
}
