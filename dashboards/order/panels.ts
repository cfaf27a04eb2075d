import { time } from '../house/fields.ts';
import { linkTo, column } from '../house/links.ts';
import {
  CODE_MAPPING,
  OUTCOME_MAPPING,
  POLL_OUTCOME_MAPPING,
  REASON_GROUP_MAPPING,
  RESULT_MAPPING,
  STAGE_MAPPING,
  STATE_MAPPING,
  SIGNATURE_CAUSE_MAPPING,
  VERDICT_MAPPING,
} from '../house/mappings.ts';
import { tablePanel } from '../house/panels.ts';
import { stateTimelinePanel, tracesPanel } from '../house/special-panels.ts';
import { POLL_DURATION, POLL_LATENESS } from '../house/thresholds.ts';
import * as queries from './queries.ts';

const ENTER_ID = "no order has this id: enter the service's or the merchant's above";

export const head = tablePanel({
  key: 'order-head',
  title: 'The order, by its newest status reply',
  description:
    "Who the order is and what the gateway's newest status reply says of it: status, outcome by the " +
    'deciding item, amount, instants. A callback never writes status. Settled: a late read found ' +
    'nothing new. Good: final and settled. Next: the timeline below.',
  sql: queries.HEAD_SQL,
  unit: 'locale',
  size: [24, 4],
  noValue: ENTER_ID,
  fields: {
    gateway: {
      title: 'Gateway',
      links: [linkTo('gateways', 'This gateway', { gateway: column('gateway') }, ['order_type'])],
    },
    order_type: { title: 'Type' },
    order_id: { title: 'Order', width: 310 },
    merchant_id: { title: "Merchant's id" },
    channel: { title: 'Channel' },
    status: { title: 'Status', noValue: 'never read' },
    outcome: {
      title: 'Outcome',
      mappings: OUTCOME_MAPPING,
      cellColour: true,
      links: [linkTo('failures', 'Failures at this gateway', { gateway: column('gateway') }, ['order_type'])],
    },
    paid_amount: { title: 'Amount', decimals: 2, noValue: '-' },
    paid_currency: { title: 'Currency', noValue: '-' },
    heard_of_at: time('First heard of'),
    created_at: { ...time('Created'), noValue: '-' },
    final_at: { ...time('Final'), noValue: 'not final' },
    settled_at: { ...time('Settled'), noValue: 'not settled' },
    last_reply_at: { ...time('Last reply with news'), noValue: 'never read' },
  },
});

export const states = stateTimelinePanel({
  key: 'order-states',
  title: 'State of the payment and stage of work, over time',
  description:
    'State (segment B) and stage (segment A) after each item of the history. Info items after a final ' +
    'one never reopen the order, so the state stays. The time range must hold the order: links from ' +
    'tables keep one that does. Good: green at the end. Next: the items themselves, below.',
  sql: queries.STATES_SQL,
  unit: 'locale',
  size: [24, 6],
  noValue: ENTER_ID,
  fields: {
    state: { title: 'State', mappings: STATE_MAPPING },
    stage: { title: 'Stage', mappings: STAGE_MAPPING },
  },
});

export const timeline = tablePanel({
  key: 'order-timeline',
  title: 'Timeline: every history item with its meaning',
  description:
    'One row an item in time order, with the time since the one before, what the code means, and when ' +
    'we first saw it. decides: the latest item with state SUCCESS or FAILED, which the outcome follows ' +
    'from. seen late: first seen after a final state had been seen (interface, section 2.4, rule 2). ' +
    'Good: no failed step before a paid one. Next: callbacks and polls of the same minutes.',
  sql: queries.TIMELINE_SQL,
  unit: 'locale',
  size: [24, 13],
  noValue: ENTER_ID,
  fields: {
    event_time: time('Time'),
    since_previous: { title: 'After', unit: 's', width: 95, noValue: 'first' },
    code: { title: 'Code and meaning', mappings: CODE_MAPPING, width: 430 },
    stage: { title: 'Stage', mappings: STAGE_MAPPING, cellColour: true, width: 170, noValue: '-' },
    result: { title: 'Operation', mappings: RESULT_MAPPING, width: 95, noValue: '-' },
    state: { title: 'Payment', mappings: STATE_MAPPING, cellColour: true, width: 125, noValue: '-' },
    reason_group: {
      title: 'Reason group',
      mappings: REASON_GROUP_MAPPING,
      cellColour: true,
      width: 170,
      noValue: '-',
    },
    reason_detail: { title: 'Reason', width: 185, noValue: '-' },
    seen_at: time('First seen'),
    remark: { title: 'Remark', width: 150 },
    gateway: { title: 'Gateway', width: 110 },
    order_type: { title: 'Type', width: 100 },
  },
});

