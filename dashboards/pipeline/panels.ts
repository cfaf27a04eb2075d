import {
  ARRIVAL_DELAY,
  CONSUMER_LAG,
  FRESHNESS,
  POLL_BUDGET,
  POLL_LATENESS,
  SPAN_BACKLOG,
} from '../house/thresholds.ts';
import { CIRCUITS } from '../../schemas/limits.ts';
import { label, percent, time, volume } from '../house/fields.ts';
import { tablePanel, timeSeriesPanel } from '../house/panels.ts';
import * as queries from './queries.ts';

const BY_COLLECTOR = { title: label('collector') };
const BY_GATEWAY = { title: label('gateway') };

export const watermarkLag = timeSeriesPanel({
  key: 'watermark-lag',
  title: 'How far behind our picture is, by gateway',
  description:
    "Seconds between a collector's report and the gateway's watermark in it: the instant up to which " +
    `our picture was complete. Unusual above ${FRESHNESS.warnAboveSeconds} s, bad above ` +
    `${FRESHNESS.badAboveSeconds} s; a slope of one means that the gateway does not answer at all. ` +
    'Next: our status requests on the Gateways dashboard.',
  sql: queries.WATERMARK_LAG_SQL,
  unit: 's',
  decimals: 1,
  size: [12, 8],
  noValue: 'no collector reports',
  limits: { warnAbove: FRESHNESS.warnAboveSeconds, badAbove: FRESHNESS.badAboveSeconds },
  series: { '/^behind/': BY_GATEWAY },
});

export const arrivalDelay = timeSeriesPanel({
  key: 'arrival-delay',
  title: 'Time from an item to our first sight of it',
  description:
    "Median and 95th percentile of observed_at - event_time, by the item's own time; bars are the " +
    'items. Items may be appended up to ten minutes after a final status (interface, section 2.4, rule ' +
    `2). Unusual above ${ARRIVAL_DELAY.warnAboveSeconds / 60} min. Next: poll lateness, then consumer ` +
    'lag.',
  sql: queries.ARRIVAL_DELAY_SQL,
  unit: 's',
  decimals: 1,
  size: [12, 8],
  limits: { warnAbove: ARRIVAL_DELAY.warnAboveSeconds, badAbove: ARRIVAL_DELAY.badAboveSeconds },
  fields: {
    p50: { colour: 'light-blue' },
    p95: { colour: 'blue' },
    items: { ...volume('items'), volumeBars: true },
  },
});

export const consumerLag = timeSeriesPanel({
  key: 'consumer-lag',
  title: 'Messages that wait in Kafka, by collector',
  description:
    'Callbacks and watch messages that a collector has not read yet. Good: near zero. Unusual above ' +
    `${CONSUMER_LAG.warnAboveMessages}, bad above ${CONSUMER_LAG.badAboveMessages}: the store or the ` +
    "collector is too slow, or the consumer stalls. Next: memory, then the collector's log.",
  sql: queries.CONSUMER_LAG_SQL,
  unit: 'locale',
  decimals: 0,
  size: [12, 8],
  noValue: 'no collector reports',
  limits: { warnAbove: CONSUMER_LAG.warnAboveMessages, badAbove: CONSUMER_LAG.badAboveMessages },
  series: { '/^messages_waiting/': BY_COLLECTOR },
});

export const duplicates = timeSeriesPanel({
  key: 'duplicates',
  title: 'Repeated history items absorbed, by collector',
  description:
    'Items that a status reply returned again and that were known already: every re-read returns the ' +
    'whole history, so this is the normal cost of polling. No number on any dashboard counts them ' +
    'twice. A rise without more orders means needless reads. Next: polls per minute.',
  sql: queries.DUPLICATES_SQL,
  unit: 'locale',
  decimals: 0,
  size: [12, 8],
  draw: 'stacked-bars',
  noValue: 'no collector reports',
  legendValues: ['sum', 'max'],
  series: { '/^duplicates/': BY_COLLECTOR },
});

export const pollsPerMinute = timeSeriesPanel({
  key: 'polls-per-minute',
  title: 'Status requests per minute, by gateway',
  description:
    'Reads of orders that we asked of each gateway. Rises with the orders watched. Flat at the top ' +
    'while lateness rises: the poll budget is used up. Next: lateness beside, the budget below.',
  sql: queries.POLLS_PER_MINUTE_SQL,
  unit: 'reqpm',
  decimals: 1,
  size: [8, 8],
  noValue: 'no requests',
  series: { '/^polls_per_minute/': BY_GATEWAY },
});

