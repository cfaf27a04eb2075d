import { OUTSIDE_OFFICE_HOURS } from '../notify/mute-timings.ts';
import { RISKS, SEVERITIES, SIDES } from '../rules/rule.ts';

/**
 * Who is notified, how and when, as data: one tree for Grafana and for Alertmanager. Addresses and secrets
 * are names in the environment or of files, never values.
 */

export interface Receiver {
  readonly name: string;
  readonly pagerduty?: true;
  readonly slack?: true;
  readonly email?: true;
  readonly webhook?: true;
  /** A service outside that raises the alarm when nothing comes any more. */
  readonly heartbeat?: true;
  /** Notify of the end as well. @default true */
  readonly resolved?: boolean;
}

/** Label, operator, value: all must hold. */
export type Matcher = readonly [label: string, operator: '=' | '!=' | '=~' | '!~', value: string];

export interface Route {
  readonly receiver: string;
  readonly matchers: readonly Matcher[];
  readonly groupBy?: readonly string[];
  readonly groupWait?: string;
  readonly groupInterval?: string;
  readonly repeatInterval?: string;
  /** Names of mute timings. */
  readonly mutedIn?: readonly string[];
  readonly routes?: readonly Route[];
}

export const RECEIVERS: readonly Receiver[] = [
  { name: 'gatewatch-oncall', pagerduty: true, slack: true, email: true },
  { name: 'gatewatch-payments', slack: true },
  { name: 'gatewatch-platform', slack: true, webhook: true },
  { name: 'gatewatch-tickets', webhook: true },
  { name: 'gatewatch-digest', email: true, resolved: false },
  { name: 'gatewatch-heartbeat', heartbeat: true, resolved: false },
];

/** One incident is one notification: everything that fires for a gateway comes together. */
const PER_GATEWAY = ['gateway'] as const;

/**
 * The first notification waits as long as one evaluation can take. Rules of a group start on the same tick
 * and finish seconds apart (30 rules took 24 to 28 s on a quiet machine), and Grafana's evaluation timeout of
 * 30 s ends the slowest. So whatever one evaluation found is in the first page, the cause among the symptoms.
 * What only the next evaluation finds, a minute later, follows with the interval of critical groups: one
 * minute, not five.
 */
const EVALUATION_SECONDS = 30;

const [critical, warning, info] = SEVERITIES;
/** Sides whose faults the payments team handles. */
const PAYMENT_SIDES = 'issuer|payer|merchant|stranger';
const atRisk = RISKS.join('|');
const ours = SIDES.filter((side) => side === 'collector').join('|');

export const POLICY: Route = {
  receiver: 'gatewatch-tickets',
  matchers: [],
  groupBy: PER_GATEWAY,
  groupWait: '30s',
  groupInterval: '5m',
  repeatInterval: '12h',
  routes: [
    // A sign of life, not for people.
    {
      receiver: 'gatewatch-heartbeat',
      matchers: [['alertname', '=', 'GatewatchHeartbeat']],
      groupBy: ['alertname'],
      groupWait: '0s',
      groupInterval: '1m',
      repeatInterval: '5m',
    },
    // Grafana could not ask, or got no answer: a fault of the monitoring, whatever the rule says.
    {
      receiver: 'gatewatch-platform',
      matchers: [['alertname', '=~', 'DatasourceError|DatasourceNoData']],
      groupBy: ['alertname'],
      groupWait: '5m',
      repeatInterval: '12h',
      // Without the rule that watches the collectors nobody would know: this one pages.
      routes: [{ receiver: 'gatewatch-oncall', matchers: [['severity', '=', critical]] }],
    },
    {
      receiver: 'gatewatch-oncall',
      matchers: [['severity', '=', critical]],
      groupBy: PER_GATEWAY,
      groupWait: `${EVALUATION_SECONDS}s`,
      groupInterval: '1m',
      repeatInterval: '4h',
      routes: [
        // Faults of gatewatch itself go to those who run it, unless nobody else can know.
        {
          receiver: 'gatewatch-platform',
          matchers: [
            ['side', '=~', ours],
            ['alertname', '!~', 'GatewatchCollectorSilent|GatewatchEvaluationsLate'],
          ],
        },
      ],
    },
    {
      receiver: 'gatewatch-tickets',
      matchers: [['severity', '=', warning]],
      groupBy: PER_GATEWAY,
      groupWait: '2m',
      repeatInterval: '24h',
      routes: [
        {
          receiver: 'gatewatch-platform',
          matchers: [['side', '=', 'collector']],
          mutedIn: [OUTSIDE_OFFICE_HOURS],
        },
        // Theft and loss keep no office hours.
        {
          receiver: 'gatewatch-payments',
          matchers: [
            ['side', '=~', PAYMENT_SIDES],
            ['risk', '=~', atRisk],
          ],
        },
        {
          receiver: 'gatewatch-payments',
          matchers: [['side', '=~', PAYMENT_SIDES]],
          mutedIn: [OUTSIDE_OFFICE_HOURS],
        },
      ],
    },
    {
      receiver: 'gatewatch-digest',
      matchers: [['severity', '=', info]],
      groupBy: ['service'],
      groupWait: '30m',
      groupInterval: '24h',
      repeatInterval: '168h',
      mutedIn: [OUTSIDE_OFFICE_HOURS],
    },
  ],
};

/** Name in the environment that holds a receiver's Slack address. An incoming webhook has its own channel. */
export const slackVariable = (receiver: string): string =>
  `${receiver.replace('gatewatch-', 'GATEWATCH_SLACK_URL_').toUpperCase()}`;
