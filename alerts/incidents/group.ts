import { SEVERITIES } from '../rules/rule.ts';

/** What decides to which incident an alert belongs. Instants are epoch milliseconds. */
export interface Firing {
  readonly rule: string;
  /** '' for what concerns no single gateway: such alerts form incidents of their own. */
  readonly gateway: string;
  readonly slice: string;
  readonly label: string;
  readonly severity: string;
  readonly firedAt: number;
  /** Null while it fires. */
  readonly endedAt: number | null;
}

/** After the end of an alert the next one still belongs to it for so long. */
export const JOIN_AFTER_END_MS = 10 * 60_000;
/** A warning may stand for days: what fires later than this is no consequence of it. */
const WARNING_REACHES_MS = 2 * 3_600_000;

/**
 * Alerts that belong together, oldest incident first, each in the order in which its alerts fired. An alert
 * joins the incident of its gateway that is under way when it fires: while one of that incident's alerts
 * fires or up to ten minutes after its end, and of a warning at most two hours after it fired. The same
 * alerts give the same incidents in any order. Info is context: it neither makes an incident nor belongs to
 * one.
 */
export function incidentsIn<T extends Firing>(firings: readonly T[]): readonly (readonly T[])[] {
  const open = new Map<string, { readonly members: T[]; reachMs: number }>();
  const found: T[][] = [];
  for (const firing of firings.filter(({ severity }) => severity !== 'info').toSorted(inOrder)) {
    const incident = open.get(firing.gateway);
    if (incident !== undefined && firing.firedAt <= incident.reachMs) {
      incident.members.push(firing);
      incident.reachMs = Math.max(incident.reachMs, reachOf(firing));
      continue;
    }
    const members = [firing];
    open.set(firing.gateway, { members, reachMs: reachOf(firing) });
    found.push(members);
  }
  return found;
}

/** `acme-eu/2026-11-21T10:15:00Z`: the gateway and when the first alert fired. */
export const incidentId = ({ gateway, firedAt }: Pick<Firing, 'gateway' | 'firedAt'>): string =>
  `${gateway === '' ? '*' : gateway}/${new Date(firedAt).toISOString().slice(0, 19)}Z`;

/** Until when an alert that fires belongs to it. */
function reachOf({ severity, firedAt, endedAt }: Firing): number {
  const afterEnd = (endedAt ?? Infinity) + JOIN_AFTER_END_MS;
  return severity === 'critical' ? afterEnd : Math.min(afterEnd, firedAt + WARNING_REACHES_MS);
}

export const severityRank = (severity: string): number => {
  const rank = [...SEVERITIES].findIndex((one) => one === severity);
  return rank === -1 ? SEVERITIES.length : rank;
};

/** By time; of those that fire at the same instant the worst first, and then by name. */
function inOrder(a: Firing, b: Firing): number {
  const byTime = a.firedAt - b.firedAt || severityRank(a.severity) - severityRank(b.severity);
  return byTime || compare(nameOf(a), nameOf(b));
}

const nameOf = ({ rule, gateway, slice, label }: Firing): string => [rule, gateway, slice, label].join('/');
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
