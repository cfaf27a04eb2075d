/** Card numbers that occur nowhere else; each begins as its scheme's do and passes the Luhn check. */
export const CARDS = [
  '4539578763621486',
  '5412750983641722',
  '6011518974612056',
  '371449635398431',
  '3530185674029311',
  '2202456718903461',
]
  .map((card) => card.slice(0, -1))
  .map(withCheckDigit);

/** Other things that must come out nowhere. */
export const SECRETS = {
  holder: 'ADA CANARY LOVELACE',
  cardToken: 'card-token-c40d8e17',
  storageToken: 'storage-token-5d2f90ab',
  bearer: 'bearer-9f3a61c2d4e85b70',
  key: 'private-key-7be01a55-of-16-bytes',
} as const;

export interface Disguise {
  readonly name: string;
  readonly write: (card: string) => string;
  /**
   * Cannot be distinguished from an id: letters stand between the digits, or it is another or a longer
   * number. Not tried where an id stands.
   */
  readonly passesForId?: true;
}

const groups = (card: string, size = 4): string[] => card.match(new RegExp(`.{1,${size}}`, 'g')) ?? [];
const joined = (name: string, gap: string, size = 4): Disguise => ({
  name,
  write: (card) => groups(card, size).join(gap),
});
const script = (name: string, zero: number): Disguise => ({
  name,
  write: (card) => card.replace(/\d/g, (digit) => String.fromCodePoint(zero + Number(digit))),
});
const asUuid = (digits: string): string =>
  digits.padEnd(32, '0').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
const NAMES = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'];

export const DISGUISES: readonly Disguise[] = [
  joined('bare', ''),
  joined('blanks', ' '),
  joined('hyphens', '-'),
  joined('dots', '.'),
  joined('low lines', '_'),
  joined('two hyphens', '--'),
  joined('three dots', '...'),
  joined('tabs', '\t'),
  joined('line ends', '\n'),
  joined('carriage returns', '\r\n'),
  joined('no-break spaces', '\u00a0'),
  joined('thin spaces', '\u2009'),
  joined('zero-width spaces', '\u200b'),
  joined('word joiners', '\u2060'),
  joined('soft hyphens', '\u00ad'),
  joined('byte order marks', '\ufeff'),
  joined('long dashes', '—'),
  joined('middle dots', '·'),
  joined('slashes', '/'),
  joined('backslashes', '\\'),
  joined('bars', '|'),
  joined('colons', ':'),
  joined('commas', ','),
  joined('plus signs', '+'),
  joined('stars', '*'),
  joined('equals signs', '='),
  joined('hashes', '#'),
  joined('emoji', '🙂'),
  joined('full-width hyphens', '－'),
  joined('ideographic spaces', '\u3000'),
  joined('every digit apart', ' ', 1),
  joined('every digit with a dot', '.', 1),
  joined('pairs', '-', 2),
  joined('six and the rest', ' ', 6),
  script('full-width digits', 0xff10),
  script('Arabic-Indic digits', 0x660),
  script('Persian digits', 0x6f0),
  script('Devanagari digits', 0x966),
  script('mathematical digits', 0x1d7ce),
  script('monospace digits', 0x1d7f6),
  { name: 'with a word before', write: (card) => `card ${card}` },
  { name: 'with a word stuck to it', write: (card) => `card${card}` },
  { name: 'with its expiry date', write: (card) => `${card} 12/28 123` },
  { name: 'with its expiry date stuck to it', write: (card) => `${card}1228123`, passesForId: true },
  { name: 'as a UUID', write: (card) => asUuid(card) },
  { name: 'as a UUID, behind other digits', write: (card) => asUuid(`0000${card}`) },
  { name: 'with its holder', write: (card) => `${SECRETS.holder} ${card}` },
  { name: 'in quotes', write: (card) => `"${card}"` },
  { name: 'in JSON', write: (card) => JSON.stringify({ pan: card }) },
  { name: 'in a query', write: (card) => `?pan=${card}&x=1` },
  { name: 'in an address', write: (card) => `https://x.example/${card}` },
  { name: 'letters between', write: (card) => groups(card).join('x'), passesForId: true },
  { name: 'backwards', write: (card) => card.split('').toReversed().join(''), passesForId: true },
  { name: 'in base64', write: (card) => Buffer.from(card).toString('base64'), passesForId: true },
  { name: 'in hexadecimal', write: (card) => Buffer.from(card).toString('hex'), passesForId: true },
  { name: 'as hexadecimal number', write: (card) => `0x${BigInt(card).toString(16)}`, passesForId: true },
  {
    name: 'in words',
    write: (card) =>
      card
        .split('')
        .map((digit) => NAMES[Number(digit)])
        .join(' '),
  },
];

function withCheckDigit(digits: string): string {
  let sum = 0;
  for (const [index, digit] of Array.from(digits).toReversed().entries()) {
    const doubled = Number(digit) * (index % 2 === 0 ? 2 : 1);
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return digits + String((10 - (sum % 10)) % 10);
}
