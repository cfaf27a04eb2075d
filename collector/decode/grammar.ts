import { isIdOf } from '../../schemas/order-id.ts';
import type { IdKind } from '../../schemas/watch.ts';
import { isCardLikeId } from '../../schemas/card-search.ts';
import { isWord } from '../../schemas/shape.ts';
import { couldBeCard, readAmount } from './amount.ts';
import type { Fingerprint } from './fingerprint.ts';

/**
 * The grammar of every text that a stranger chooses and a row keeps. What fits stands as it came; what does
 * not is kept as its fingerprint, so that nothing has to be recognised as card data.
 */
export interface TextPolicy {
  readonly fingerprint: Fingerprint;
  /** Ids of 13 to 19 digits that pass for a card number are the gateway's own numbers. */
  readonly keepsCardLikeIds: boolean;
}

/** Digits and dots, at most 11 digits in all: a card number has 13 at least. */
const CODE = /^\d{1,9}(?:\.\d{1,9}){0,9}$/;
const MAX_CODE_DIGITS = 11;
/** One word: no card number has letters only, and a name of two words does not fit. */
const CHANNEL = /^[A-Za-z][A-Za-z0-9._-]{0,31}$/;
const MAX_CHANNEL_DIGITS = 8;
/** Upper and lower case and digits, longer than 16: base64 makes 18 characters of 13 digits. */
const LONG_MIXTURE = /^(?=.*[a-z])(?=.*[A-Z])(?=.*\d).{17}/;
const CURRENCY = /^(?:[A-Za-z]{3,5}|\d{3})$/;
const GATEWAY = /^[a-z0-9-]{1,63}$/;
const MAX_GATEWAY_DIGITS = 4;
const DELIVERY_ID = /^[A-Za-z0-9._:/=+-]{1,100}$/;
/** What `shapeOf` writes: it reveals nothing, and so may pass. The intake writes it into what it hands on. */
const SHAPE = /^~[a9. ]{0,24}:\d{1,3}$/;

/** Does a stored text stand for another one? Nothing else that is stored begins so. */
export const isMasked = (text: string): boolean => text.startsWith('~');

const digitsIn = (text: string): number => text.replace(/\D/g, '').length;

/** A history code as it may be stored: v2, legacy, or digits and dots of another form. */
export function isCode(text: string): boolean {
  return CODE.test(text) && digitsIn(text) <= MAX_CODE_DIGITS;
}

export function storedCode(text: string, fingerprint: Fingerprint): string {
  return isCode(text) ? text : fingerprint(text);
}

/** A status, in replies and callbacks: one word of at most 32 letters. */
export function isStatus(text: string): boolean {
  return isWord(text) || SHAPE.test(text);
}

export function storedStatus(text: string, fingerprint: Fingerprint): string {
  return isStatus(text) ? text : fingerprint(text);
}

/**
 * An id that may be kept and asked for: within the grammar of its kind, and not a card's number unless ids
 * are believed.
 */
export function isKeepableId(kind: IdKind, id: string, keepsCardLikeIds: boolean): boolean {
  return isIdOf(kind, id) && (keepsCardLikeIds || !isCardLikeId(id));
}

export function storedId(kind: IdKind, id: string, { fingerprint, keepsCardLikeIds }: TextPolicy): string {
  return isKeepableId(kind, id, keepsCardLikeIds) || SHAPE.test(id) ? id : fingerprint(id);
}

export function storedChannel(channel: string, fingerprint: Fingerprint): string {
  const isWordLike = CHANNEL.test(channel) && digitsIn(channel) <= MAX_CHANNEL_DIGITS;
  const fits = channel === '' || (isWordLike && !LONG_MIXTURE.test(channel));
  return fits ? channel : fingerprint(channel);
}

/** A gateway that is not configured: its name is whatever a sender wrote. */
export function storedGateway(name: string, fingerprint: Fingerprint): string {
  const fits = name === '' || (GATEWAY.test(name) && digitsIn(name) <= MAX_GATEWAY_DIGITS);
  return fits ? name : fingerprint(name);
}

/** A header that anybody can write. */
export function storedDeliveryId(deliveryId: string, fingerprint: Fingerprint): string {
  const fits = DELIVERY_ID.test(deliveryId) && !deliveryId.includes('://') && !isCardLikeId(deliveryId);
  return fits ? deliveryId : fingerprint(deliveryId);
}

/** An amount as plain decimal text, or null when it is none or could hold a card number. */
export const decimalText = (amount: unknown, currency: string | null = null): string | null =>
  readAmount(amount, currency).text;

/** Is it an amount that may stand as it is written: no card number can hide in it? */
export function isKeepableAmount(text: string): boolean {
  return readAmount(text, null).text !== null && !couldBeCard(text);
}

/**
 * A currency's code, ISO 4217 letters or digits, in upper case whatever the sender's; null for all else, so
 * that an empty text never stands before a true one.
 */
export function currencyCode(currency: unknown): string | null {
  const named = typeof currency === 'string' ? currency.trim() : '';
  return CURRENCY.test(named) ? named.toUpperCase() : null;
}