export const pollLateness = timeSeriesPanel({
  key: 'poll-lateness',
  title: 'Lateness of status requests, 95th percentile',
  description:
    'How much later than planned requests went out, by gateway. Unusual above ' +
    `${POLL_LATENESS.warnAboveMs / 1000} s, bad above ${POLL_LATENESS.badAboveMs / 1000} s: the budget ` +
    'is too small for the orders watched, or a circuit holds them back. Next: orders watched and due ' +
    'beside.',
  sql: queries.POLL_LATENESS_SQL,
  unit: 'ms',
  decimals: 0,
  size: [8, 8],
  noValue: 'no requests',
  limits: { warnAbove: POLL_LATENESS.warnAboveMs, badAbove: POLL_LATENESS.badAboveMs },
  series: { '/^p95/': BY_GATEWAY },
});

const BUDGET_LIMITS = { warnAbove: POLL_BUDGET.warnAboveShare, badAbove: POLL_BUDGET.badAboveShare };

export const pollBudget = timeSeriesPanel({
  key: 'poll-budget',
  title: 'Share of the poll budget in use, by gateway',
  description:
    'What polling uses of what the configuration allows it, all collectors together: requests a second ' +
    '(requestsPerSecond, mean) and requests at once (concurrency, the most that a report met). Bars ' +
    `are the requests a second. Unusual above ${percent(POLL_BUDGET.warnAboveShare)}, bad above ` +
    `${percent(POLL_BUDGET.badAboveShare)}: orders wait for their reads. Requests at once near the ` +
    'limit with few a second: the gateway answers slowly. Next: the figures beside; a larger budget, ' +
    'another collector, or fewer orders watched.',
  sql: queries.POLL_BUDGET_SQL,
  unit: 'percentunit',
  decimals: 1,
  size: [8, 8],
  noValue: 'no collector reports',
  limits: BUDGET_LIMITS,
  legendValues: ['lastNotNull', 'max'],
  series: {
    '/^requests_share/': { title: `${label('gateway')} a second` },
    '/^at_once_share/': { title: `${label('gateway')} at once` },
    '/^polls/': {
      ...volume(`${label('gateway')} requests`),
      unit: 'reqps',
      decimals: 1,
      volumeBars: true,
      notInLegend: true,
    },
  },
});

export const pollBudgets = tablePanel({
  key: 'poll-budgets',
  title: 'Poll budget, by gateway and collector',
  description:
    'Status requests a second and at once, used and allowed, over the range: the busiest 15 seconds, ' +
    'and the most that a report met. Allowed: requestsPerSecond and concurrency in the configuration, ' +
    `for each collector. Unusual above ${percent(POLL_BUDGET.warnAboveShare)}, bad above ` +
    `${percent(POLL_BUDGET.badAboveShare)}. Next: lateness above shows whether orders wait.`,
  sql: queries.POLL_BUDGETS_SQL,
  unit: 'locale',
  decimals: 0,
  size: [16, 8],
  noValue: 'no collector reports',
  fields: {
    gateway: { title: 'Gateway' },
    collector: { title: 'Collector' },
    mean_rate: { title: 'Mean', unit: 'reqps', decimals: 1, width: 105 },
    most_rate: { title: 'Most', unit: 'reqps', decimals: 1, width: 105 },
    allowed_rate: { title: 'Allowed', unit: 'reqps', decimals: 1, width: 105 },
    rate_share: { title: 'Used', unit: 'percentunit', width: 80, limits: BUDGET_LIMITS, cellColour: true },
    most_at_once: { title: 'At once', width: 90 },
    allowed_at_once: { title: 'Allowed at once', width: 135 },
    at_once_share: {
      title: 'Used at once',
      unit: 'percentunit',
      width: 115,
      limits: BUDGET_LIMITS,
      cellColour: true,
    },
  },
});

export const watched = timeSeriesPanel({
  key: 'watched-orders',
  title: 'Orders watched and orders due, by gateway',
  description:
    'Orders that the poller follows, and those whose next read is due and not sent yet, at the end of ' +
    'each interval. Good: few due. Due orders that pile up are what Coverage on the overview falls by. ' +
    'Next: the budget, circuits among the collectors below.',
  sql: queries.WATCHED_SQL,
  unit: 'locale',
  decimals: 0,
  size: [8, 8],
  noValue: 'no collector reports',
  series: {
    '/^watched_orders/': { title: `${label('gateway')} watched` },
    '/^due_orders/': { title: `${label('gateway')} due` },
  },
});

export const rejects = timeSeriesPanel({
  key: 'rejects',
  title: 'Rejected input, by reason',
  description:
    'Input that fits no other row, by the reason it was refused. Good: none. Each reject keeps the ' +
    'reason, the field and where to read it again. Next: the newest rejects beside.',
  sql: queries.REJECTS_SQL,
  unit: 'locale',
  decimals: 0,
  size: [10, 9],
  draw: 'stacked-bars',
  noValue: 'nothing rejected',
  legendValues: ['sum'],
  series: { '/^rejects/': { title: label('reason') } },
});

