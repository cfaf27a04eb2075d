import type { Channel, IncidentName } from './scenarios.ts';

export interface IncidentRequest {
  readonly name: IncidentName;
  /** Share of the new orders it hits, 0 to 1. */
  readonly share: number;
  /** @default until removed */
  readonly forSeconds?: number;
  /** Only orders of this channel. @default all */
  readonly channel?: Channel;
}

export interface ActiveIncident extends IncidentRequest {
  readonly id: string;
  readonly startedAtMs: number;
  readonly untilMs: number | null;
}

export interface IncidentBoard {
  start(request: IncidentRequest): ActiveIncident;
  end(id: string): boolean;
  list(): ActiveIncident[];
  /** The part of the normal traffic that is left, 0 to 1. */
  trafficFactor(): number;
}

/** What goes wrong in the orders themselves. An incident touches the orders created while it lasts. */
export function createIncidentBoard(now: () => number): IncidentBoard {
  const incidents = new Map<string, ActiveIncident>();
  let started = 0;
  const list = () => {
    for (const [id, incident] of incidents)
      if (incident.untilMs !== null && incident.untilMs <= now()) incidents.delete(id);
    return [...incidents.values()];
  };
  return {
    start(request) {
      const untilMs = request.forSeconds === undefined ? null : now() + request.forSeconds * 1000;
      const incident = { ...request, id: `incident-${++started}`, startedAtMs: now(), untilMs };
      incidents.set(incident.id, incident);
      return incident;
    },
    end: (id) => incidents.delete(id),
    list,
    trafficFactor: () =>
      list()
        .filter(({ name }) => name === 'traffic_drop')
        .reduce((factor, { share }) => factor * (1 - share), 1),
  };
}
