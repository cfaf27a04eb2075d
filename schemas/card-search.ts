/**
 * The second net beneath the grammars (decode/grammar.ts): finds card numbers in texts that must be kept as
 * they are, such as ids, and in what is logged. Digits of any script count, and whatever is no letter and no
 * digit may stand between them.
 */

/**
 * Service ids are UUIDs: one in five hundred has 13 to 19 digits in a row that pass the Luhn check by chance.
 */
const UUID = /(?<![0-9a-z])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![0-9a-z])/gi;
/** Version 1 to 8 and the variant of RFC 9562, sections 4.1 and 4.2. */
const OF_RFC = /^.{14}[1-8].{4}[89ab]/i;
/** Digits of the last group: fewer kinds of them are filling. */
const FEW_KINDS = 4;

/** How card numbers begin, over all schemes. Dates and times as numbers (20..., 17...) begin otherwise. */
const CARD_PREFIX = /^(?:4|5[0-8]|6|3[04-9]|2[2-7]|8[126]|9[178])/;

const SHORTEST = 13;
const LONGEST = 19;
const NOT_ASCII = /[^\u0000-\u007f]/; // oxlint-disable-line no-control-regex -- the range is what is meant
const TWELVE_DIGITS = /(?:\d\D*){12}\d/;

/** Could the text hold a card number: 13 to 19 digits, not part of a UUID, that pass the Luhn check? */
export function looksLikeCardNumber(text: string): boolean {
  return search(text, { judge: luhn, inLongRuns: true });
}

/**
 * The same for ids: the digits must begin as a card's do, too, since merchants and gateways number their
 * orders; and more than 19 digits in a row are one number, which is no card's.
 */
export function isCardLikeId(id: string): boolean {
  return search(id, { judge: isCard, inLongRuns: false });
}

/** The same for what people write: the digits must begin as a card's do, and long numbers are searched. */
export function holdsCardNumber(text: string): boolean {
  return search(text, { judge: isCard, inLongRuns: true });
}

/** Does any part of a long number pass for a card's: a card number with its expiry date behind it, say? */
export function holdsCardDigits(text: string): boolean {
  const digits = plainDigits(text).replace(/\D/g, '');
  for (let from = 0; from + SHORTEST <= digits.length; from++) {
    for (let length = SHORTEST; length <= LONGEST && from + length <= digits.length; length++) {
      if (isCard(digits.slice(from, from + length))) return true;
    }
  }
  return false;
}

interface Search {
  readonly judge: (digits: string) => boolean;
  /** Looks into runs of more than 19 digits as well. */
  readonly inLongRuns: boolean;
}

function search(text: string, how: Search): boolean {
  const plain = plainDigits(text);
  if (!TWELVE_DIGITS.test(plain)) return false;
  let isDressed = false;
  const rest = plain.replace(UUID, (uuid) => {
    isDressed ||= isFilled(uuid) && uuid.split(/[a-f]+/i).some(holdsCardDigits);
    return OF_RFC.test(uuid) ? 'uuid' : uuid;
  });
  if (isDressed) return true;
  for (const run of rest.split(/\p{L}+/u)) {
    const groups = Array.from(run.matchAll(/\d+/g), ([digits]) => digits);
    if (hasCard(groups, how)) return true;
  }
  return false;
}

/**
 * Was the UUID made by hand, around something else? Of those drawn by chance (version 4), one in 2.6 million
 * has decimal digits only, and one in a million so few kinds of digits in its last group: of the latter one
 * in two hundred holds a card number.
 */
function isFilled(uuid: string): boolean {
  return !/[a-f]/i.test(uuid) || new Set(uuid.slice(-12).toLowerCase()).size < FEW_KINDS;
}

/** Groups of digits that follow each other: from the start of any of them to the end of any other. */
function hasCard(groups: readonly string[], { judge, inLongRuns }: Search): boolean {
  return groups.some((group, first) => {
    let digits = '';
    for (const next of groups.slice(first, first + LONGEST)) {
      digits += next;
      if (digits.length > LONGEST) break;
      if (digits.length >= SHORTEST && judge(digits)) return true;
    }
    // A card number with more digits behind it, without a gap.
    return inLongRuns && group.length > LONGEST && holdsCardDigits(group);
  });
}

const isCard = (digits: string): boolean => CARD_PREFIX.test(digits) && luhn(digits);

function luhn(digits: string): boolean {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits.at(-1 - i));
    // The digits of twice the digit, added: 8 becomes 16 becomes 7.
    sum += i % 2 === 0 ? digit : digit * 2 - (digit < 5 ? 0 : 9);
  }
  return sum % 10 === 0;
}

/**
 * The text with every digit of every script as one of 0 to 9: full width, circled, Arabic, Devanagari,
 * mathematical...
 */
export function plainDigits(text: string): string {
  if (!NOT_ASCII.test(text)) return text;
  return text.normalize('NFKC').replace(/\p{Nd}/gu, (digit) => String(valueOf(digit)));
}

/** Digits stand in Unicode in runs of ten, zero first. */
function valueOf(digit: string): number {
  const code = digit.codePointAt(0) ?? 0;
  let before = 0;
  while (/\p{Nd}/u.test(String.fromCodePoint(code - before - 1))) before++;
  return before % 10;
}
