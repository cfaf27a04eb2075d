import {
  CATALOGUE,
  OUTCOME_OF_GROUP,
  REASON_GROUPS,
  REASONS,
  RESULTS,
  STAGES,
  STATES,
} from '../../schemas/dictionary.ts';
import { code, GENERATED, page, table } from './markdown.ts';

const twoDigits = (value: number): string => String(value).padStart(2, '0');

/** docs/reference/codes.md: the dictionary as tables. */
export function codesPage(): string {
  return page(
    '# History codes',
    GENERATED,
    'A history code reads `A.C.B.RR`: stage, result of the operation, state of the payment, reason ' +
      '([interface, section 2.4](../gateway-interface.md#24-payment-history)). `gatewatch decode 4.1.4.63` explains one.',
    '## A: stage',
    segment(STAGES),
    '## C: result of the operation',
    segment(RESULTS),
    '## B: state of the payment',
    segment(STATES),
    '## RR: reason',
    'The outcome is what an order counts as when an item of that group decides it as failed.',
    table(
      ['Group', 'Range', 'In words', 'Outcome of the order'],
      REASON_GROUPS.map((group) => [
        code(group.name),
        group.from === group.to ? twoDigits(group.from) : `${twoDigits(group.from)}-${twoDigits(group.to)}`,
        group.label,
        code(OUTCOME_OF_GROUP[group.name]),
      ]),
    ),
    table(
      ['RR', 'Group', 'Detail', 'In words'],
      REASONS.map((reason) => [
        twoDigits(reason.code),
        code(reason.group),
        code(reason.detail),
        reason.label,
      ]),
    ),
    'A code inside a range that this table lacks keeps its group and gets the detail `UNKNOWN_` and its number.',
    '## Catalogue',
    'The typical codes. A well-formed code that is not among them is decoded all the same, with a description made from its segments.',
    table(
      ['Code', 'Description'],
      CATALOGUE.map((entry) => [code(entry.action), entry.description]),
    ),
    '## What is not decoded',
    '- `legacy`: four numbers joined by dots that do not have the shape of v2, such as `10.2.3.4`. Kept raw and counted.\n' +
      '- `unrecognized`: everything else, a v2 shape with a segment out of range included. Kept raw and counted.\n' +
      '- A legacy code that happens to have the shape of v2 cannot be distinguished, and is decoded as v2.',
  );
}

function segment(rows: readonly { code: number; name: string; label: string }[]): string {
  return table(
    ['Digit', 'Name', 'In words'],
    rows.map((row) => [String(row.code), code(row.name), row.label]),
  );
}