export const trace = tracesPanel({
  key: 'order-trace',
  title: 'Trace of the order',
  description:
    'The order as one trace: a span an item, from the item before to itself, below a root span from ' +
    'first to last; red where the operation failed (C=2). Events show when the callback and the read ' +
    'came that delivered an item. The spans are those that are exported, ids and all, so they can be ' +
    'searched for in your tracing store. Good: no red. Next: the longest span.',
  sql: queries.TRACE_SQL,
  unit: 'ms',
  size: [24, 12],
  noValue: ENTER_ID,
});

export const callbacks = tablePanel({
  key: 'order-callbacks',
  title: 'Callbacks about the order, with our verdict on their signature',
  description:
    'Distinct callbacks that name this order: what they claim, our verdict (interface, section 6.3), ' +
    'when they came and how often the gateway sent them. Order, status, amount and type are signed, the ' +
    'currency is not; all of them are claims: only a status reply counts. Good: valid. Next: a mismatch needs the runbook of signature mismatches.',
  sql: queries.CALLBACKS_SQL,
  unit: 'locale',
  size: [12, 9],
  noValue: 'no callback named this order',
  fields: {
    first_received_at: time('First received'),
    verdict: { title: 'Verdict', mappings: VERDICT_MAPPING, cellColour: true, width: 140 },
    signature_cause: { title: 'Why not', mappings: SIGNATURE_CAUSE_MAPPING },
    claimed_status: { title: 'Claimed status', noValue: '-' },
    claimed_amount: { title: 'Claimed amount', noValue: '-' },
    claimed_currency: { title: 'Currency', noValue: '-' },
    times_delivered: { title: 'Deliveries', decimals: 0, width: 100 },
    source: { title: 'Way', width: 80 },
    problem: { title: 'Problem' },
  },
});

export const polls = tablePanel({
  key: 'order-polls',
  title: 'Our reads of the order',
  description:
    'Status requests of ours, newest first: how each ended, how long it took (unusual above ' +
    `${POLL_DURATION.warnAboveMs / 1000} s), how much later than planned it went out, and what it ` +
    'found. unknown: no usable answer, so the state stayed unknown. Good: ok, and the last one ' +
    "finds nothing new. Next: the gateway's own polls panel.",
  sql: queries.POLLS_SQL,
  unit: 'locale',
  size: [12, 9],
  noValue: 'never read',
  fields: {
    started_at: time('Started'),
    outcome: { title: 'Outcome', mappings: POLL_OUTCOME_MAPPING, cellColour: true, width: 120 },
    http_status: { title: 'HTTP', decimals: 0, width: 70, noValue: 'none' },
    error_type: { title: 'Error', width: 110 },
    duration_ms: {
      title: 'Duration',
      unit: 'ms',
      decimals: 0,
      width: 100,
      limits: { warnAbove: POLL_DURATION.warnAboveMs, badAbove: POLL_DURATION.badAboveMs },
      cellColour: true,
    },
    lateness_ms: {
      title: 'Late by',
      unit: 'ms',
      decimals: 0,
      width: 100,
      limits: { warnAbove: POLL_LATENESS.warnAboveMs, badAbove: POLL_LATENESS.badAboveMs },
      cellColour: true,
    },
    cause: { title: 'Cause', width: 100 },
    items_read: { title: 'Items', decimals: 0, width: 80 },
    items_new: { title: 'New', decimals: 0, width: 80 },
  },
});
