import { FINDING_KIND_NAMES } from '../../schemas/findings.ts';
import { POLL_OUTCOMES, VERDICTS } from '../../schemas/rows.ts';
import { OPERATION_FAILURES, POLL_DURATION, POLL_FAILURES } from '../house/thresholds.ts';
import { FINDING_COLOURS, POLL_OUTCOME_COLOURS, VERDICT_COLOURS } from '../house/colours.ts';
import { coloursOfReasons, label, percent, time, volume } from '../house/fields.ts';
import { column, linkTo, seriesLabel, TO_ORDER } from '../house/links.ts';
import { FINDING_STATE_MAPPING, SIGNATURE_CAUSE_MAPPING, STAGE_MAPPING } from '../house/mappings.ts';
import { tablePanel, timeSeriesPanel } from '../house/panels.ts';
import * as queries from './queries.ts';

const GATEWAY_AND_STAGE = `${label('gateway')} ${label('stage')}`;
const FAILURE_LIMITS = {
  warnAbove: OPERATION_FAILURES.warnAboveShare,
  badAbove: OPERATION_FAILURES.badAboveShare,
};

export const stages = tablePanel({
  key: 'stages',
  title: 'Rate, failures and durations, by gateway and stage',
  description:
    'Orders seen at each stage (A), per minute and in all; those with a failed operation there (C=2; a ' +
    'decline is a successful operation); and how long the step into the stage took: from the item ' +
    "before to the stage's first one, median and 95th percentile. Failures are unusual above " +
    `${percent(OPERATION_FAILURES.warnAboveShare)}, bad above ` +
    `${percent(OPERATION_FAILURES.badAboveShare)}. Next: click the failed orders.`,
  sql: queries.STAGES_SQL,
  unit: 'locale',
  size: [24, 8],
  fields: {
    gateway: { title: 'Gateway', width: 150 },
    stage: { title: 'Stage', mappings: STAGE_MAPPING, cellColour: true },
    orders: { title: 'Orders', decimals: 0 },
    orders_per_minute: { title: 'Per minute', unit: 'opm', decimals: 1 },
    failed_orders: {
      title: 'Failed orders',
      decimals: 0,
      links: [linkTo('failures', 'These orders', { gateway: column('gateway'), stage: column('stage') })],
    },
    failure_share: {
      title: 'Failed share',
      unit: 'percentunit',
      decimals: 2,
      limits: FAILURE_LIMITS,
      cellColour: true,
    },
    p50: { title: 'Step p50', unit: 's', noValue: '-' },
    p95: { title: 'Step p95', unit: 's', noValue: '-' },
  },
});

export const stageFailures = timeSeriesPanel({
  key: 'stage-failures',
  title: 'Orders with a failed operation, share by gateway and stage',
  description:
    'Orders with a failed operation (C=2) at the stage, out of the orders seen there in each interval; ' +
    `bars are the orders seen. Unusual above ${percent(OPERATION_FAILURES.warnAboveShare)}, bad above ` +
    `${percent(OPERATION_FAILURES.badAboveShare)} (dashed). Choose a stage above to see it alone. ` +
    'Next: the failures behind a series.',
  sql: queries.STAGE_FAILURES_SQL,
  unit: 'percentunit',
  decimals: 1,
  size: [12, 9],
  max: 1,
  limits: FAILURE_LIMITS,
  legendValues: ['max', 'lastNotNull'],
  series: {
    '/^share\\b/': {
      title: GATEWAY_AND_STAGE,
      links: [
        linkTo('failures', 'The failures behind it', {
          gateway: seriesLabel('gateway'),
          stage: seriesLabel('stage'),
        }),
      ],
    },
    '/^orders\\b/': { ...volume(`orders ${GATEWAY_AND_STAGE}`), volumeBars: true, notInLegend: true },
  },
});

export const stageDurations = timeSeriesPanel({
  key: 'stage-durations',
  title: 'Duration of the step into a stage, 95th percentile',
  description:
    "Time from the item before to the stage's first one, by gateway and stage, by when the stage was " +
    'reached. GATEWAY_CREATE shows how fast the gateway creates payments; PAYFORM and CHECK hold the ' +
    "payer's own time. Good: steady. Next: the stage's failures, then the gateway.",
  sql: queries.STAGE_DURATIONS_SQL,
  unit: 's',
  size: [12, 9],
  series: { '/^p95\\b/': { title: GATEWAY_AND_STAGE } },
});

