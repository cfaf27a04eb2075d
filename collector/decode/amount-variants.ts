import type { SignatureCause } from '../../schemas/signature-causes.ts';

/** Another way to write an amount, and what it would be the cause of. */
export type AmountVariant = readonly [cause: SignatureCause, text: string];

const DECIMAL = /^(\d{1,15})(?:[.,](\d{1,15}))?$/;

/**
 * The ways in which systems write the number that `amount` is: other numbers of decimals, a comma, groups,
 * minor units, an exponent, rounded. Never the text itself; at most some forty. None for what is no number.
 */
export function amountVariants(amount: string): readonly AmountVariant[] {
  const [, digits, fraction = ''] = DECIMAL.exec(amount) ?? [];
  if (digits === undefined) return [];
  const whole = digits.replace(/^0+(?=\d)/, '');
  const decimals = fraction.replace(/0+$/, '');
  const found = new Map<string, SignatureCause>();
  const add = (cause: SignatureCause, ...texts: readonly string[]): void => {
    for (const text of texts) if (text !== amount && !found.has(text)) found.set(text, cause);
  };
  const places = [1, 2, 3, 4, 5, 6, 8].filter((count) => count >= decimals.length);
  const written = (count: number): string => `${whole}.${decimals.padEnd(count, '0')}`;
  const shortest = decimals === '' ? whole : `${whole}.${decimals}`;
  add('amount_without_zeros', shortest);
  for (const count of places)
    add(
      count === 1 ? 'amount_one_decimal' : count === 2 ? 'amount_two_decimals' : 'amount_more_decimals',
      written(count),
    );
  const plain = [shortest, ...places.filter((count) => count <= 2).map(written)];
  add('amount_comma', ...plain.map((text) => text.replace('.', ',')));
  if (whole.length > 3) add('amount_grouped', ...plain.flatMap(grouped));
  add('amount_minor_units', ...minorUnits(whole, decimals));
  add('amount_exponent', ...withExponent(whole, decimals));
  add('amount_rounded', ...rounded(whole, decimals));
  return [...found].map(([text, cause]) => [cause, text]);
}

/** `1,000.00`, `1.000,00`, `1 000.00`, `1 000,00`, `1'000.00`. */
function grouped(text: string): string[] {
  const [whole = '', fraction] = text.split('.');
  const inGroups = (by: string, point: string): string =>
    whole.replace(/\B(?=(?:\d{3})+$)/g, by) + (fraction === undefined ? '' : point + fraction);
  return [inGroups(',', '.'), inGroups('.', ','), inGroups(' ', '.'), inGroups(' ', ','), inGroups("'", '.')];
}

/** 100.00 as 10000, and 10000 as 100, 100.0 and 100.00. */
function minorUnits(whole: string, decimals: string): string[] {
  const up = decimals.length > 2 ? [] : [`${whole}${decimals.padEnd(2, '0')}`.replace(/^0+(?=\d)/, '')];
  if (decimals !== '') return up;
  const padded = whole.padStart(3, '0');
  const major = `${padded.slice(0, -2)}.${padded.slice(-2)}`;
  return [...up, major, major.replace(/0$/, ''), major.replace(/\.?0+$/, '')];
}

/** 10000000.5 as 1.00000005E7, and 100 as 1E+2. */
function withExponent(whole: string, decimals: string): string[] {
  const all = `${whole}${decimals}`.replace(/^0+/, '').replace(/0+$/, '');
  if (all === '' || whole === '0') return [];
  const power = whole.length - 1;
  const short = all.length === 1 ? all : `${all[0]}.${all.slice(1)}`;
  const long = all.length === 1 ? `${all}.0` : short;
  return [`${long}E${power}`, `${short}E+${power}`, `${short}E${power}`, `${short}e+${power}`];
}

/** Cut, and half up: to whole numbers, and to two decimals where there are more. */
function rounded(whole: string, decimals: string): string[] {
  if (decimals === '') return [];
  const above = (text: string): string => (BigInt(text) + 1n).toString();
  const wholes = [whole, above(whole)];
  const texts = wholes.flatMap((text) => [text, `${text}.0`, `${text}.00`]);
  if (decimals.length <= 2) return texts;
  const hundredths = `${whole}${decimals.slice(0, 2)}`;
  const point = (text: string): string => {
    const padded = text.padStart(3, '0');
    return `${padded.slice(0, -2).replace(/^0+(?=\d)/, '')}.${padded.slice(-2)}`;
  };
  return [...texts, point(hundredths), point(above(hundredths))];
}
