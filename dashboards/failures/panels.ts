import { STAGES } from '../../schemas/dictionary.ts';
import { coloursOfReasons, type FieldLook, label, percent, time, volume } from '../house/fields.ts';
import { column, linkTo, TO_ORDER } from '../house/links.ts';
import {
  CODE_MAPPING,
  OUTCOME_MAPPING,
  QUIET_ZERO,
  REASON_GROUP_MAPPING,
  REASON_MAPPING,
  STAGE_TITLES,
} from '../house/mappings.ts';
import { statPanel, tablePanel, timeSeriesPanel } from '../house/panels.ts';
import * as queries from './queries.ts';
import { OPERATION_FAILURES } from '../house/thresholds.ts';

export const failingShare = statPanel({
  key: 'failing-share',
  title: 'Orders with failures, share of orders seen',
  description:
    'Distinct orders with a failing item (operation failed, C=2, or payment failed, B=4) of the chosen ' +
    'stages, groups and reasons, out of all orders seen in the range, and both counts. Declines and ' +
    'abandoned payments are failures here too: choose groups TECH and AUTHZ for faults alone. Next: ' +
    'the heat table.',
  sql: queries.FAILING_SHARE_SQL,
  unit: 'percentunit',
  decimals: 1,
  size: [8, 8],
  fields: {
    share: { title: 'with failures' },
    failing_orders: volume('orders with failures'),
    seen_orders: volume('orders seen'),
  },
});

export const failuresByReason = timeSeriesPanel({
  key: 'failures-by-reason',
  title: 'Orders with failures, by reason',
  description:
    'Distinct orders with a failing item in each interval, by reason (segment RR). A reason that rises ' +
    'alone is one cause; many that rise together are volume. Good: flat. Next: the same reasons ' +
    'against last week.',
  sql: queries.FAILURES_BY_REASON_SQL,
  unit: 'locale',
  decimals: 0,
  size: [16, 8],
  draw: 'stacked-bars',
  noValue: 'no failures',
  legendValues: ['sum', 'max'],
  series: { '/^orders /': { title: label('reason') }, ...coloursOfReasons() },
});

const countColumn = (title: string, choose: Record<string, string>): FieldLook => ({
  title,
  unit: 'locale',
  decimals: 0,
  heat: true,
  mappings: QUIET_ZERO,
  width: 108,
  links: [
    linkTo('failures', 'The orders in this cell', {
      ...choose,
      reason_group: column('reason_group'),
      reason: column('reason'),
    }),
  ],
});

export const failuresByStageAndReason = tablePanel({
  key: 'failures-by-stage-and-reason',
  title: 'Orders with failures, by stage and reason',
  description:
    'Distinct orders with a failing item, by reason (RR) and the stage (A) where it was recorded; the ' +
    'last column counts each order once. Dark cells are where to look first. Next: click a cell; the ' +
    'tables below then show its orders only.',
  sql: queries.FAILURES_BY_STAGE_AND_REASON_SQL,
  unit: 'locale',
  decimals: 0,
  size: [24, 10],
  noValue: 'no failures',
  fields: {
    reason_group: { title: 'Group', mappings: REASON_GROUP_MAPPING, cellColour: true, width: 190 },
    reason: { title: 'Reason', mappings: REASON_MAPPING },
    ...Object.fromEntries(STAGES.map(({ name }) => [name, countColumn(STAGE_TITLES[name], { stage: name })])),
    orders: countColumn('Orders', {}),
  },
});

const share = (title: string): FieldLook => ({ title, unit: 'percentunit', decimals: 2, width: 110 });

export const reasonsAgainstLastWeek = tablePanel({
  key: 'reasons-against-last-week',
  title: 'Reasons, change against the same hours last week',
  description:
    'Distinct orders with each reason and their share of the orders seen, beside the same window seven ' +
    'days before, cut at the same place. Change is in points of share: red above ' +
    `${percent(OPERATION_FAILURES.warnAboveShare)}. Without traffic then, there is no change to show. ` +
    'Next: the orders with the reason that rose most.',
  sql: queries.REASONS_AGAINST_LAST_WEEK_SQL,
  unit: 'locale',
  decimals: 0,
  size: [24, 9],
  noValue: 'no failures',
  fields: {
    reason_group: { title: 'Group', mappings: REASON_GROUP_MAPPING, cellColour: true, width: 190 },
    reason: {
      title: 'Reason',
      mappings: REASON_MAPPING,
      links: [
        linkTo('failures', 'Orders with this reason', {
          reason_group: column('reason_group'),
          reason: column('reason'),
        }),
      ],
    },
    orders: { title: 'Orders', decimals: 0, width: 100 },
    share: share('Share'),
    orders_last_week: { title: 'Orders then', decimals: 0, width: 110 },
    share_last_week: { ...share('Share then'), noValue: 'no traffic then' },
    change: {
      ...share('Change'),
      noValue: 'unknown',
      limits: {
        warnAbove: OPERATION_FAILURES.warnAboveShare / 4,
        badAbove: OPERATION_FAILURES.warnAboveShare,
      },
      cellColour: true,
    },
    seen_orders: { title: 'Seen', decimals: 0, width: 100 },
    seen_orders_last_week: { title: 'Seen then', decimals: 0, width: 100 },
  },
});

export const unknownCodes = tablePanel({
  key: 'unknown-codes',
  title: 'Newest unknown and legacy codes',
  description:
    'Codes outside the catalogue (interface, section 2.4), in the older format, or unreadable; newest ' +
    'first. They are stored and counted, never dropped. Good: none. Next: ask the gateway what they ' +
    'mean and add them to the dictionary.',
  sql: queries.UNKNOWN_CODES_SQL,
  unit: 'locale',
  size: [24, 7],
  noValue: 'none: every code is in the catalogue',
  fields: {
    code: { title: 'Code', width: 130 },
    format: { title: 'Format', width: 110 },
    first_seen_at: time('First seen'),
    last_seen_at: time('Last seen'),
    orders: { title: 'Orders', decimals: 0, width: 80 },
    example_order: { title: 'For example', links: [TO_ORDER] },
    gateway: { title: 'Gateway', width: 120 },
    order_type: { title: 'Type', width: 100 },
  },
});

export const failedOrders = tablePanel({
  key: 'failed-orders',
  title: 'Orders with failures',
  description:
    'The newest 100 orders with a failing item of the chosen stages, groups and reasons: the last such ' +
    'code and what the order came to by the end of the range. pending: no deciding item yet. Next: ' +
    'click an order for its timeline.',
  sql: queries.FAILED_ORDERS_SQL,
  unit: 'locale',
  size: [24, 12],
  noValue: 'no failures',
  fields: {
    last_failure_at: time('Last failure'),
    order_id: { title: 'Order', width: 300, links: [TO_ORDER] },
    gateway: { title: 'Gateway', width: 100 },
    order_type: { title: 'Type', width: 100 },
    channel: { title: 'Channel', width: 90 },
    last_code: { title: 'Last failing code', mappings: CODE_MAPPING },
    failures: { title: 'Failures', decimals: 0, width: 90 },
    outcome: { title: 'Outcome', width: 150, mappings: OUTCOME_MAPPING, cellColour: true },
  },
});
