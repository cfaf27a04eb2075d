import { SEVERITIES, SIDES } from '../rules/rule.ts';

/**
 * Who is notified, how and when, as data: one tree for Grafana and for Alertmanager. Secrets are names in the
 * environment (Grafana) or files (Alertmanager), never values.
 */

export interface Receiver {
  readonly name: string;
  readonly pagerduty?: true;
  readonly slack?: { readonly channel: string };
  readonly email?: true;
  readonly webhook?: true;
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
  { name: 'gatewatch-oncall', pagerduty: true, slack: { channel: '#payments-incidents' }, email: true },
  { name: 'gatewatch-payments', slack: { channel: '#payments' } },
  { name: 'gatewatch-platform', slack: { channel: '#platform' }, webhook: true },
  { name: 'gatewatch-tickets', webhook: true },
  { name: 'gatewatch-digest', email: true, resolved: false },
];

/** Alertmanager's and Grafana's form. Ranges over midnight are two. */
export const MUTE_TIMINGS = [
  {
    name: 'gatewatch-outside-office-hours',
    time_intervals: [
      {
        times: [
          { start_time: '00:00', end_time: '07:00' },
          { start_time: '19:00', end_time: '24:00' },
        ],
        weekdays: ['monday:friday'],
      },
      { weekdays: ['saturday', 'sunday'] },
    ],
  },
] as const;
const OUTSIDE_OFFICE_HOURS = MUTE_TIMINGS[0].name;

/** One incident is one notification: everything that fires for a gateway comes together. */
const PER_GATEWAY = ['gateway'] as const;

const [critical, warning, info] = SEVERITIES;
const ours = SIDES.filter((side) => side === 'collector').join('|');

export const POLICY: Route = {
  receiver: 'gatewatch-tickets',
  matchers: [],
  groupBy: PER_GATEWAY,
  groupWait: '30s',
  groupInterval: '5m',
  repeatInterval: '12h',
  routes: [
    // Grafana could not ask, or got no answer: a fault of the monitoring, whatever the rule says.
    {
      receiver: 'gatewatch-platform',
      matchers: [['alertname', '=~', 'DatasourceError|DatasourceNoData']],
      groupBy: ['alertname'],
      groupWait: '5m',
      repeatInterval: '12h',
      // Nobody looks any more: that is worth getting up for.
      routes: [{ receiver: 'gatewatch-oncall', matchers: [['severity', '=', critical]] }],
    },
    {
      receiver: 'gatewatch-oncall',
      matchers: [['severity', '=', critical]],
      groupBy: PER_GATEWAY,
      groupWait: '10s',
      repeatInterval: '4h',
      routes: [
        // Nobody else can mend our own blindness.
        {
          receiver: 'gatewatch-platform',
          matchers: [
            ['side', '=~', ours],
            ['alertname', '!=', 'GatewatchCollectorSilent'],
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
        {
          receiver: 'gatewatch-payments',
          matchers: [['side', '=~', 'issuer|payer|merchant']],
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
