const COMMAS = /^-?\d{1,3}(?:,\d{3})+\.\d+$|^-?\d{1,3}(?:,\d{3}){2,}$/;
const POINTS = /^-?\d{1,3}(?:\.\d{3})+,\d+$|^-?\d{1,3}(?:\.\d{3}){2,}$/;
const DECIMAL_COMMA = /^-?\d+,\d+$/;
/** One mark before three digits: it may part thousands or decimals. */
const AMBIGUOUS = /^-?[1-9]\d{0,2}([.,])\d{3}$/;
/** Blanks and apostrophes between thousands. */
const GAPS = /(?<=\d)[ \u00a0\u2009\u202f'\u2019](?=\d{3}(?:\D|$))/g;

/**
 * An amount of a table as plain decimal text: `1,234.50`, `1.234,50`, `100,50`, `1 234,50`. What has none of
 * these forms stays as it is; null for what can be read in two ways: `1,234`, and `1.234` where semicolons
 * part the fields, since commas part decimals there.
 */
export function decimalOf(text: string, delimiter: string): string | null {
  const amount = text.replace(GAPS, '');
  const mark = AMBIGUOUS.exec(amount)?.[1];
  if (mark === ',' || (mark === '.' && delimiter === ';')) return null;
  if (COMMAS.test(amount)) return amount.replaceAll(',', '');
  if (POINTS.test(amount)) return amount.replaceAll('.', '').replace(',', '.');
  return DECIMAL_COMMA.test(amount) ? amount.replace(',', '.') : amount;
}
