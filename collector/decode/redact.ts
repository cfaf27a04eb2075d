/** Digit runs that could be (part of) a card number, with the separators people write between them. */
const CARD_LIKE = /\d(?:[ -]?\d){8,}/g;
/** Service ids are UUIDs: one in five hundred has 13 to 19 digits in a row that pass the Luhn check by chance. */
const UUID = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi;
const MAX_SHOWN = 120;

/** Text that is safe to show in an error, log or reject: card-like digit runs masked, control characters and length cut. */
export function redact(text: string): string {
  const masked = text
    .replace(CARD_LIKE, (run) => `[${run.replace(/\D/g, '').length} digits]`)
    // oxlint-disable-next-line no-control-regex -- control characters would forge log lines
    .replace(/[\u0000-\u001f\u007f]/g, '\u{fffd}');
  return masked.length > MAX_SHOWN ? `${masked.slice(0, MAX_SHOWN)}... (${text.length} characters)` : masked;
}

/** Could the text hold a card number: 13 to 19 digits, not part of a UUID, that pass the Luhn check? */
export function looksLikeCardNumber(text: string): boolean {
  if (text.length < 13) return false;
  for (const run of text.replace(UUID, 'uuid').match(CARD_LIKE) ?? []) {
    const digits = run.replace(/\D/g, '');
    if (digits.length >= 13 && digits.length <= 19 && luhn(digits)) return true;
  }
  return false;
}

function luhn(digits: string): boolean {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    let digit = Number(digits[digits.length - 1 - i]);
    if (i % 2 === 1) digit = digit * 2 > 9 ? digit * 2 - 9 : digit * 2;
    sum += digit;
  }
  return sum % 10 === 0;
}

/** What a value is, for "received ..." texts: its kind, and for short scalars the redacted value. */
export function describe(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (typeof value === 'string') return value === '' ? 'an empty string' : `"${redact(value)}"`;
  if (typeof value === 'number' || typeof value === 'boolean') return redact(String(value));
  return Array.isArray(value) ? `an array of ${value.length}` : 'an object';
}
