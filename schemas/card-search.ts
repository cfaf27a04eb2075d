/**
 * The second net beneath the grammars (decode/grammar.ts): finds card numbers in texts that must be kept as
 * they are, such as ids, and in what is logged. Digits of any script count, and whatever is no letter and no
 * digit may stand between them.
 */

/**
 * Service ids are UUIDs: one in five hundred has 13 to 19 digits in a row that pass the Luhn check by chance.
 */
const UUID = /(?<![0-9a-z])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![0-9a-z])/gi;

/** How card numbers begin, over all schemes. Dates and times as numbers (20..., 17...) begin otherwise. */
const CARD_PREFIX = /^(?:4|5[0-8]|6|3[04-9]|2[2-7]|8[126]|9[178])/;

const SHORTEST = 13;
const LONGEST = 19;
const NOT_ASCII = /[^\u0000-\u007f]/; // oxlint-disable-line no-control-regex -- the range is what is meant
const TWELVE_DIGITS = /(?:\d\D*){12}\d/;

/** Could the text hold a card number: 13 to 19 digits, not part of a UUID, that pass the Luhn check? */
export function looksLikeCardNumber(text: string): boolean {
  return search(text, luhn);
}

/**
 * The same for ids: the digits must begin as a card's do, too, since merchants and gateways number their
 * orders.
 */
export function isCardLikeId(id: string): boolean {
  return search(id, isCard);
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

function search(text: string, judge: (digits: string) => boolean): boolean {
  const plain = plainDigits(text);
  if (!TWELVE_DIGITS.test(plain)) return false;
  for (const run of plain.replace(UUID, 'uuid').split(/\p{L}+/u)) {
    const groups = Array.from(run.matchAll(/\d+/g), ([digits]) => digits);
    if (hasCard(groups, judge)) return true;
  }
  return false;
}

/** Groups of digits that follow each other: from the start of any of them to the end of any other. */
function hasCard(groups: readonly string[], judge: (digits: string) => boolean): boolean {
  return groups.some((group, first) => {
    let digits = '';
    for (const next of groups.slice(first, first + LONGEST)) {
      digits += next;
      if (digits.length > LONGEST) break;
      if (digits.length >= SHORTEST && judge(digits)) return true;
    }
    // A card number with more digits behind it, without a gap.
    return group.length > LONGEST && holdsCardDigits(group);
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
