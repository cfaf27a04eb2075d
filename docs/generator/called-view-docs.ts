import { INCIDENT_ORDERS, INCIDENT_POPULATION } from '../../schemas/names.ts';
import type { ColumnDoc } from './view-docs.ts';

export interface CalledViewDoc {
  readonly name: string;
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
const AMOUNT = column('amount', 'Nullable(Decimal(38, 9))', 'Its amount as known now.');

/** The views that are called with a page's rule, gateway, window and instant. */
export const CALLED_VIEW_DOCS: readonly CalledViewDoc[] = [
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
    text: 'All orders that an evaluation saw, affected or not, with what distinguishes them: `seen` and `affected` of the evaluation are its rows and those with `affected = 1`.',
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
