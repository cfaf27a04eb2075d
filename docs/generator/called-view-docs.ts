import { INCIDENT_ORDERS, INCIDENT_POPULATION, ORDER_QUARTERS, POLL_COUNTS } from '../../schemas/names.ts';
import type { ColumnDoc } from './view-docs.ts';

export interface CalledViewDoc {
  readonly name: string;
  /** How it is called. @default with a page's arguments */
  readonly call?: string;
  readonly grain: string;
  readonly text: string;
  readonly columns: readonly ColumnDoc[];
}

const column = (name: string, type: string, text: string): ColumnDoc => ({ name, type, text });
const ORDER = [
  column('rule', 'String', 'The rule that was asked for.'),
  column('gateway', 'String', 'The gateway that was asked for.'),
  column('order_type', 'String', 'Deposit or Withdrawal.'),
  column('external_id', 'String', "The order's id in the service."),
  column('label', 'String', "The rule's label; '' without one."),
] as const;
const POLL_OUTCOME_TYPE =
  'Enum(ok, not_found, unauthorized, forbidden, locked, rate_limited, client_error, unknown, invalid_response)';
const SKETCH_TYPE = 'AggregateFunction(quantilesDD(0.01, 0.5, 0.95), Float64)';
const AMOUNT = column('amount', 'Nullable(Decimal(38, 9))', 'Its amount as known now.');

