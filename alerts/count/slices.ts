import { sqlText } from '../../schemas/measures.ts';

/**
 * Slices of a gateway's orders that rules judge beside the whole. A slice is written as it is stored:
 * `order_type=Withdrawal`, `channel=p2p`, `currency=BRL`; '' is the whole. An order is in one slice of each
 * dimension; one whose channel or currency is not known is in none of these.
 */
export const SLICE_DIMENSIONS = ['order_type', 'channel', 'currency'] as const;

/** The slice that stands for all orders of a gateway. */
export const WHOLE = '';
/** Slices of a gateway that are judged: those with most orders. */
export const MOST_SLICES = 50;

const named = (dimension: (typeof SLICE_DIMENSIONS)[number]): string =>
  `if(${dimension} = '', '', concat('${dimension}=', ${dimension}))`;
/** SQL of the slices of an order, from its columns; '' where it is in none. */
const SLICES = `[${SLICE_DIMENSIONS.map(named).join(', ')}]`;

/** What orders are grouped by before they are counted in slices. */
export const SLICE_COLUMNS = `toString(channel) AS channel, ifNull(toString(currency), '') AS currency`;

/** Condition on an order's columns: is it in the slice? Both are SQL; the whole has every order. */
export function inSlice(slice: string): string {
  const own = SLICE_DIMENSIONS.map((name) => `concat('${name}=', ifNull(toString(${name}), ''))`);
  return `(${slice} = '${WHOLE}' OR has([${own.join(', ')}], ${slice}))`;
}

/** A slice as its column and value; null: the whole. */
function partsOf(slice: string): { readonly column: string; readonly value: string } | null {
  const [column = '', ...value] = slice.split('=');
  return slice === WHOLE ? null : { column, value: value.join('=') };
}

/** The same for a slice that is known, as a person writes it: `channel = 'p2p'`. */
export function sliceCondition(slice: string): string {
  const parts = partsOf(slice);
  return parts === null ? '1' : `${parts.column} = ${sqlText(parts.value)}`;
}

/** For people: `channel p2p`; '' for the whole. */
export function sliceText(slice: string): string {
  const parts = partsOf(slice);
  return parts === null ? '' : `${parts.column.replace('_', ' ')} ${parts.value}`;
}

/**
 * SELECT of gateway, slice and sums, a row for each gateway and slice: the whole, and the slices with most
 * orders.
 *
 * @param facts SELECT of gateway, order_type, channel, currency and what the sums are made of
 * @param sums SQL of arrays of numbers, by name; the last one says which slices have most orders
 * @param more another column of the facts that rows are made for. @default none
 */
export function sumsBySlice(facts: string, sums: Readonly<Record<string, string>>, more?: string): string {
  const names = Object.keys(sums);
  const by = ['gateway', ...(more === undefined ? [] : [more])].join(', ');
  const alike = names.map((name) => `sumForEach(${sums[name]}) AS ${name}_alike`).join(', ');
  return `SELECT ${by}, slice, ${names.map((name) => `sumForEach(${name}_alike) AS ${name}`).join(', ')}
FROM
(
  SELECT *, arrayDistinct(arrayConcat(['${WHOLE}'], ${SLICES})) AS slices
  FROM
  (
    SELECT ${by}, order_type, channel, currency, ${alike}
    FROM
    (
      ${facts}
    )
    GROUP BY ${by}, order_type, channel, currency
  )
)
ARRAY JOIN slices AS slice
GROUP BY ${by}, slice
ORDER BY slice = '${WHOLE}' DESC, arrayMax(${names.at(-1)}) DESC, slice
LIMIT ${MOST_SLICES + 1} BY ${by}`;
}

/** The same sums of whole gateways alone, for what is not counted in slices. */
export function sumsOfWhole(facts: string, sums: Readonly<Record<string, string>>, more?: string): string {
  const by = ['gateway', ...(more === undefined ? [] : [more])].join(', ');
  const columns = Object.entries(sums).map(([name, sql]) => `sumForEach(${sql}) AS ${name}`);
  return `SELECT ${by}, '${WHOLE}' AS slice, ${columns.join(', ')}\nFROM\n(\n  ${facts}\n)\nGROUP BY ${by}`;
}
