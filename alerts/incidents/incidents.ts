import type { Incident, IncidentAlert, IncidentNote } from '../../schemas/incident.ts';
import { incidentId, incidentsIn, severityRank } from './group.ts';

/** A note of a gateway; '' for all. */
export interface Note extends IncidentNote {
  readonly gateway: string;
}

/** What was deployed just before it began belongs to its story. */
export const NOTES_BEFORE_MS = 30 * 60_000;

/** The incidents that these alerts make, the newest first. */
export const incidentsOf = (alerts: readonly IncidentAlert[], notes: readonly Note[]): Incident[] =>
  incidentsIn(alerts)
    .map((members) => incidentOf(members, notes))
    .toSorted((a, b) => b.noticedAt - a.noticedAt || (a.id < b.id ? -1 : 1));

function incidentOf(alerts: readonly IncidentAlert[], notes: readonly Note[]): Incident {
  const [first] = alerts;
  if (first === undefined) throw new Error('an incident has an alert');
  const beganAt = Math.min(...alerts.map((alert) => alert.beganAt));
  const ends = alerts.map((alert) => alert.endedAt);
  const endedAt = ends.reduce<number | null>((a, b) => (a === null || b === null ? null : Math.max(a, b)), 0);
  const counts = alerts.flatMap(({ affectedOrders }) => affectedOrders ?? []);
  return {
    id: incidentId(first),
    gateway: first.gateway,
    headline: first.summary,
    severity:
      alerts.map(({ severity }) => severity).toSorted((a, b) => severityRank(a) - severityRank(b))[0] ?? '',
    sides: distinct(alerts.map(({ side }) => side)),
    risks: distinct(alerts.map(({ risk }) => risk)),
    beganAt,
    noticedAt: first.firedAt,
    endedAt,
    affectedOrders: counts.length === 0 ? null : Math.max(...counts),
    alerts,
    notes: notes
      .filter(
        ({ gateway, at }) =>
          (gateway === '' || gateway === first.gateway) &&
          at >= beganAt - NOTES_BEFORE_MS &&
          at <= (endedAt ?? Infinity),
      )
      .map(({ at, title, text }) => ({ at, title, text }))
      .toSorted((a, b) => a.at - b.at),
  };
}

const distinct = (texts: readonly string[]): string[] => [...new Set(texts.filter((text) => text !== ''))];
