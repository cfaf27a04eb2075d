/**
 * Why a callback's signature does not verify (interface document, section 6.3), as far as trying shows. A
 * cause is a diagnosis: the verdict stays `mismatch`, and nothing follows from it for the order.
 */

/** What differs, and so who can set it right. */
export const CAUSE_SIDES = ['key', 'header', 'text', 'amount', 'content', 'nothing'] as const;
export type CauseSide = (typeof CAUSE_SIDES)[number];

interface CauseEntry {
  readonly name: string;
  readonly side: CauseSide;
  /** Continues "It verifies when ...", or says why there is nothing to continue. */
  readonly words: string;
  /** What to do about it, as an order. */
  readonly step: string;
}

const OWN_KEY = 'Compare the key at the gateway with the one in callbackKeys, character by character.';
const OWN_TEXT = 'Inform the account manager: the signed text is not that of the interface.';
const OWN_HEADER = 'Look for what rewrites the header on its way, then inform the account manager.';
const OWN_AMOUNT =
  'Inform the account manager: the amount that is signed is not the text that is sent. A proxy that rewrites JSON does it too.';
const CHANGED = 'Read the order at the gateway. Act on no such callback: it was changed, or is forged.';

/** In the order in which they are shown. Names are stored: append only. */
export const SIGNATURE_CAUSES = [
  {
    name: 'key_of_other_gateway',
    side: 'key',
    words: "another gateway's key is used",
    step: 'Compare callback addresses and keys of the two gateways: they are swapped, or one is used twice.',
  },
  {
    name: 'bearer_token_as_key',
    side: 'key',
    words: 'the access token is used as the key',
    step: 'Ask the account manager to sign with the private key, and for a new access token.',
  },
  {
    name: 'key_white_space',
    side: 'key',
    words: 'the key, or the signed text, has white space or a line end around it',
    step: 'Enter the key again on both sides, without white space and line end.',
  },
  {
    name: 'key_written_differently',
    side: 'key',
    words: 'the key is quoted, in other letter case, or read as hexadecimal or base64',
    step: OWN_KEY,
  },
  {
    name: 'key_missing',
    side: 'key',
    words: 'no key is used at all',
    step: 'Anybody can sign like that: act on no such callback. Ask the account manager whether the key is set.',
  },
  {
    name: 'header_base64',
    side: 'header',
    words: 'the hash is written in base64',
    step: OWN_HEADER,
  },
  {
    name: 'header_decorated',
    side: 'header',
    words: 'quotes, a prefix such as sha256=, or separators are taken off the hash',
    step: OWN_HEADER,
  },
  {
    name: 'header_doubled',
    side: 'header',
    words: 'one of two equal hashes in the header is taken',
    step: OWN_HEADER,
  },
  {
    name: 'header_truncated',
    side: 'header',
    words: 'the digits that the header still has are compared: it is cut, or leading zeros are lost',
    step: OWN_HEADER,
  },
  {
    name: 'header_no_hash',
    side: 'header',
    words: 'Nothing was tried: the header holds no SHA-256 hash in any known form',
    step: 'Look at what sends it: a forger, a test system, or a gateway with another method of signing.',
  },
  {
    name: 'other_hash',
    side: 'text',
    words: 'MD5, SHA-1 or SHA-512 is used in place of SHA-256',
    step: OWN_TEXT,
  },
  {
    name: 'hmac',
    side: 'text',
    words: 'an HMAC with the key is used in place of a hash over text and key',
    step: OWN_TEXT,
  },
  {
    name: 'text_separator',
    side: 'text',
    words: 'the fields are joined by something else than single semicolons',
    step: OWN_TEXT,
  },
  { name: 'field_order', side: 'text', words: 'the fields stand in another order', step: OWN_TEXT },
  { name: 'field_left_out', side: 'text', words: 'one signed field is left out or empty', step: OWN_TEXT },
  { name: 'field_added', side: 'text', words: 'the currency is signed as well', step: OWN_TEXT },
  { name: 'text_encoding', side: 'text', words: 'the text is not hashed as UTF-8', step: OWN_TEXT },
  { name: 'body_signed', side: 'text', words: 'the whole body is signed', step: OWN_TEXT },
  {
    name: 'amount_without_zeros',
    side: 'amount',
    words: 'the amount is written without ending zeros',
    step: OWN_AMOUNT,
  },
  {
    name: 'amount_one_decimal',
    side: 'amount',
    words: 'the amount is written with one decimal',
    step: OWN_AMOUNT,
  },
  {
    name: 'amount_two_decimals',
    side: 'amount',
    words: 'the amount is written with two decimals',
    step: OWN_AMOUNT,
  },
  {
    name: 'amount_more_decimals',
    side: 'amount',
    words: 'the amount is written with more than two decimals',
    step: OWN_AMOUNT,
  },
  {
    name: 'amount_comma',
    side: 'amount',
    words: 'the amount is written with a decimal comma',
    step: OWN_AMOUNT,
  },
  {
    name: 'amount_grouped',
    side: 'amount',
    words: 'the thousands of the amount are grouped',
    step: OWN_AMOUNT,
  },
  {
    name: 'amount_exponent',
    side: 'amount',
    words: 'the amount is written with an exponent',
    step: OWN_AMOUNT,
  },
  {
    name: 'amount_minor_units',
    side: 'amount',
    words: 'the amount counts in minor units on one side only',
    step: OWN_AMOUNT,
  },
  { name: 'amount_rounded', side: 'amount', words: 'the amount is rounded or cut', step: OWN_AMOUNT },
  {
    name: 'status_written_differently',
    side: 'text',
    words: 'the status has other letter case, or is the name of the callback type',
    step: OWN_TEXT,
  },
  {
    name: 'order_type_written_differently',
    side: 'text',
    words: 'the order type has other letter case',
    step: OWN_TEXT,
  },
  {
    name: 'external_id_written_differently',
    side: 'text',
    words: 'externalId has other letter case or no hyphens',
    step: OWN_TEXT,
  },
  {
    name: 'transaction_id_signed',
    side: 'text',
    words: "the merchant's own id is signed in place of externalId",
    step: OWN_TEXT,
  },
  { name: 'status_altered', side: 'content', words: 'it had another status', step: CHANGED },
  {
    name: 'amount_altered',
    side: 'content',
    words: 'it had the amount that is known of the order',
    step: CHANGED,
  },
  { name: 'order_type_altered', side: 'content', words: 'it had the other order type', step: CHANGED },
  {
    name: 'external_id_altered',
    side: 'content',
    words: 'it had the externalId of an earlier callback with this signature',
    step: CHANGED,
  },
  {
    name: 'signature_reused',
    side: 'content',
    words: 'it were an earlier callback with this signature, of which several fields differ',
    step: CHANGED,
  },
  {
    name: 'unexplained',
    side: 'nothing',
    words: 'Nothing that was tried verifies: a key that is not configured, or a forger',
    step: 'Ask the account manager for the current key; then look at where these callbacks come from.',
  },
  {
    name: 'not_examined',
    side: 'nothing',
    words: 'Not examined: too many a second, or taken in by an earlier version',
    step: 'Look at those that were examined.',
  },
] as const satisfies readonly CauseEntry[];

/** Of a callback whose verdict is `mismatch`. */
export type SignatureCause = (typeof SIGNATURE_CAUSES)[number]['name'];

/** What a row holds whose verdict is another one. */
export const NO_CAUSE = 'none';

const BY_NAME: ReadonlyMap<string, CauseEntry & { readonly name: SignatureCause }> = new Map(
  SIGNATURE_CAUSES.map((cause) => [cause.name, cause]),
);

/** Is it a name of the closed set? */
export const isSignatureCause = (text: string): text is SignatureCause => BY_NAME.has(text);

/** Their words are a sentence already. */
const WITHOUT_VARIANT: ReadonlySet<string> = new Set(['header_no_hash', 'unexplained', 'not_examined']);

/** A cause without its full stop, such as "It verifies when the amount is written with two decimals". */
export function causeInWords(name: SignatureCause): string {
  const words = BY_NAME.get(name)?.words ?? name;
  return WITHOUT_VARIANT.has(name) ? words : `It verifies when ${words}`;
}

/** What to do about it. */
export const causeStep = (name: SignatureCause): string => BY_NAME.get(name)?.step ?? '';
