import { holdsCardNumber, looksLikeCardNumber, plainDigits } from './card-search.ts';

/** Digit runs that could be (part of) a card number, with the separators people write between them. */
const CARD_LIKE = /\d(?:[ -]?\d){8,}/g;
/**
 * Longer ones with anything between: only those that pass for a card's are masked, as addresses and times
 * look alike.
 */
const DISGUISED = /\d(?:[^\p{L}\p{N}]*\d){12,}/gu;
const MAX_SHOWN = 120;

const mask = (run: string): string => `[${run.replace(/\D/g, '').length} digits]`;

/**
 * Text that is safe to show in an error or log: card-like digit runs masked, control characters and length
 * cut.
 */
export function redact(text: string): string {
  const masked = plainDigits(text)
    .replace(CARD_LIKE, mask)
    .replace(DISGUISED, (run) => (looksLikeCardNumber(run) ? mask(run) : run))
    // oxlint-disable-next-line no-control-regex -- control characters would forge log lines
    .replace(/[\u0000-\u001f\u007f]/g, '\u{fffd}');
  return masked.length > MAX_SHOWN ? `${masked.slice(0, MAX_SHOWN)}... (${text.length} characters)` : masked;
}

/**
 * A person's text without card numbers. Other long numbers stay, and a text that holds no card number stays
 * as it is.
 */
export function maskCards(text: string): string {
  if (!holdsCardNumber(text)) return text;
  return plainDigits(text).replace(DISGUISED, (run) => (holdsCardNumber(run) ? mask(run) : run));
}

/**
 * What a value of our own users' is called in "received ..." texts: its kind, and for short scalars the
 * redacted value.
 */
export function describe(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (typeof value === 'string') return value === '' ? 'an empty string' : `"${redact(value)}"`;
  if (typeof value === 'number' || typeof value === 'boolean') return redact(String(value));
  return Array.isArray(value) ? `an array of ${value.length}` : 'an object';
}
