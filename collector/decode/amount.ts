import { isCardLikeId } from '../../schemas/card-search.ts';

/** An amount as a row keeps it. */
export interface ReadAmount {
  /** Plain decimal text of at most nine decimals; null: there is none, or it cannot be kept. */
  readonly text: string | null;
  /**
   * `rounded`: a tail of digits was none of the amount's, as of 29.949999999999999. `refused`: there is an
   * amount and it cannot be kept.
   */
  readonly note: '' | 'rounded' | 'refused';
}

const NONE: ReadAmount = { text: null, note: '' };
const REFUSED: ReadAmount = { text: null, note: 'refused' };

/** What the store holds: Decimal(38, 9). Amounts have up to 10^20, and no payment has more. */
const MOST_DIGITS = 21;
const MOST_DECIMALS = 9;
const LONGEST_TEXT = 120;

/** As nearly all are written: kept to the letter. */
const USUAL = /^-?\d{1,21}(?:\.\d{1,9})?$/;
const PLAIN = /^([+-]?)(\d*)(?:\.(\d*))?(?:e([+-]?\d{1,3}))?$/i;
/** 1,234.56 and 1,234,567: which is which cannot be mistaken. */
const COMMAS_GROUP = /^[+-]?\d{1,3}(?:,\d{3})+\.\d*$|^[+-]?\d{1,3}(?:,\d{3}){2,}$/;
/** 1.234,56 and 100,50. A comma before three digits may be either, and is refused. */
const COMMA_DECIMAL = /^[+-]?\d{1,3}(?:\.\d{3})+,\d*$|^[+-]?\d+,(?:\d{1,2}|\d{4,})$/;

/**
 * Reads an amount, a number of JSON or the text of one (interface document, section 2.3). Pure and total.
 *
 * @param currency whose number of decimals separates a tail from digits that are meant
 */
export function readAmount(value: unknown, currency: string | null): ReadAmount {
  if (value === null || value === undefined || value === '') return NONE;
  if (typeof value !== 'number' && typeof value !== 'string') return REFUSED;
  const text = typeof value === 'number' ? String(value) : value.trim();
  if (USUAL.test(text)) return couldBeCard(text) ? REFUSED : { text, note: '' };
  const parts = text.length > LONGEST_TEXT ? null : partsOf(withPoint(text));
  if (parts === null || parts.whole.length > MOST_DIGITS) return REFUSED;
  const isExact = parts.fraction.length <= MOST_DECIMALS;
  const kept = isExact ? parts : withoutTail(parts, decimalsOf(currency));
  if (kept === null) return REFUSED;
  const plain = `${kept.sign}${kept.whole}${kept.fraction === '' ? '' : `.${kept.fraction}`}`;
  return couldBeCard(plain) ? REFUSED : { text: plain, note: isExact ? '' : 'rounded' };
}

/**
 * Could the digits be a card's, or stand for one, backwards say? Large amounts are round: of 13 digits and
 * more in a row, those behind the twelfth have to be zeros.
 */
export function couldBeCard(text: string): boolean {
  const bare = text.replace(/(\.\d*?)0+$/, '$1');
  return isCardLikeId(bare) || (LONG.test(bare) && !ROUND.test(bare));
}

const LONG = /\d{13}/;
const ROUND = /^-?\d{1,12}0*\.?$/;

function withPoint(text: string): string {
  if (COMMAS_GROUP.test(text)) return text.replaceAll(',', '');
  return COMMA_DECIMAL.test(text) ? text.replaceAll('.', '').replace(',', '.') : text;
}

interface Parts {
  readonly sign: '' | '-';
  readonly whole: string;
  readonly fraction: string;
}

/** Digits before and after the point, without an exponent and without zeros behind the ninth decimal. */
function partsOf(text: string): Parts | null {
  const [, sign = '', before = '', after = '', exponent = '0'] = PLAIN.exec(text) ?? [];
  if (before + after === '') return null;
  const point = before.length + Number(exponent);
  const digits = before + after;
  if (Math.abs(point) > 2 * LONGEST_TEXT) return null;
  const padded = point < 0 ? '0'.repeat(-point) + digits : digits.padEnd(point, '0');
  const whole = padded.slice(0, Math.max(point, 0)).replace(/^0+(?=\d)/, '') || '0';
  const fraction = padded.slice(Math.max(point, 0)).replace(/(?<=^\d{9})0+$/, '');
  return { sign: sign === '-' ? '-' : '', whole, fraction };
}

/**
 * Of more decimals than can be kept: those of the currency, where what is beyond them is the error of a
 * binary fraction; else nine, where that says the same to a millionth. Null: it would be another amount.
 */
function withoutTail({ sign, whole, fraction }: Parts, decimals: number): Parts | null {
  const units = BigInt(whole + fraction);
  const roundedTo = (places: number): { digits: bigint; error: bigint } => {
    const step = 10n ** BigInt(fraction.length - places);
    const digits = (units + step / 2n) / step;
    const difference = digits * step - units;
    return { digits, error: difference < 0n ? -difference : difference };
  };
  const own = roundedTo(decimals);
  const isTail = own.error * 1_000_000n < 10n ** BigInt(fraction.length) && own.digits > 0n;
  const places = isTail ? decimals : MOST_DECIMALS;
  const { digits, error } = isTail ? own : roundedTo(MOST_DECIMALS);
  if (error * 1_000_000n > units) return null;
  const padded = String(digits).padStart(places + 1, '0');
  const cut = padded.length - places;
  return { sign, whole: padded.slice(0, cut), fraction: padded.slice(cut) };
}

const decimals = new Map<string, number>();

/** Digits after the point of an ISO 4217 currency; 2 where it is not known. */
function decimalsOf(currency: string | null): number {
  if (currency === null || !/^[A-Z]{3}$/.test(currency)) return 2;
  const known =
    decimals.get(currency) ??
    new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ??
    2;
  decimals.set(currency, known);
  return known;
}
