import type {
  ConsoleAlert,
  ConsoleIncident,
  ConsoleIncidentAlert,
  IncidentsAnswer,
} from '../../../schemas/console.ts';

/** The page of incidents, in addresses: `/d/incidents?days=7`. */
export const INCIDENTS_UID = 'incidents';

/** An incident that runs, with its alerts as they stand, in the order in which they fired. */
export interface Block {
  readonly incident: ConsoleIncident;
  readonly alerts: readonly ConsoleAlert[];
}

/**
 * The alerts by incident, the newest incident first; others are those that belong to none: what is pending,
 * and info.
 */
export function blocksOf(
  alerts: readonly ConsoleAlert[],
  incidents: readonly ConsoleIncident[],
): { readonly blocks: readonly Block[]; readonly others: readonly ConsoleAlert[] } {
  const blocks = incidents
    .map((incident) => ({
      incident,
      alerts: incident.alerts.flatMap((one) => alerts.find((alert) => isSame(one, alert)) ?? []),
    }))
    .filter((block) => block.alerts.length > 0);
  const shown = new Set(blocks.flatMap((block) => block.alerts));
  return { blocks, others: alerts.filter((alert) => !shown.has(alert)) };
}

/** What is known of an alert within its incident; null: nothing. */
export const memberOf = ({ alerts }: ConsoleIncident, alert: ConsoleAlert): ConsoleIncidentAlert | null =>
  alerts.find((one) => isSame(one, alert)) ?? null;

function isSame(one: ConsoleIncidentAlert, { rule, labels, state }: ConsoleAlert): boolean {
  const { gateway = '', slice = '', ...others } = labels;
  return (
    one.endedAt === null &&
    state !== 'Pending' &&
    one.rule === rule &&
    one.gateway === gateway &&
    one.slice === slice &&
    one.label === (Object.values(others)[0] ?? '')
  );
}

/** What somebody asks of alerts: the body of `POST /console/api/silences`. */
export interface HoldRequest {
  readonly kind: 'acknowledged' | 'silenced';
  readonly rule: string;
  readonly gateway: string;
  readonly slice: string;
  readonly label: string;
  readonly reason: string;
  readonly by: string;
  readonly for?: string;
}

type Chosen = Pick<HoldRequest, 'kind' | 'reason' | 'by' | 'for'>;

/** One request for each alert of an incident that still fires. */
export const holdRequests = ({ alerts }: ConsoleIncident, chosen: Chosen): HoldRequest[] =>
  alerts
    .filter(({ endedAt }) => endedAt === null)
    .map(({ rule, gateway, slice, label }) => ({ rule, gateway, slice, label, ...chosen }));

/** `45 s`, `12 min`, `2 h 05 min`, `3 d 4 h`. */
export function lasted(ms: number): string {
  const minutes = Math.floor(Math.max(0, ms) / 60_000);
  if (minutes < 1) return `${Math.round(Math.max(0, ms) / 1000)} s`;
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours} h ${String(minutes % 60).padStart(2, '0')} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** A part of a timeline: where it begins and how long it is, 0 to 100. */
export interface Bar {
  readonly left: number;
  readonly width: number;
}

/** Where an alert waits and fires on the timeline of its incident. */
export function barsOf(
  { beganAt, endedAt }: ConsoleIncident,
  alert: ConsoleIncidentAlert,
  { asOf }: Pick<IncidentsAnswer, 'asOf'>,
): { readonly waiting: Bar; readonly firing: Bar } {
  const whole = Math.max(1, (endedAt ?? asOf) - beganAt);
  const at = (ms: number): number => Math.min(100, Math.max(0, ((ms - beganAt) / whole) * 100));
  const bar = (from: number, to: number): Bar => ({ left: at(from), width: Math.max(0, at(to) - at(from)) });
  return {
    waiting: bar(alert.beganAt, alert.firedAt),
    firing: bar(alert.firedAt, alert.endedAt ?? asOf),
  };
}