/** The views that are called with arguments: a range, or a page's rule, gateway, window and instant. */
export const CALLED_VIEW_DOCS: readonly CalledViewDoc[] = [
  {
    name: ORDER_QUARTERS,
    call: `${ORDER_QUARTERS}(from = toDateTime('2026-03-02 00:00:00'), to = now())`,
    grain:
      'items of one order and channel within one quarter of an hour; the items that came late are a row of their own',
    text:
      'What orders did, a tenth of the rows of `history_events`: dashboards read it. Exactly the items from `from` to `to`, as far as the ' +
      'picture of each gateway is complete by now. Unite the rows of an order by `GROUP BY order_number`, with the least or greatest of a number ' +
      'and the different parts of a list: an item may stand in two rows.',
    columns: [
      column('quarter', "DateTime('UTC')", 'Begin of the quarter of an hour, by the time of the items.'),
      column('gateway', 'String', 'Name of the gateway in the configuration.'),
      column('order_type', 'Enum(Deposit, Withdrawal)', 'Kind of the order.'),
      column('channel', 'String', "The channel that a watch message named; '' when none did."),
      column('external_id', 'String', "The order's id in the service."),
      column('order_number', 'UInt64', 'The order as a number, of gateway, type and id: quick to group by.'),
      column(
        'began_at',
        'UInt64',
        'Time of the first item of its list, in microseconds since 1970; 0 when it is not among these.',
      ),
      column(
        'decision',
        'UInt64',
        'The last item that decides: its time in microseconds since 1970 times 4,096, its place in the list times 16 and the number of the ' +
          'outcome; 0 without one. The greatest of an order is its deciding item.',
      ),
      column(
        'form_at',
        'UInt64',
        'First item of the payment form, in microseconds since 1970; 0 without one.',
      ),
      column(
        'submitted_at',
        'UInt64',
        'When the form was submitted, in microseconds since 1970; 0 when it was not.',
      ),
      column('form_step', 'UInt8', 'Last step of the form, from 1; 0 without one.'),
      column('form_exits', 'UInt8', 'A bit for each way out of the form.'),
      column(
        'first_technical_failure_at',
        'UInt64',
        'First operation that failed for a technical reason, in microseconds since 1970; 0 without one.',
      ),
      column(
        'processing_at',
        'UInt64',
        'First item of an order in processing, in microseconds since 1970; 0 without one.',
      ),
      column(
        'items',
        'Array(UInt64)',
        'All items: like `decision`, the last part being the digit of the stage times 2, and 1 when the operation failed.',
      ),
      column(
        'failures.at',
        'Array(Time)',
        'Times of the failing items. Each list has one place for each of them.',
      ),
      column('failures.stage', 'Array(String)', "Their stages; '' for a code that is not decoded."),
      column('failures.is_operation', 'Array(UInt8)', '1 where the operation failed.'),
      column('failures.reason_code', 'Array(UInt8)', 'Reason codes; 0 for a code that is not decoded.'),
      column('failures.reason_group', 'Array(String)', 'Reason groups.'),
      column('failures.reason_detail', 'Array(String)', 'Reasons.'),
      column('failures.action', 'Array(String)', 'The codes as the gateway sends them.'),
      column('failures.list_position', 'Array(UInt32)', "Places in the order's list."),
      column(
        'unknown',
        'Array(Tuple(at Time, action String, code_format String))',
        'Items whose code is not in the catalogue.',
      ),
    ],
  },
  {
    name: POLL_COUNTS,
    call: `${POLL_COUNTS}(from = toDateTime('2026-03-02 00:00:00'), to = now(), step = 3600)`,
    grain: 'status requests of one gateway, order type and outcome within one step, or a part of the step',
    text:
      'How many requests of ours there were, how they ended and how long they took: exactly those from `from` to `to`, by steps of `step` ' +
      'seconds. Steps of whole quarters of an hour are counted already, so a month is answered at once; others are counted of `polls`. ' +
      'Add up the rows of a step by `GROUP BY step_begin`. Times are sketches, for the median and the 95th percentile: ' +
      '`quantilesDDMerge(0.01, 0.5, 0.95)(durations)[2]` is the latter, right within a hundredth of itself.',
    columns: [
      column('step_begin', "DateTime('UTC')", 'Begin of the step.'),
      column('gateway', 'String', 'Name of the gateway in the configuration.'),
      column('order_type', 'Enum(Deposit, Withdrawal)', 'Kind of the order.'),
      column('outcome', POLL_OUTCOME_TYPE, 'As in `polls`.'),
      column('requests', 'UInt64', 'How many there were.'),
      column('durations', SKETCH_TYPE, 'Sketch of how long they took, in milliseconds.'),
      column(
        'lateness',
        SKETCH_TYPE,
        'Sketch of how much later than planned they went out, in milliseconds.',
      ),
    ],
  },
  {
    name: INCIDENT_ORDERS,
    grain: 'one affected order and label; of a drop, one that was counted',
    text: 'The orders behind a page.',
    columns: [
      ...ORDER,
      column('affected_at', 'Time', 'When it was last hit within the window.'),
      column('status', 'Nullable(String)', 'What its newest status reply says; NULL when none was read.'),
      AMOUNT,
      column('currency', 'Nullable(String)', 'Currency of the amount.'),
      column('channel', 'String', "The channel that a watch message named; '' when none did."),
    ],
  },
  {
    name: INCIDENT_POPULATION,
    grain: 'one order that the rule saw, and label',
    text: 'All orders that an evaluation saw, affected or not, with what tells them apart: `seen` and `affected` of the evaluation are its rows and those with `affected = 1`.',
    columns: [
      ...ORDER,
      column('seen_at', 'Time', 'When the rule last saw it within the window.'),
      column('affected', 'UInt8', '1: it is one of those that the page counts.'),
      column('channel', 'String', "The channel that a watch message named; '' when none did."),
      column('currency', 'String', "Currency of the amount; '' when not known."),
      AMOUNT,
      column(
        'amount_band',
        'String',
        "`0`, `below 10`, `10 to 100`, `100 to 1,000`, `1,000 or more`; '' when not known.",
      ),
      column(
        'age',
        'String',
        "When it was seen: `first hour` since its first item, or `later`; '' when it has no items.",
      ),
      column('stage', 'String', "Stage of its newest failing item; '' when nothing failed."),
      column(
        'reason',
        'String',
        "Reason of that item, with its number: `11 TIMEOUT`; '' when nothing failed.",
      ),
    ],
  },
];
