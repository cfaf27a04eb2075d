import { isUtc } from '../../schemas/local-time.ts';

/**
 * A time of an alert. The collector's alerts have it by the reader's clocks as well, in an annotation. Those
 * of Grafana have not: its templates know zones (from 11.1 on), Alertmanager's only lately (from 0.28 on).
 */
function timeOf(what: 'since' | 'ended', timeZone: string): string {
  const [field, format] = what === 'since' ? ['StartsAt', '2006-01-02 15:04:05'] : ['EndsAt', '15:04:05'];
  const local = isUtc(timeZone) ? '' : ` ({{ .${field} | tz "${timeZone}" | date "${format}" }} ${timeZone})`;
  return `{{ if .Annotations.${what} }}{{ .Annotations.${what} }}{{ else }}{{ .${field}.UTC.Format "${format} MST" }}${local}{{ end }}`;
}

/**
 * Texts of notifications, in the language that Grafana and Alertmanager share. Grafana's copy must hold no
 * dollar sign: file provisioning would take it for the environment's.
 *
 * The title speaks of what fires. `.CommonAnnotations` spans alerts that have ended too, so it has a summary
 * only where all alerts share one.
 *
 * @param timeZone the reader's, for times beside UTC in what Grafana evaluates
 */
export const messageTemplate = (
  timeZone = 'UTC',
): string => `{{ define "gatewatch.title" }}{{ if .Alerts.Firing }}FIRING {{ len .Alerts.Firing }}{{ else }}over{{ end }}: {{ if .CommonLabels.gateway }}{{ .CommonLabels.gateway }} {{ end }}{{ if .CommonAnnotations.summary }}{{ .CommonAnnotations.summary }}{{ else if .Alerts.Firing }}{{ (index .Alerts.Firing 0).Annotations.summary }}{{ if gt (len .Alerts.Firing) 1 }} And others.{{ end }}{{ else }}{{ (index .Alerts.Resolved 0).Annotations.summary }} And others.{{ end }}{{ end }}

{{ define "gatewatch.alert" }}{{ .Labels.severity }}: {{ .Annotations.summary }}
{{ .Annotations.description }}
Since: ${timeOf('since', timeZone)}
{{ if .Annotations.explanation }}Explanation: {{ .Annotations.explanation }}
{{ end }}{{ if .Annotations.at_risk }}At risk: {{ .Annotations.at_risk }}
{{ end }}{{ if .Annotations.incident }}Incident: {{ .Annotations.incident }}
{{ end }}{{ if .Annotations.acknowledged }}Acknowledged: {{ .Annotations.acknowledged }}
{{ end }}Side: {{ .Annotations.side }}
First: {{ .Annotations.steps }}
{{ if .Annotations.orders_url }}Orders: {{ .Annotations.orders_url }}
{{ end }}{{ if .Annotations.example }}Example: {{ .Annotations.example }} {{ .Annotations.example_url }}
{{ end }}{{ if .Annotations.dashboard_url }}Panel: {{ .Annotations.dashboard_url }}
{{ end }}Runbook: {{ .Annotations.runbook_url }}
{{ end }}

{{ define "gatewatch.message" }}{{ range .Alerts.Firing }}{{ template "gatewatch.alert" . }}
{{ end }}{{ range .Alerts.Resolved }}over since ${timeOf('ended', timeZone)}: {{ .Annotations.summary }}
{{ end }}{{ end }}
`;

/**
 * The page as an e-mail that can be read on a telephone, for Alertmanager; Grafana lays out its e-mails
 * itself. Styles stand in the elements, since mail programs drop style sheets.
 */
const LABEL = 'padding:6px 12px 6px 0;color:#64748b;vertical-align:top;white-space:nowrap';
const VALUE = 'padding:6px 0;vertical-align:top;white-space:pre-line';
const BUTTON =
  'display:inline-block;margin:0 8px 8px 0;padding:10px 16px;border-radius:6px;background:#1d4ed8;color:#ffffff;text-decoration:none;font-weight:600';

const row = (label: string, value: string): string =>
  `<tr><td style="${LABEL}">${label}</td><td style="${VALUE}">${value}</td></tr>`;
/** What some pages do not say. */
const given = (annotation: string, html: string): string =>
  `{{ if .Annotations.${annotation} }}${html}{{ end }}`;
const button = (annotation: string, text: string): string =>
  given(annotation, `<a href="{{ .Annotations.${annotation} }}" style="${BUTTON}">${text}</a>`);

export const EMAIL_TEMPLATE = `{{ define "gatewatch.html.alert" }}
<div style="margin:0 0 16px;padding:16px 20px;border:1px solid #e2e8f0;border-left:6px solid {{ if eq .Labels.severity "critical" }}#dc2626{{ else if eq .Labels.severity "warning" }}#d97706{{ else }}#2563eb{{ end }};border-radius:8px;background:#ffffff">
<div style="font-size:13px;color:#64748b">{{ .Labels.severity }} &middot; {{ .Labels.alertname }}</div>
<div style="margin:4px 0 10px;font-size:19px;font-weight:700">{{ .Annotations.summary }}</div>
<div style="margin:0 0 10px">{{ .Annotations.description }}</div>
<table style="border-collapse:collapse;margin:0 0 12px;font-size:15px">
${row('Since', timeOf('since', 'UTC'))}
${given('explanation', row('Explanation', '{{ .Annotations.explanation }}'))}${given('at_risk', row('At risk', '{{ .Annotations.at_risk }}'))}${given('incident', row('Incident', '{{ .Annotations.incident }}'))}${given('acknowledged', row('Acknowledged', '{{ .Annotations.acknowledged }}'))}${row('Side', '{{ .Annotations.side }}')}
${row('First', '{{ .Annotations.steps }}')}
${given('example', row('Example', '<a href="{{ .Annotations.example_url }}">{{ .Annotations.example }}</a>'))}
</table>
${button('orders_url', 'Orders')}${button('dashboard_url', 'Panel')}${button('runbook_url', 'Runbook')}
</div>
{{ end }}

{{ define "gatewatch.html" }}<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{{ template "gatewatch.title" . }}</title></head>
<body style="margin:0;padding:16px;background:#f1f5f9;color:#0f172a;font:16px/1.45 system-ui,-apple-system,'Segoe UI',Roboto,Arial,sans-serif">
<div style="max-width:640px;margin:0 auto">
<div style="margin:0 0 14px;font-size:22px;font-weight:700">{{ template "gatewatch.title" . }}</div>
{{ range .Alerts.Firing }}{{ template "gatewatch.html.alert" . }}{{ end }}
{{ range .Alerts.Resolved }}<div style="margin:0 0 8px;padding:12px 20px;border-left:6px solid #16a34a;border-radius:8px;background:#ffffff"><b>Over</b> since ${timeOf('ended', 'UTC')}: {{ .Annotations.summary }}</div>{{ end }}
</div>
</body>
</html>
{{ end }}
`;
