import { sliceText } from '../../alerts/count/slices.ts';
import { type SentenceNumbers, sentenceOf } from '../../alerts/explain/sentence.ts';
import { findingText } from '../../alerts/explain/signature-finding.ts';
import { shareOf, type Slice } from '../../alerts/explain/slices.ts';
import {
  atRiskText,
  DIMENSION_TEXT,
  NOTHING_STANDS_OUT,
  percent,
} from '../../alerts/explain/explanation-text.ts';
import type { Explanation } from '../../alerts/explain/explanation.ts';
import { minuteText, timesText } from '../../alerts/explain/zoned.ts';
import type { Rule } from '../../alerts/rules/rule.ts';
import { type Output, printable } from './host.ts';
import { drawTable } from './table.ts';

/**
 * The sentence, a table of slices with a bar for each share, what is at risk, and one order.
 *
 * @param timeZone the reader's, for times beside UTC
 */
export function drawExplanation(
  output: Output,
  rule: Rule,
  evaluation: SentenceNumbers & { readonly gateway: string; readonly slice: string; readonly label: string },
  explanation: Explanation | null,
  timeZone = 'UTC',
): string {
  const place = [evaluation.gateway, sliceText(evaluation.slice), evaluation.label]
    .filter((name) => name !== '')
    .join(' ');
  const head = `${rule.name}${place === '' ? '' : `, ${printable(place)}`}, ${timesText([evaluation.as_of], timeZone, minuteText)}\n${sentenceOf(rule, evaluation, timeZone)}\n`;
  if (explanation === null) return `${head}\nThe rule counts no orders: its number is all there is to it.\n`;
  const { slices, atRisk, example, signature = null } = explanation;
  const amounts = atRisk === null ? '' : atRiskText(atRisk);
  return [
    head,
    ...(signature === null ? [] : [`${printable(findingText(signature))}\n`]),
    slices.length === 0 ? `${NOTHING_STANDS_OUT}\n` : drawSlices(output, slices, rule.kind === 'drop'),
    ...(amounts === '' && example === null
      ? []
      : [
          (amounts === '' ? '' : `At risk: ${printable(amounts)}\n`) +
            (example === null
              ? ''
              : `Example: order ${printable(example.externalId)} (${printable(example.orderType)}), trace ${example.traceId}\n`),
        ]),
  ].join('\n');
}

function drawSlices(output: Output, slices: readonly Slice[], drop: boolean): string {
  const headers = drop
    ? ['what stands out', 'came', 'before', 'of before', '', 'the rest', '']
    : ['what stands out', 'affected', 'seen', 'share', '', 'compared with', ''];
  return drawTable(output, {
    headers,
    rows: slices.map((slice) => [
      printable(`${DIMENSION_TEXT[slice.dimension]} ${slice.value}`),
      String(slice.affected),
      String(slice.seen),
      percent(slice),
      bar(shareOf(slice)),
      `${slice.against.of === 'rest' ? 'the rest' : 'before'}: ${slice.against.affected} of ${slice.against.seen} (${percent(slice.against)})`,
      bar(shareOf(slice.against)),
    ]),
    rightAligned: new Set([1, 2, 3]),
  });
}

const BAR_CELLS = 10;
/** A share as a bar; what is more than all is drawn as all. */
function bar(share: number): string {
  const filled = Math.min(BAR_CELLS, Math.round(share * BAR_CELLS));
  return '█'.repeat(filled) + '░'.repeat(BAR_CELLS - filled);
}
