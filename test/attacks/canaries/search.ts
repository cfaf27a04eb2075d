import { CARDS, DISGUISES, SECRETS } from './disguises.ts';

/** Every disguise of every card as it would be written, the names and the tokens. */
const NEEDLES: readonly string[] = [
  ...Object.values(SECRETS),
  ...CARDS.flatMap((card) => DISGUISES.map(({ write }) => write(card))),
];
const ANY_NEEDLE = new RegExp(
  [...new Set(NEEDLES)].map((one) => one.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')).join('|'),
  'u',
);
const ANY_CARD = new RegExp(CARDS.join('|'));
const PIECE = 1 << 20;
const OVERLAP = 200;

/** What of the canaries a text holds: as it was sent, or as digits with anything between. */
export function findCanaries(where: string, text: string): string[] {
  const found: string[] = [];
  for (let at = 0; at < text.length; at += PIECE) {
    const piece = text.slice(at, at + PIECE + OVERLAP);
    const asSent = ANY_NEEDLE.exec(piece)?.[0];
    if (asSent !== undefined) found.push(`${where}: ${JSON.stringify(asSent)} ...${context(piece, asSent)}`);
    const digits = ANY_CARD.exec(piece.normalize('NFKC').replace(/\D/g, ''))?.[0];
    if (digits !== undefined) found.push(`${where}: the digits ${digits}`);
  }
  return found;
}

function context(piece: string, needle: string): string {
  const at = piece.indexOf(needle);
  return JSON.stringify(piece.slice(Math.max(0, at - 60), at + needle.length + 20));
}
