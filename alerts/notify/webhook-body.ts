import type { Alert } from '../explain/alert.ts';
import { severityRank } from '../incidents/group.ts';

/** The body of one gateway's notification, in the shape of Grafana's webhooks. */
export function webhookBody(gateway: string, alerts: readonly Alert[]): object {
  const firing = alerts.filter(({ status }) => status === 'firing');
  const status = firing.length > 0 ? 'firing' : 'resolved';
  const names = [
    ...new Set((firing.length > 0 ? firing : alerts).map(({ labels }) => labels['alertname'] ?? '')),
  ];
  return {
    receiver: 'gatewatch',
    status,
    version: '1',
    groupKey: `{}/{gateway="${gateway}"${alerts.every(isInfo) ? ', severity="info"' : ''}}`,
    incident: incidentOf(firing.length > 0 ? firing : alerts),
    groupLabels: { gateway },
    commonLabels: common(alerts.map(({ labels }) => labels)),
    commonAnnotations: common(alerts.map(({ annotations }) => annotations)),
    truncatedAlerts: 0,
    title: `[${status.toUpperCase()}${status === 'firing' ? `:${firing.length}` : ''}] ${gateway} ${names.join(', ')}`,
    state: status === 'firing' ? 'alerting' : 'ok',
    message: alerts.map(messageOf).join('\n\n'),
    alerts: alerts.map((alert) => ({
      status: alert.status,
      labels: alert.labels,
      annotations: alert.annotations,
      startsAt: alert.startsAt,
      // Grafana and Alertmanager write this for what has not ended.
      endsAt: alert.status === 'firing' ? '0001-01-01T00:00:00Z' : alert.endsAt,
      generatorURL: alert.generatorUrl,
      fingerprint: alert.fingerprint,
      values: alert.values,
    })),
  };
}

const isInfo = ({ labels }: Alert): boolean => labels['severity'] === 'info';

/**
 * What a receiver threads messages by: the incident of the worst alert, and of these the one that began
 * last, since a warning may stand for days. Null: the alerts belong to none.
 */
function incidentOf(alerts: readonly Alert[]): { readonly id: string; readonly headline: string } | null {
  const [worst] = alerts
    .filter(({ annotations }) => annotations['incident'] !== undefined)
    .toSorted(
      (a, b) =>
        severityRank(a.labels['severity'] ?? '') - severityRank(b.labels['severity'] ?? '') ||
        b.startsAt.getTime() - a.startsAt.getTime(),
    );
  if (worst === undefined) return null;
  const { incident: id = '', incident_headline: headline = '' } = worst.annotations;
  return { id, headline };
}

/** The page as text. */
export function messageOf({ status, labels, annotations, startsAt, endsAt }: Alert): string {
  if (status === 'resolved')
    return `over since ${annotations['ended'] ?? endsAt.toISOString()}: ${annotations['summary'] ?? labels['alertname']}`;
  // Somebody is at it: one line is enough.
  if (annotations['acknowledged'] !== undefined)
    return `${annotations['summary'] ?? labels['alertname']} Acknowledged ${annotations['acknowledged']}`;
  const line = (title: string, name: string): string[] =>
    annotations[name] === undefined ? [] : [`${title}${annotations[name]}`];
  return [
    `${labels['severity']}: ${annotations['summary'] ?? labels['alertname']}`,
    ...line('', 'description'),
    `Since: ${annotations['since'] ?? startsAt.toISOString()}`,
    ...line('Explanation: ', 'explanation'),
    ...line('At risk: ', 'at_risk'),
    ...line('Incident: ', 'incident'),
    ...line('Side: ', 'side'),
    ...line('First: ', 'steps'),
    ...line('Orders: ', 'orders_url'),
    ...(annotations['example'] === undefined
      ? []
      : [`Example: ${annotations['example']} ${annotations['example_url']}`]),
    ...line('Panel: ', 'dashboard_url'),
    ...line('Runbook: ', 'runbook_url'),
    ...line('Error: ', 'Error'),
  ].join('\n');
}

/** What all have in common. */
function common(all: readonly Readonly<Record<string, string>>[]): Record<string, string> {
  const [first = {}, ...others] = all;
  return Object.fromEntries(
    Object.entries(first).filter(([name, value]) => others.every((other) => other[name] === value)),
  );
}