export const pollOutcomes = timeSeriesPanel({
  key: 'poll-outcomes',
  title: 'Our status requests, by outcome',
  description:
    'Our own requests to the gateway by how they ended. unknown: no usable answer (423, 499 and above, ' +
    'none at all): the state of the payment stays unknown. unauthorized and forbidden: our ' +
    'credentials. Good: ok only. Next: compare with the codes beside; both sides failing means the ' +
    'gateway, ours alone the way to it or our credentials.',
  sql: queries.POLL_OUTCOMES_SQL,
  unit: 'locale',
  decimals: 0,
  size: [12, 8],
  draw: 'stacked-bars',
  noValue: 'no requests',
  legendValues: ['sum', 'max'],
  series: Object.fromEntries(
    POLL_OUTCOMES.map((outcome) => [
      `/\\b${outcome}\\b/`,
      { title: outcome.replaceAll('_', ' '), colour: POLL_OUTCOME_COLOURS[outcome] },
    ]),
  ),
});

export const theirFaults = timeSeriesPanel({
  key: 'their-faults',
  title: 'Orders with TECH and AUTHZ codes at create and check',
  description:
    "What the gateway's history shows of its own requests to providers: distinct orders with reasons " +
    '11 to 29 at gateway create (2.2.4.x) and check (4.2.2.x). Good: none. Next: if our own requests ' +
    'beside are healthy, a provider behind the gateway fails; see Failures.',
  sql: queries.THEIR_FAULTS_SQL,
  unit: 'locale',
  decimals: 0,
  size: [12, 8],
  draw: 'stacked-bars',
  noValue: 'no failures',
  legendValues: ['sum', 'max'],
  series: {
    '/^orders /': { title: label('reason') },
    ...coloursOfReasons(),
  },
});

export const pollFailures = timeSeriesPanel({
  key: 'poll-failures',
  title: 'Our status requests without a usable answer, share by gateway',
  description:
    'Requests of ours that returned nothing to read (outcomes unknown and invalid_response), out of ' +
    'all, in each interval; bars are the requests. Refusals are among the outcomes above. ' +
    `Above ${percent(POLL_FAILURES.warnAboveShare)} the picture gets old; above ` +
    `${percent(POLL_FAILURES.badAboveShare)}, beyond chance, GatewatchGatewayUnreachable fires. ` +
    'Next: outcomes above, and circuits on the Pipeline dashboard.',
  sql: queries.POLL_FAILURES_SQL,
  unit: 'percentunit',
  decimals: 1,
  size: [12, 8],
  max: 1,
  limits: { warnAbove: POLL_FAILURES.warnAboveShare, badAbove: POLL_FAILURES.badAboveShare },
  legendValues: ['max', 'lastNotNull'],
  series: {
    '/^share\\b/': { title: label('gateway') },
    '/^polls\\b/': { ...volume(`requests ${label('gateway')}`), volumeBars: true },
  },
});

export const pollDurations = timeSeriesPanel({
  key: 'poll-durations',
  title: 'Duration of our status requests, by gateway',
  description:
    'Median and 95th percentile of how long the gateway took to answer us. Unusual above ' +
    `${POLL_DURATION.warnAboveMs / 1000} s, bad above ${POLL_DURATION.badAboveMs / 1000} s. It rises ` +
    'before time-outs begin. Next: the outcomes of the same requests.',
  sql: queries.POLL_DURATIONS_SQL,
  unit: 'ms',
  decimals: 0,
  size: [12, 8],
  limits: { warnAbove: POLL_DURATION.warnAboveMs, badAbove: POLL_DURATION.badAboveMs },
  noValue: 'no requests',
  series: {
    '/^p50\\b/': { title: `${label('gateway')} p50` },
    '/^p95\\b/': { title: `${label('gateway')} p95` },
  },
});

export const signatureVerdicts = timeSeriesPanel({
  key: 'signature-verdicts',
  title: 'Callbacks received, by signature verdict',
  description:
    'Distinct callbacks by our own verdict on their signature (interface, section 6.3), by when they ' +
    'first came. valid_previous_key: signed with a key that is being rotated out. mismatch: wrong key ' +
    'or forged. Good: valid only. Next: the codes 5.2.2.16 beside; the runbook of mismatches.',
  sql: queries.VERDICTS_SQL,
  unit: 'locale',
  decimals: 0,
  size: [12, 8],
  draw: 'stacked-bars',
  noValue: 'no callbacks',
  legendValues: ['sum', 'max'],
  series: Object.fromEntries(
    VERDICTS.map((verdict) => [
      `/\\b${verdict}\\b/`,
      { title: verdict.replaceAll('_', ' '), colour: VERDICT_COLOURS[verdict] },
    ]),
  ),
});

