import { type Count, type Dimension, shareOf, type Slice } from './slices.ts';
import { findingText } from './signature-finding.ts';
import type { AtRisk, Explanation } from './explanation.ts';

export const NOTHING_STANDS_OUT = 'Nothing stands out: it is everywhere alike.';

export const DIMENSION_TEXT: Readonly<Record<Dimension, string>> = {
  channel: 'channel',
  order_type: 'order type',
  currency: 'currency',
  amount_band: 'amount',
  age: 'since the order began',
  stage: 'stage',
  reason: 'reason',
};

/** One line a slice, or the sentence that there is none. */
export function explanationText(
  { slices, signature = null }: Pick<Explanation, 'slices' | 'signature'>,
  kind: 'share' | 'drop',
): string {
  const lines = [
    ...(signature === null ? [] : [findingText(signature)]),
    ...slices.map((slice) => sliceText(slice, kind)),
  ];
  return lines.length === 0 ? NOTHING_STANDS_OUT : lines.join('\n');
}

/**
 *     channel card: 45 of 50 orders (90 %), the rest 2 of 50 (4 %)
 *     reason 11 TIMEOUT: 40 of 340 orders (11.8 %), 2 of 330 (0.6 %) in the same time before
 *     channel card: 3 orders after 50 in the same time before (6 %), the rest 48 after 50 (96 %)
 */
function sliceText({ dimension, value, against, ...own }: Slice, kind: 'share' | 'drop'): string {
  const name = `${DIMENSION_TEXT[dimension]} ${value}`;
  if (kind === 'drop')
    return `${name}: ${number(own.affected)} orders after ${number(own.seen)} in the same time before (${percent(own)}), the rest ${number(against.affected)} after ${number(against.seen)} (${percent(against)})`;
  const other = `${number(against.affected)} of ${number(against.seen)} (${percent(against)})`;
  return `${name}: ${number(own.affected)} of ${number(own.seen)} orders (${percent(own)}), ${against.of === 'rest' ? `the rest ${other}` : `${other} in the same time before`}`;
}

/** `1,240.5 EUR, 300 USD; 2 orders without amount`. */
export function atRiskText({ amounts, withoutAmount }: AtRisk): string {
  const known = amounts.map(
    ({ currency, amount }) => `${grouped(amount)} ${currency === '' ? 'of unknown currency' : currency}`,
  );
  const unknown =
    withoutAmount === 0
      ? []
      : [`${number(withoutAmount)} ${withoutAmount === 1 ? 'order' : 'orders'} without amount`];
  return [...(known.length === 0 ? [] : [known.join(', ')]), ...unknown].join('; ');
}

/** Nothing is rounded: it is the text that is grouped. */
const grouped = (decimal: string): string => {
  const [whole = '', fraction] = decimal.split('.');
  const thousands = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return fraction === undefined ? thousands : `${thousands}.${fraction}`;
};

const number = (value: number): string => value.toLocaleString('en-US');
export const percent = (count: Count): string =>
  `${(shareOf(count) * 100).toLocaleString('en-US', { maximumFractionDigits: 1 })} %`;
