import { spanText } from '../../alerts/backtest/times.ts';
import { sliceText } from '../../alerts/count/slices.ts';
import { SIDE_TEXT } from '../../alerts/explain/page.ts';
import { minuteText, timesText } from '../../alerts/explain/zoned.ts';
import type { Side } from '../../alerts/rules/rule.ts';
import { silenceOf } from '../../alerts/silences/silence.ts';
import type { Incident, IncidentAlert } from '../../schemas/incident.ts';
import type { Silence } from '../../schemas/silence.ts';
import { type Output, printable } from './host.ts';
import { heldText } from './draw-silences.ts';
import { drawTable } from './table.ts';

/**
 * The incidents that run, a block each: what fired first, what follows from it, whose side, what is at risk.
 */
export const drawRunning = (
  output: Output,
  incidents: readonly Incident[],
  { nowMs, timeZone = 'UTC', silences = [] }: Running,
): string =>
  incidents.map((incident) => `${drawBlock(output, incident, { nowMs, timeZone, silences })}\n`).join('');

interface Running {
  /** Until when they have lasted. */
  readonly nowMs: number;
  /** The reader's, for times beside UTC. @default 'UTC' */
  readonly timeZone?: string;
  /** Those that hold. @default none */
  readonly silences?: readonly Silence[];
}

function drawBlock(
  output: Output,
  incident: Incident,
  { nowMs, timeZone, silences }: Required<Running>,
): string {
  const { id, severity, headline, beganAt, noticedAt, affectedOrders, notes } = incident;
  const lines = [
    `${output.paint('red', `INCIDENT ${printable(id)}`)}, ${printable(severity)}, for ${lasted(beganAt, nowMs)}: ${printable(headline)}`,
    `  began ${at(beganAt, timeZone)}, noticed after ${lasted(beganAt, noticedAt)}`,
    `  whose side: ${sidesOf(incident)}`,
    `  at risk: ${atRisk(incident)}${affectedOrders === null ? '' : `, at least ${affectedOrders} orders affected`}`,
    ...notes.map((note) => `  note ${at(note.at, timeZone)}: ${printable(note.title)}`),
  ];
  const table = drawTable(output, {
    headers: ['fired', 'state', 'severity', 'rule', 'where'],
    rows: incident.alerts.map((alert, index) => [
      index === 0 ? 'first' : `+${lasted(noticedAt, alert.firedAt)}`,
      stateOf(alert, timeZone),
      printable(alert.severity),
      printable(alert.rule),
      whereOf(alert),
    ]),
    indent: '  ',
  });
  const held = incident.alerts.flatMap((alert) => {
    const silence = alert.endedAt === null ? silenceOf(silences, alert, nowMs) : null;
    return silence === null ? [] : [`  ${printable(alert.rule)} ${heldText(silence, timeZone)}\n`];
  });
  return `${lines.join('\n')}\n${table}${held.join('')}`;
}

/** Incidents of some days, the newest first, a line each. */
export function drawPast(output: Output, incidents: readonly Incident[], timeZone = 'UTC'): string {
  if (incidents.length === 0) return 'No incident in this time.\n';
  const table = drawTable(output, {
    headers: ['began', 'noticed after', 'mended after', 'gateway', 'severity', 'orders', 'alerts', 'what'],
    rows: incidents.map((incident) => [
      at(incident.beganAt, timeZone),
      lasted(incident.beganAt, incident.noticedAt),
      incident.endedAt === null ? output.paint('red', 'RUNNING') : lasted(incident.beganAt, incident.endedAt),
      printable(incident.gateway === '' ? '-' : incident.gateway),
      printable(incident.severity),
      incident.affectedOrders === null ? '-' : String(incident.affectedOrders),
      String(incident.alerts.length),
      printable(incident.headline),
    ]),
    rightAligned: new Set([5, 6]),
  });
  const running = incidents.filter(({ endedAt }) => endedAt === null).length;
  return `${table}\n${incidents.length} ${incidents.length === 1 ? 'incident' : 'incidents'}, ${running} running. Orders: the most that one alert saw at once.\n`;
}

const stateOf = ({ endedAt, recoveringSince }: IncidentAlert, timeZone: string): string => {
  if (endedAt !== null) return `over since ${at(endedAt, timeZone, false)}`;
  return recoveringSince === null ? 'firing' : `recovering since ${at(recoveringSince, timeZone, false)}`;
};

const whereOf = ({ gateway, slice, label }: IncidentAlert): string =>
  [gateway, sliceText(slice), label]
    .filter((name) => name !== '')
    .map(printable)
    .join(' ');

const sidesOf = ({ sides }: Incident): string =>
  sides.map((side) => SIDE_TEXT[side as Side] ?? printable(side)).join(', then ') || 'not known';

const atRisk = ({ risks }: Incident): string =>
  risks.length === 0 ? 'orders' : ['orders', ...risks].join(', ');

const lasted = (fromMs: number, toMs: number): string => spanText(Math.max(0, toMs - fromMs) / 1000);
const at = (ms: number, timeZone: string, withDay = true): string =>
  timesText([ms * 1000], timeZone, minuteText, withDay);
