import type { Alert } from '../explain/alert.ts';

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
    groupKey: `{}/{gateway="${gateway}"}`,
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

/** The page as text. */
export function messageOf({ status, labels, annotations, startsAt, endsAt }: Alert): string {
  if (status === 'resolved')
    return `over since ${annotations['ended'] ?? endsAt.toISOString()}: ${annotations['summary'] ?? labels['alertname']}`;
  const line = (title: string, name: string): string[] =>
    annotations[name] === undefined ? [] : [`${title}${annotations[name]}`];
  return [
    `${labels['severity']}: ${annotations['summary'] ?? labels['alertname']}`,
    ...line('', 'description'),
    `Since: ${annotations['since'] ?? startsAt.toISOString()}`,
    ...line('Explanation: ', 'explanation'),
    ...line('At risk: ', 'at_risk'),
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