export const newestRejects = tablePanel({
  key: 'newest-rejects',
  title: 'Newest rejects',
  description:
    'The newest 50 refused inputs: why, which field, what was expected and what came (redacted), and ' +
    'where to read it again. Good: empty. Next: mend the sender, then "gatewatch redrive".',
  sql: queries.NEWEST_REJECTS_SQL,
  unit: 'locale',
  size: [14, 9],
  noValue: 'nothing rejected',
  fields: {
    rejected_at: time('Rejected'),
    reason: { title: 'Reason', width: 180 },
    gateway: { title: 'Gateway', width: 110 },
    source: { title: 'From', width: 90 },
    field: { title: 'Field' },
    expected: { title: 'Expected' },
    received: { title: 'Received' },
    read_again_at: { title: 'Read again at' },
  },
});

export const collectors = tablePanel({
  key: 'collectors',
  title: 'Collectors',
  description:
    'The newest report of each collector in the range; each reports every 15 s. Messages waiting: ' +
    `callbacks not yet read from Kafka, unusual above ${CONSUMER_LAG.warnAboveMessages}. Open ` +
    'circuits: credentials or addresses that the gateway refuses. Next: "gatewatch doctor".',
  sql: queries.COLLECTORS_SQL,
  unit: 'locale',
  decimals: 0,
  size: [24, 6],
  noValue: 'no collector reports',
  fields: {
    collector: { title: 'Collector' },
    last_report_at: time('Last report'),
    running_version: { title: 'Version', width: 90 },
    up_since: time('Up since'),
    messages_waiting: {
      title: 'Messages',
      limits: { warnAbove: CONSUMER_LAG.warnAboveMessages, badAbove: CONSUMER_LAG.badAboveMessages },
      cellColour: true,
    },
    watched: { title: 'Watched' },
    due: { title: 'Due' },
    lateness_p99: {
      title: 'Lateness p99',
      unit: 'ms',
      limits: { warnAbove: POLL_LATENESS.warnAboveMs, badAbove: POLL_LATENESS.badAboveMs },
      cellColour: true,
    },
    open_circuits: {
      title: 'Open circuits',
      limits: { badAbove: CIRCUITS.aboveOpen + 1 },
      cellColour: true,
    },
    spans_waiting: {
      title: 'Span batches',
      limits: { warnAbove: SPAN_BACKLOG.warnAboveBatches, badAbove: SPAN_BACKLOG.badAboveBatches },
      cellColour: true,
    },
    memory: { title: 'Memory', unit: 'bytes', decimals: 1 },
  },
});

export const storeSize = tablePanel({
  key: 'store-size',
  title: 'Size of the store, by table',
  description:
    'Rows and bytes on disk of each table now, whatever the range. Rows include repetitions that the ' +
    'engine has not folded yet; views never show them. Good: growth in step with orders. Next: ' +
    'retention in the configuration.',
  sql: queries.STORE_SIZE_SQL,
  unit: 'locale',
  decimals: 0,
  size: [8, 9],
  noValue: 'nothing is stored',
  fields: {
    kept: { title: 'Table' },
    stored_rows: { title: 'Rows', width: 110 },
    stored_bytes: { title: 'On disk', unit: 'bytes', decimals: 1, width: 110 },
  },
});

export const memory = timeSeriesPanel({
  key: 'collector-memory',
  title: 'Memory of the collectors',
  description:
    'Resident memory of each collector process; the embedded store is a process of its own. Good: a ' +
    'plateau. A steady slope over hours is a leak or an ever growing watch list. Next: orders watched.',
  sql: queries.MEMORY_SQL,
  unit: 'bytes',
  decimals: 1,
  size: [8, 9],
  noValue: 'no collector reports',
  series: { '/^memory/': BY_COLLECTOR },
});

export const spanBacklog = timeSeriesPanel({
  key: 'span-backlog',
  title: 'Batches whose spans wait for export',
  description:
    'Stored batches that the span exporter has not sent yet. Good: near zero, also zero without an ' +
    `exporter. Unusual above ${SPAN_BACKLOG.warnAboveBatches}: the OTLP receiver is slow or away; ` +
    'nothing is lost meanwhile. Next: the receiver.',
  sql: queries.SPAN_BACKLOG_SQL,
  unit: 'locale',
  decimals: 0,
  size: [8, 9],
  noValue: 'no collector reports',
  limits: { warnAbove: SPAN_BACKLOG.warnAboveBatches, badAbove: SPAN_BACKLOG.badAboveBatches },
  series: { '/^batches/': BY_COLLECTOR },
});
