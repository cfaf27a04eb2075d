import {
  CIRCUITS,
  CLOCK_SKEW,
  MESSAGES_WAITING,
  PICTURE_BEHIND,
  TRANSACTION_OPEN,
} from '../../schemas/limits.ts';
import { view } from '../../schemas/measures.ts';
import { fixedShare, REREADS, Z } from './conditions.ts';
import type { Rule } from './rule.ts';

/** The newest report of each collector on each gateway, within a day. */
const newest = (column: string): string =>
  `SELECT toString(gateway) AS gateway, argMax(${column}, reported_at) AS newest, max(reported_at) AS newest_at
    FROM ${view('gatewayStatus')}
    WHERE reported_at <= as_of AND reported_at > as_of - INTERVAL 86400 SECOND
    GROUP BY gateway, collector_id`;

/** How far a gateway's history is dated from our clock, whichever way. */
const CLOCK_SKEW_SQL = `SELECT gateway, '' AS label, max(abs(newest)) AS number
  FROM
  (
    ${newest('clock_skew_seconds')}
  )
  WHERE newest_at > as_of - INTERVAL 300 SECOND AND newest IS NOT NULL
  GROUP BY gateway`;

/** The newest report of each collector, unless it has ended. */
const ofCollectors = (column: string): string =>
  `SELECT '' AS gateway, collector_id AS label, max(newest) AS number
  FROM
  (
    SELECT toString(collector_id) AS collector_id, argMax(${column}, reported_at) AS newest, max(reported_at) AS newest_at
    FROM ${view('collectorStatus')}
    WHERE reported_at <= as_of AND reported_at > as_of - INTERVAL 86400 SECOND
    GROUP BY collector_id
  )
  WHERE newest_at > as_of - INTERVAL 300 SECOND
  GROUP BY label`;

