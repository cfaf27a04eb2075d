import { type CalendarConfig, UTC_WITHOUT_HOLIDAYS } from '../../schemas/config-alerts.ts';
import { EMAIL_TEMPLATE, messageTemplate } from './notification-texts.ts';
import { POLICY, type Receiver, RECEIVERS, type Route, slackVariable } from './notifications.ts';
import { ADDRESSES } from '../notify/alertmanager-config.ts';
import { muteTimings } from '../notify/mute-timings.ts';
import { yamlFile } from './provisioning.ts';

/** The same tree twice: as Grafana provisions it, and as Alertmanager's configuration. */

const TITLE = '{{ template "gatewatch.title" . }}';
const HTML = '{{ template "gatewatch.html" . }}';
const MESSAGE = '{{ template "gatewatch.message" . }}';

/**
 * Contact points, policies, mute timings and texts for Grafana. Secrets come from its environment; zone and
 * holidays cannot, since Grafana fills in no variable within a mute timing.
 */
export function grafanaNotifications(calendar: CalendarConfig): ReadonlyMap<string, string> {
  return new Map([
    [
      'gatewatch-contact-points.yaml',
      yamlFile({ apiVersion: 1, contactPoints: RECEIVERS.map(contactPoint) }),
    ],
    [
      'gatewatch-policies.yaml',
      yamlFile({ apiVersion: 1, policies: [{ orgId: 1, ...grafanaRoute(POLICY) }] }),
    ],
    [
      'gatewatch-mute-timings.yaml',
      yamlFile({
        apiVersion: 1,
        muteTimes: muteTimings(calendar).map((timing) => ({ orgId: 1, ...timing })),
      }),
    ],
    [
      'gatewatch-templates.yaml',
      yamlFile({
        apiVersion: 1,
        templates: [{ orgId: 1, name: 'gatewatch', template: messageTemplate(calendar.timeZone) }],
      }),
    ],
  ]);
}

function contactPoint(to: Receiver): object {
  const { name, pagerduty, slack, email, webhook, heartbeat, resolved = true } = to;
  const receiver = (kind: string, type: string, settings: object): object => ({
    uid: `${name}-${kind}`,
    type,
    settings,
    disableResolveMessage: !resolved,
  });
  return {
    orgId: 1,
    name,
    receivers: [
      ...(pagerduty
        ? [
            receiver('pd', 'pagerduty', {
              integrationKey: '$GATEWATCH_PAGERDUTY_KEY',
              severity: 'critical',
              summary: TITLE,
              details: { message: MESSAGE },
            }),
          ]
        : []),
      ...(slack
        ? [
            receiver('sl', 'slack', {
              url: `$${slackVariable(name)}`,
              title: TITLE,
              text: MESSAGE,
            }),
          ]
        : []),
      ...(email
        ? [
            receiver('em', 'email', {
              addresses: '$GATEWATCH_ALERT_EMAILS',
              subject: TITLE,
              message: MESSAGE,
              singleEmail: true,
            }),
          ]
        : []),
      ...(webhook
        ? [
            receiver('wh', 'webhook', {
              url: '$GATEWATCH_ALERT_WEBHOOK_URL',
              httpMethod: 'POST',
              title: TITLE,
              message: MESSAGE,
            }),
          ]
        : []),
      ...(heartbeat
        ? [receiver('hb', 'webhook', { url: `$${ADDRESSES.heartbeat}`, httpMethod: 'POST' })]
        : []),
    ],
  };
}

function grafanaRoute(route: Route): object {
  return {
    receiver: route.receiver,
    ...(route.matchers.length === 0 ? {} : { object_matchers: route.matchers }),
    ...timing(route),
    ...(route.mutedIn === undefined ? {} : { mute_time_intervals: route.mutedIn }),
    ...(route.routes === undefined ? {} : { routes: route.routes.map(grafanaRoute) }),
  };
}

const timing = ({ groupBy, groupWait, groupInterval, repeatInterval }: Route): object => ({
  ...(groupBy === undefined ? {} : { group_by: groupBy }),
  ...(groupWait === undefined ? {} : { group_wait: groupWait }),
  ...(groupInterval === undefined ? {} : { group_interval: groupInterval }),
  ...(repeatInterval === undefined ? {} : { repeat_interval: repeatInterval }),
});

/**
 * Alertmanager's configuration, for those who evaluate the rules with the collector. Keys are read from
 * files. Addresses stand as `${NAME}`, since Alertmanager reads no environment: it refuses the file as it is,
 * and `gatewatch alerts --alertmanager-config` fills in the addresses, the zone and the holidays.
 */
export function alertmanagerFiles(): ReadonlyMap<string, string> {
  const config = {
    global: {
      smtp_smarthost: named(ADDRESSES.smarthost),
      smtp_from: named(ADDRESSES.from),
      smtp_require_tls: false,
    },
    templates: ['gatewatch.tmpl', 'gatewatch-email.tmpl'],
    route: alertmanagerRoute(POLICY),
    mute_time_intervals: muteTimings(UTC_WITHOUT_HOLIDAYS),
    receivers: RECEIVERS.map(alertmanagerReceiver),
  };
  return new Map([
    ['alertmanager.yml', yamlFile(config)],
    ['gatewatch.tmpl', messageTemplate()],
    ['gatewatch-email.tmpl', EMAIL_TEMPLATE],
  ]);
}

const named = (name: string): string => `\${${name}}`;

const alertmanagerRoute = (route: Route): object => ({
  receiver: route.receiver,
  ...(route.matchers.length === 0
    ? {}
    : {
        matchers: route.matchers.map(
          ([label, operator, value]) => `${label}${operator}${JSON.stringify(value)}`,
        ),
      }),
  ...timing(route),
  ...(route.mutedIn === undefined ? {} : { mute_time_intervals: route.mutedIn }),
  ...(route.routes === undefined ? {} : { routes: route.routes.map(alertmanagerRoute) }),
});

function alertmanagerReceiver(to: Receiver): object {
  const { name, pagerduty, slack, email, resolved = true } = to;
  const posts = [...(to.webhook ? [ADDRESSES.webhook] : []), ...(to.heartbeat ? [ADDRESSES.heartbeat] : [])];
  return {
    name,
    ...(pagerduty
      ? {
          pagerduty_configs: [
            {
              routing_key_file: '/run/secrets/gatewatch_pagerduty_key',
              severity: 'critical',
              description: TITLE,
              details: { message: MESSAGE },
              send_resolved: resolved,
            },
          ],
        }
      : {}),
    ...(slack
      ? {
          slack_configs: [
            {
              api_url_file: `/run/secrets/${slackVariable(name).toLowerCase()}`,
              title: TITLE,
              text: MESSAGE,
              send_resolved: resolved,
            },
          ],
        }
      : {}),
    ...(email
      ? {
          email_configs: [
            {
              to: named(ADDRESSES.emails),
              headers: { Subject: TITLE },
              text: MESSAGE,
              html: HTML,
              send_resolved: resolved,
            },
          ],
        }
      : {}),
    ...(posts.length === 0
      ? {}
      : { webhook_configs: posts.map((address) => ({ url: named(address), send_resolved: resolved })) }),
  };
}
