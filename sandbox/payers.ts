import type { Random } from './random.ts';

/** The payer's side of an order. All of it is invented; the card number exists as a mask only. */
export interface Payer {
  readonly identifier: string;
  readonly email: string;
  readonly cardHolder: string;
  /** First six and last four digits (section 2.3). */
  readonly cardMask: string;
}

const FIRST_NAMES = [
  'Ada',
  'Bruno',
  'Chiara',
  'David',
  'Elena',
  'Farid',
  'Greta',
  'Hugo',
  'Ines',
  'Jonas',
  'Katya',
  'Leo',
];
const LAST_NAMES = [
  'Almeida',
  'Berg',
  'Costa',
  'Dvorak',
  'Eriksen',
  'Fischer',
  'Garcia',
  'Horvat',
  'Ivanova',
  'Jansen',
];
const BANKS = [
  'Northfield Bank',
  'Banco Ribera',
  'Harbour Savings',
  'First Meridian',
  'Union of Alder Valley',
];
/** Number ranges that payment networks keep for tests. */
const BINS = ['411111', '555555', '520082', '400000', '222300'];

export function drawPayer(random: Random): Payer {
  const first = random.pick(FIRST_NAMES);
  const last = random.pick(LAST_NAMES);
  const identifier = `payer-${random.digits(8)}`;
  return {
    identifier,
    email: `${identifier}@example.com`,
    cardHolder: `${first} ${last}`.toUpperCase(),
    cardMask: `${random.pick(BINS)}******${random.digits(4)}`,
  };
}

/** Where a P2P payer sends the money (section 2.2). */
export interface PayeeDetails {
  readonly card: string;
  readonly fio: string;
  readonly bank: string;
}

export function drawPayee(random: Random): PayeeDetails {
  return {
    card: withCheckDigit(random.pick(BINS) + random.digits(9)),
    fio: `${random.pick(FIRST_NAMES)} ${random.pick(LAST_NAMES)}`,
    bank: random.pick(BANKS),
  };
}

/** First six and last four digits of a card number. */
export function maskOf(cardNumber: string): string {
  return `${cardNumber.slice(0, 6)}${'*'.repeat(Math.max(cardNumber.length - 10, 0))}${cardNumber.slice(-4)}`;
}

function withCheckDigit(digits: string): string {
  const sum = [...digits].toReversed().reduce((total, char, i) => {
    const doubled = Number(char) * (i % 2 === 0 ? 2 : 1);
    return total + (doubled > 9 ? doubled - 9 : doubled);
  }, 0);
  return digits + ((10 - (sum % 10)) % 10);
}