export const BLINDNESS_RULES: readonly Rule[] = [
  {
    kind: 'gauge',
    name: 'GatewatchCollectorSilent',
    uid: 'gatewatch-collector-silent',
    severity: 'critical',
    side: 'collector',
    sql: `SELECT gateway, '' AS label, dateDiff('millisecond', max(newest_at), toDateTime64(as_of, 6, 'UTC')) / 1000 AS number
  FROM
  (
    ${newest('watermark_at')}
  )
  GROUP BY gateway`,
    splitBy: null,
    above: 60,
    unit: 'seconds since a collector last reported on the gateway',
    pendingSeconds: 60,
    keepFiringSeconds: 60,
    summary: 'No collector reports on the gateway.',
    explanation:
      'The gateway is not observed: values stand still, and no other rule can report anything new.',
    steps: [
      'Is the collector running? Its log says why it ended.',
      'Does the store take rows? "gatewatch doctor" says so.',
      'Start it again: what was missed is read afterwards.',
    ],
    alertOnNoData: true,
  },
  {
    kind: 'gauge',
    name: 'GatewatchCircuitOpen',
    uid: 'gatewatch-circuit-open',
    severity: 'critical',
    side: 'merchant',
    sql: `SELECT gateway, '' AS label, max(newest) AS number
  FROM
  (
    ${newest('circuits_open')}
  )
  WHERE newest_at > as_of - INTERVAL 300 SECOND
  GROUP BY gateway`,
    splitBy: null,
    above: CIRCUITS.aboveOpen,
    unit: 'circuits open',
    pendingSeconds: 60,
    keepFiringSeconds: 120,
    summary: 'The gateway has refused us so often that we only probe.',
    explanation: 'Token or address are refused; nothing is read until a probe is accepted.',
    steps: [
      'Run "gatewatch doctor": it shows what the gateway answers.',
      '401: replace the token. 403: have our address or the endpoint allowed.',
      'The circuit closes by itself with the first probe that is accepted.',
    ],
  },
  {
    kind: 'gauge',
    name: 'GatewatchPictureBehind',
    uid: 'gatewatch-picture-behind',
    severity: 'critical',
    side: 'collector',
    sql: `SELECT gateway, '' AS label, dateDiff('millisecond', max(newest), toDateTime64(as_of, 6, 'UTC')) / 1000 AS number
  FROM
  (
    ${newest('watermark_at')}
  )
  WHERE newest_at > as_of - INTERVAL 300 SECOND
  GROUP BY gateway`,
    splitBy: null,
    above: PICTURE_BEHIND.aboveSeconds,
    unit: 'seconds behind',
    pendingSeconds: 60,
    keepFiringSeconds: 120,
    summary: 'Our picture of the gateway is old.',
    explanation:
      'The gateway answers late or not at all, asks for pauses, or polls wait. Alerts of this gateway see nothing new meanwhile.',
    steps: [
      'Look at /readyz and at the durations of status requests: is the gateway slow, does it ask for pauses, or do polls wait?',
      'Polls that wait: raise requestsPerSecond or concurrency of the gateway, or add a collector.',
      'Watch the age fall.',
    ],
    suppressedBy: 'GatewatchGatewayUnreachable',
  },
  {
    kind: 'gauge',
    name: 'GatewatchConsumerLag',
    uid: 'gatewatch-consumer-lag',
    severity: 'warning',
    side: 'collector',
    sql: ofCollectors('consumer_lag'),
    splitBy: 'collector',
    above: MESSAGES_WAITING.aboveMessages,
    unit: 'messages waiting in Kafka',
    pendingSeconds: 300,
    keepFiringSeconds: 120,
    summary: 'Callbacks and watch messages wait in Kafka.',
    explanation: 'Orders are read late, and what is read late is judged late.',
    steps: [
      'Is the store slow or full? The log of the collector says what it waits for.',
      'Add a collector to the group if it cannot keep up.',
      'Watch the lag fall.',
    ],
  },
  {
    kind: 'gauge',
    name: 'GatewatchTransactionOpen',
    uid: 'gatewatch-transaction-open',
    severity: 'warning',
    side: 'merchant',
    sql: ofCollectors('transaction_open_seconds'),
    splitBy: 'collector',
    above: TRANSACTION_OPEN.aboveSeconds,
    unit: 'seconds that messages wait for a transaction in Kafka',
    pendingSeconds: 60,
    keepFiringSeconds: 60,
    summary: 'Messages in Kafka wait for a transaction to end.',
    explanation:
      'A producer has begun a transaction and not ended it. The broker hands out nothing that was written to the partition since then, whoever wrote it: callbacks come late.',
    steps: [
      'List open transactions: kafka-transactions.sh --bootstrap-server HOST:PORT find-hanging --broker ID.',
      'End it: stop its producer, or abort it with kafka-transactions.sh abort.',
      'Watch the consumer lag fall.',
    ],
  },
  {
    kind: 'gauge',
    name: 'GatewatchRejects',
    uid: 'gatewatch-rejects',
    severity: 'warning',
    side: 'gateway',
    sql: `SELECT gateway, '' AS label, sum(rejected) AS number
  FROM
  (
    SELECT toString(gateway) AS gateway, toFloat64(count()) AS rejected
    FROM ${view('rejects')}
    WHERE rejected_at > as_of - INTERVAL 900 SECOND AND rejected_at <= as_of
    GROUP BY gateway
    UNION ALL
    SELECT gateway, 0 AS rejected
    FROM
    (
      ${newest('watermark_at')}
    )
    GROUP BY gateway
  )
  GROUP BY gateway`,
    splitBy: null,
    above: 10,
    unit: 'rejects within 15 minutes',
    pendingSeconds: 120,
    keepFiringSeconds: 300,
    summary: 'Replies or messages fit no row.',
    explanation: 'What is rejected is counted nowhere else.',
    steps: [
      'List the rejects by reason (runbook).',
      'Replies: the gateway has changed its format. Watch messages: your shop has.',
      'Read them again with "gatewatch redrive" once the cause is mended.',
    ],
  },
  {
    kind: 'share',
    name: 'GatewatchRereadCoverage',
    uid: 'gatewatch-reread-coverage',
    severity: 'warning',
    side: 'collector',
    count: {
      from: REREADS,
      splitBy: null,
      counts: [{ label: '', hit: 'NOT reread' }],
      clock: 'wall',
    },
    condition: {
      ...fixedShare(0.1, 6, Z.warning),
      windows: [{ windowSeconds: 900 }, { windowSeconds: 3_600, confirmSeconds: 900 }],
    },
    pendingSeconds: 120,
    keepFiringSeconds: 300,
    summary: 'Finished orders are not read again.',
    affectedOrders: 'were not read again at the end of the configured re-reads (poll.rereadsS)',
    explanation: 'History grows for about ten minutes after a final status; what comes late is missing.',
    steps: [
      'Do polls wait? See GatewatchPictureBehind and the budget of the gateway.',
      'Was the collector down after these orders were decided? Then it catches up.',
      'Run "gatewatch audit" for the span in question.',
    ],
    suppressedBy: 'GatewatchGatewayUnreachable',
  },
  {
    kind: 'gauge',
    name: 'GatewatchClockSkew',
    uid: 'gatewatch-clock-skew',
    severity: 'warning',
    side: 'gateway',
    sql: CLOCK_SKEW_SQL,
    splitBy: null,
    above: CLOCK_SKEW.aboveSeconds,
    unit: "seconds between the gateway's clock and ours",
    pendingSeconds: 120,
    keepFiringSeconds: 300,
    summary: "The gateway's clock and ours differ.",
    explanation: 'Windows end at our clock: what is dated later is counted late.',
    steps: [
      'Is our own clock right? Look at the time service of the host.',
      "Inform the gateway's operator by how much theirs is ahead or behind (runbook).",
      'Until then read windows with care.',
    ],
    suppressedBy: 'GatewatchHistoryMisdated',
  },
  {
    kind: 'gauge',
    name: 'GatewatchHistoryMisdated',
    uid: 'gatewatch-history-misdated',
    severity: 'critical',
    side: 'collector',
    sql: CLOCK_SKEW_SQL,
    splitBy: null,
    above: CLOCK_SKEW.blindAboveSeconds,
    unit: "seconds between the gateway's clock and ours",
    pendingSeconds: 60,
    keepFiringSeconds: 300,
    summary: "The gateway's history is dated far from now: rules look past it.",
    explanation:
      'Rules look at the last minutes and hours, and this history lies elsewhere: they find nothing, whatever happens. Often it is local time where UTC is agreed.',
    steps: [
      'Is our own clock right? Look at the time service of the host.',
      'Whole hours: the gateway sends local time. Ask its operator to send UTC.',
      'Until then set historyTimeZone of the gateway and restart; "gatewatch doctor" shows it.',
    ],
  },
  {
    kind: 'gauge',
    name: 'GatewatchEvaluationsLate',
    uid: 'gatewatch-evaluations-late',
    severity: 'critical',
    side: 'collector',
    // The heartbeat has a row of every evaluation, whatever is known of gateways. At most a day is said.
    sql: `SELECT dateDiff('second', greatest(max(as_of), $__toTime - INTERVAL 1 DAY), $__toTime) AS number
FROM ${view('alertEvaluations')}
WHERE rule = 'GatewatchHeartbeat' AND as_of > $__toTime - INTERVAL 1 DAY AND as_of <= $__toTime`,
    asked: 'directly',
    splitBy: null,
    above: 180,
    unit: 'seconds since the rules were last evaluated',
    pendingSeconds: 60,
    keepFiringSeconds: 60,
    summary: 'No collector evaluates the alert rules.',
    explanation: 'All other alerts keep the state that they had: nothing new can fire, and nothing can end.',
    steps: [
      'Is a collector running? Its log says why it ended, or why it cannot evaluate.',
      'Does the store answer and take rows? "gatewatch doctor" says so.',
      'Until it runs again look at the dashboards: they do not depend on evaluations.',
    ],
  },
  {
    kind: 'gauge',
    name: 'GatewatchHeartbeat',
    uid: 'gatewatch-heartbeat',
    severity: 'info',
    side: 'collector',
    sql: `SELECT '' AS gateway, '' AS label, toFloat64(1) AS number`,
    heartbeat: true,
    splitBy: null,
    above: 0,
    unit: 'evaluation',
    pendingSeconds: 0,
    keepFiringSeconds: 0,
    summary: 'The alert rules are evaluated.',
    explanation: 'This one always fires. Whoever gets it should raise the alarm when it stops coming.',
    steps: [
      'Nothing while it comes.',
      'It stopped: is a collector running, and does the store answer?',
      'Both are fine: look at what evaluates and routes alerts, Grafana or Alertmanager.',
    ],
  },
];
