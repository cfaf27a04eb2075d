import type { SignatureCause } from '../../schemas/signature-causes.ts';

/** A `Signature` header as it may have been meant. */
export interface MeantSignature {
  /** What was undone to read it; null: 64 hexadecimal digits, as the interface has it. */
  readonly form: SignatureCause | null;
  /** Lower case hexadecimal digits of the hash, or as many of them as there are. */
  readonly digits: string;
}

const MAX_LENGTH = 400;
/** `sha256=`, `v1=`, `0x`: what other interfaces put before a hash. Base64 may begin with `0x`, too. */
const PREFIX =
  /^(?:(?:hmac-?)?sha-?256|signature|sign|v\d{1,2}|hash)\s*[=:]\s*|^(?:sha-?256|bearer|signature)\s+|^0x(?=[0-9a-f]+$)/i;
const QUOTES = /^["'`]|["'`]$/g;
const HEX = /^[0-9a-f]+$/;
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;
/** With fewer digits, chance would verify. */
const LEAST_DIGITS = 16;
const DIGITS = 64;
const SHA512_DIGITS = 128;

/** Reads a header that is not the one of section 6.3. Null: there is no hash in it. */
export function readSignatureHeader(header: string): MeantSignature | null {
  const given = header.trim();
  if (given.length > MAX_LENGTH) return null;
  const bare = given.replace(QUOTES, '').trim().replace(PREFIX, '').replace(QUOTES, '').trim();
  const joined = bare.replace(/[\s:-]/g, '').toLowerCase();
  const hex = HEX.test(joined) ? joined : null;
  if (hex?.length === DIGITS)
    return { form: hex === given.toLowerCase() ? null : 'header_decorated', digits: hex };
  const half = halfOf(bare);
  if (half !== null) return { form: 'header_doubled', digits: half };
  const decoded = hex === null ? fromBase64(bare) : null;
  if (decoded !== null) return { form: 'header_base64', digits: decoded };
  if (hex === null || hex.length < LEAST_DIGITS) return null;
  const isPlausible = hex.length < DIGITS || hex.length === SHA512_DIGITS;
  return isPlausible ? { form: 'header_truncated', digits: hex } : null;
}

/** Twice the same, with or without a separator. */
function halfOf(text: string): string | null {
  const [first = '', second = '', ...more] = text.toLowerCase().split(/\s*[,;]\s*|\s+/);
  const halves = second === '' ? [first.slice(0, DIGITS), first.slice(DIGITS)] : [first, second];
  const isTwice = more.length === 0 && halves[0] === halves[1] && halves[0]?.length === DIGITS;
  return isTwice && HEX.test(halves[0] ?? '') ? (halves[0] ?? null) : null;
}

/** 32 bytes in base64 or base64url, or 64 hexadecimal digits in it. */
function fromBase64(text: string): string | null {
  if (!BASE64.test(text)) return null;
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.byteLength === DIGITS / 2) return bytes.toString('hex');
  const inner = bytes.toString('latin1').toLowerCase();
  return bytes.byteLength === DIGITS && HEX.test(inner) ? inner : null;
}
