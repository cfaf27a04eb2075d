import { type AlertMemory, labelKey } from './alert-state.ts';
import type { DepartedAlert, EvaluatorState } from './evaluator-state.ts';

/**
 * What receivers are shown. Instants that are caught up after a pause are only steps on the way: an alert
 * that began and ended there is over, and nobody is paged for it.
 */
export interface ShownState {
  /** Without the alerts that no receiver has to know. */
  readonly state: EvaluatorState;
  /** The alerts that were shown firing, by rule and labels. */
  readonly known: ReadonlySet<string>;
}

/** After a start: what the evaluator before left may have been shown. */
export const shownAtStart = (state: EvaluatorState): ShownState => ({
  state,
  known: new Set(alertsOf(state).map(([uid, alert]) => keyOf(uid, alert))),
});

/** After the newest instant. */
export function shownAfter(before: ShownState | null, state: EvaluatorState): ShownState {
  const known = new Set<string>();
  for (const [uid, alert] of alertsOf(state)) {
    const key = keyOf(uid, alert);
    if (isOn(alert) || before?.known.has(key) === true) known.add(key);
  }
  const isKnown = (uid: string, alert: AlertMemory): boolean => known.has(keyOf(uid, alert));
  const memory = [...state.memory].map(
    ([uid, alerts]) => [uid, new Map([...alerts].filter(([, alert]) => isKnown(uid, alert)))] as const,
  );
  const departed = state.departed.filter(({ rule, alert }: DepartedAlert) => isKnown(rule.uid, alert));
  return { state: { ...state, memory: new Map(memory), departed }, known };
}

/** It fires, and is not only kept firing for a while after its end. */
const isOn = ({ state }: AlertMemory): boolean =>
  state === 'Alerting' || state === 'NoData' || state === 'Error';

const keyOf = (uid: string, { labels }: AlertMemory): string => `${uid} ${labelKey(labels)}`;

const alertsOf = ({ memory, departed }: EvaluatorState): [uid: string, alert: AlertMemory][] => [
  ...[...memory].flatMap(([uid, alerts]) =>
    [...alerts.values()].map((alert): [string, AlertMemory] => [uid, alert]),
  ),
  ...departed.map(({ rule, alert }): [string, AlertMemory] => [rule.uid, alert]),
];
