import type { RuleCount, WhereOrderCounts } from '../../alerts/explain/where-order-counts.ts';
import { type Output, printable } from './host.ts';
import { drawTable } from './table.ts';

/** Where an order counts, then where it does not, each with the reason. */
export function drawCounts(output: Output, { order, knownUntil, measures, rules }: WhereOrderCounts): string {
  const { gateway, orderType, externalId } = order;
  const counting = rules.filter(({ counts }) => counts !== 'no');
  const others = rules.filter(({ counts }) => counts === 'no');
  return [
    `${orderType} ${printable(externalId)} at ${printable(gateway)}; panels show its history until ${milliseconds(knownUntil)}\n`,
    drawTable(output, {
      headers: ['MEASURE', 'COUNTS', 'AT', 'WHY'],
      rows: measures.map(({ measure, counts, at, because }) => [
        measure,
        counts === 'no' ? output.paint('dim', 'no') : counts === 'numerator' ? 'yes' : 'in the total only',
        milliseconds(at),
        printable(because),
      ]),
    }),
    counting.length === 0
      ? 'It counts in no rule.\n'
      : drawTable(output, {
          headers: ['RULE', 'COUNTS AS', 'AT', 'EVALUATIONS WITH IT', 'WHY'],
          rows: counting.map((one) => [
            nameOf(one),
            one.counts === 'affected' ? output.paint('bold', 'affected') : 'seen',
            milliseconds(one.at),
            evaluationsText(one),
            printable(one.because),
          ]),
        }),
    others.length === 0
      ? ''
      : drawTable(output, {
          headers: ['NOT IN RULE', 'WHY NOT'],
          rows: others.map((one) => [nameOf(one), printable(one.because)]),
        }),
  ].join('\n');
}

/** Of an instant in microseconds. */
const milliseconds = (at: string | null): string => at?.slice(0, 23) ?? '-';
const nameOf = ({ rule, label }: RuleCount): string => printable(label === '' ? rule : `${rule} ${label}`);

function evaluationsText({ evaluations }: RuleCount): string {
  if (evaluations === null) return 'none kept';
  const { count, first, last, breaches } = evaluations;
  const when = count === 1 ? first : `${first} to ${last}`;
  return `${count} (${breaches === 0 ? 'none' : breaches} above the limit), ${when}`;
}