export const signatureCauses = tablePanel({
  key: 'signature-causes',
  title: 'Callbacks whose signature does not match: why',
  description:
    'Distinct callbacks with the verdict mismatch, by what would make their signature verify: the collector ' +
    'tries what senders get wrong, one thing at a time, and accepts nothing for it. Share: of the ' +
    "gateway's mismatches. Nothing found: a key that is not configured, or a forger. Good: empty. Next: " +
    'the list of causes in the reference (signature-causes.md), which says what to do about each.',
  sql: queries.SIGNATURE_CAUSES_SQL,
  unit: 'locale',
  size: [24, 7],
  noValue: 'no mismatch',
  fields: {
    gateway: { title: 'Gateway', width: 120 },
    signature_cause: { title: 'What was found', mappings: SIGNATURE_CAUSE_MAPPING },
    callbacks: { title: 'Callbacks', decimals: 0, width: 100 },
    share_of_mismatches: { title: 'Share', unit: 'percentunit', decimals: 1, width: 80 },
    newest: time('Newest'),
  },
});

export const theirCallbackFaults = timeSeriesPanel({
  key: 'their-callback-faults',
  title: 'Orders with provider callbacks that the gateway refused',
  description:
    "Distinct orders with a failed operation at stage 5: 5.2.2.16 (the provider's signature did not " +
    'match at the gateway) and 5.2.2.17 (unreadable payload). Good: none. Next: mismatches here alone ' +
    'are between provider and gateway; beside alone, between gateway and us.',
  sql: queries.THEIR_CALLBACK_FAULTS_SQL,
  unit: 'locale',
  decimals: 0,
  size: [12, 8],
  draw: 'stacked-bars',
  noValue: 'none refused',
  legendValues: ['sum', 'max'],
  series: {
    '/5\\.2\\.2\\.16/': { title: '5.2.2.16 invalid signature', colour: 'red' },
    '/5\\.2\\.2\\.17/': { title: '5.2.2.17 unreadable payload', colour: 'orange' },
  },
});

export const findings = timeSeriesPanel({
  key: 'findings',
  title: 'Orders about which sources contradict one another, by kind',
  description:
    'Distinct orders whose history, status replies, callbacks and watch message cannot all be true, by when ' +
    'that was found: a quarter of an hour after the facts, when late items have come. Good: none. Next: the ' +
    'orders below, and "gatewatch findings" with the evidence.',
  sql: queries.FINDINGS_SQL,
  unit: 'locale',
  decimals: 0,
  size: [24, 8],
  draw: 'stacked-bars',
  noValue: 'the sources agree',
  legendValues: ['sum'],
  series: Object.fromEntries(
    FINDING_KIND_NAMES.map((kind) => [
      `/\\b${kind}\\b/`,
      { title: kind.toLowerCase().replaceAll('_', ' '), colour: FINDING_COLOURS[kind] },
    ]),
  ),
});

export const newestFindings = tablePanel({
  key: 'newest-findings',
  title: 'Newest contradictions, open ones first',
  description:
    'One row for each contradiction about an order: what one source says (expected), what another one says ' +
    '(received), and on whose side the fault most likely is. Resolved: the sources came to agree. Good: none ' +
    'that is open. Next: click an order.',
  sql: queries.NEWEST_FINDINGS_SQL,
  unit: 'string',
  size: [24, 9],
  noValue: 'the sources agree',
  fields: {
    found_at: { title: 'Found', unit: 'dateTimeAsIso', width: 180 },
    gateway: { title: 'Gateway', width: 110 },
    order_type: { title: 'Type', width: 90 },
    external_id: { title: 'Order', links: [TO_ORDER], width: 290 },
    kind: { title: 'Kind', width: 260 },
    subject: { title: 'Subject', width: 110 },
    side: { title: 'Side', width: 90 },
    expected: { title: 'Expected' },
    received: { title: 'Received' },
    state: {
      title: 'State',
      width: 90,
      cellColour: true,
      mappings: FINDING_STATE_MAPPING,
    },
  },
});
