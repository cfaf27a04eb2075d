import type { AlertState } from '../evaluate/alert-state.ts';
import { isFiring } from '../evaluate/alert-state.ts';
import { WHOLE } from '../count/slices.ts';
import { RULES } from '../rules/all.ts';
import { isHeartbeat } from '../rules/rule.ts';
import type { IncidentAlert } from '../../schemas/incident.ts';

/** A row of `alert_history`. Instants are epoch milliseconds. */
export interface StateRow {
  readonly rule: string;
  readonly severity: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly state: AlertState;
  readonly changedAt: number;
  /** When it was last confirmed. */
  readonly evaluatedAt: number;
  readonly firingSince: number | null;
  readonly resolvedAt: number | null;
}

export type Fired = Omit<IncidentAlert, 'affectedOrders'>;

/** An alert that was not evaluated for so long has ended without a word: its rule or series is gone. */
const GONE_AFTER_MS = 25 * 60_000;

/**
 * The alerts that fired, from the states that they were in. Heartbeats are none.
 *
 * @param atMs what happened later is not known yet
 */
export function firedAlerts(rows: readonly StateRow[], atMs: number): Fired[] {
  const known = rows.filter(({ changedAt }) => changedAt <= atMs);
  const newest = known.reduce((latest, { evaluatedAt }) => Math.max(latest, evaluatedAt), 0);
  const asOf = Math.min(newest, atMs);
  const instances = Map.groupBy(known, ({ rule, labels }) => `${rule} ${JSON.stringify(labels)}`);
  return [...instances.values()].flatMap((states) => {
    const inOrder = states.toSorted((a, b) => a.changedAt - b.changedAt || a.evaluatedAt - b.evaluatedAt);
    const firings = Map.groupBy(inOrder, ({ firingSince }) => firingSince);
    return [...firings].flatMap(([firedAt, own]) =>
      firedAt === null || firedAt > atMs ? [] : firedAlert(firedAt, own, inOrder, asOf),
    );
  });
}

/** @param own the states since it fired; an alert that is pending anew still names its last firing */
function firedAlert(
  firedAt: number,
  own: readonly StateRow[],
  all: readonly StateRow[],
  asOf: number,
): Fired[] {
  const firing = own.filter(({ state }) => isFiring(state));
  const last = firing.at(-1);
  const rule = RULES.find(({ name }) => name === last?.rule);
  if (last === undefined || (rule !== undefined && isHeartbeat(rule))) return [];
  const pending = all.findLast(({ state, changedAt }) => state === 'Pending' && changedAt <= firedAt);
  const endedAt = endOf(own, last, asOf);
  const { gateway = '', slice = WHOLE, ...others } = last.labels;
  return [
    {
      rule: last.rule,
      gateway,
      slice,
      label: Object.values(others)[0] ?? '',
      severity: last.severity,
      side: rule?.side ?? '',
      risk: rule?.risk ?? '',
      summary: rule?.summary ?? last.rule,
      beganAt: pending === undefined || hasFired(all, pending, firedAt) ? firedAt : pending.changedAt,
      firedAt,
      recoveringSince: endedAt === null && last.state === 'Recovering' ? last.changedAt : null,
      endedAt,
    },
  ];
}

/** Whether that waiting belongs to an earlier firing. */
const hasFired = (all: readonly StateRow[], pending: StateRow, firedAt: number): boolean =>
  all.some(({ state, changedAt }) => isFiring(state) && changedAt > pending.changedAt && changedAt < firedAt);

function endOf(own: readonly StateRow[], last: StateRow, asOf: number): number | null {
  const resolved = own.find(({ state, resolvedAt }) => !isFiring(state) && resolvedAt !== null)?.resolvedAt;
  if (resolved !== undefined && resolved !== null && resolved <= asOf) return resolved;
  return asOf - last.evaluatedAt > GONE_AFTER_MS ? last.evaluatedAt : null;
}
