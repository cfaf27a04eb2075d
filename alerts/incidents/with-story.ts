import type { AlertLine } from '../../schemas/alert-line.ts';
import type { Incident } from '../../schemas/incident.ts';
import type { Silence } from '../../schemas/silence.ts';
import { silenceOf } from '../silences/silence.ts';

interface Alert {
  readonly rule: string;
  readonly gateway: string;
  readonly slice: string;
  readonly label: string;
  readonly line: AlertLine;
}

/** What a rule saw, and what else is known of its alert. */
export interface AlertWithStory extends AlertLine {
  /** Id of the incident that it belongs to; null while it does not fire, and of info. */
  readonly incident: string | null;
  /** What holds its notifications back; null: nothing does. */
  readonly held: Silence | null;
}

const FIRING: ReadonlySet<string> = new Set(['Alerting', 'Recovering', 'NoData', 'Error']);

/** @param running the incidents that run at `nowMs`, and the silences that hold then */
export const withStory = (
  alerts: readonly Alert[],
  running: readonly Incident[],
  silences: readonly Silence[],
  nowMs: number,
): AlertWithStory[] =>
  alerts.map((alert) => {
    const { line } = alert;
    const isFiring = FIRING.has(line.state);
    const incident = running.find(({ alerts: members }) =>
      members.some((one) => one.endedAt === null && isSame(one, alert)),
    );
    return {
      ...line,
      incident: isFiring ? (incident?.id ?? null) : null,
      held: isFiring ? silenceOf(silences, { ...alert, firedAt: line.since ?? nowMs }, nowMs) : null,
    };
  });

const isSame = (a: Omit<Alert, 'line'>, b: Omit<Alert, 'line'>): boolean =>
  (['rule', 'gateway', 'slice', 'label'] as const).every((name) => a[name] === b[name]);
