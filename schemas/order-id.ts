/**
 * Grammars of an order's two ids. The service's own (`externalId`) is of letters, digits and the marks that
 * ids are made with. The merchant's (`externalTransactionId`) is any printable text, since the interface sets
 * no form (section 2.1). Neither may be a web address: ids are shown to people.
 */
export const EXTERNAL_ID_GRAMMAR = 'an id of letters, digits and . _ : / + = | # -, and no web address';
export const TRANSACTION_ID_GRAMMAR =
  'an id: printable text of at most 128 characters, no web address and no name';

const DOT_SEGMENT = /(?:^|[/\\])\.\.?(?:[/\\]|$)/;

/** Can the id stand in a path? `.` and `..` would leave the base path whatever their encoding. */
export function isSafeId(id: string): boolean {
  return id !== '' && id.isWellFormed() && !DOT_SEGMENT.test(id);
}

const USUAL_ID = /^[\w-]{1,200}$/;

/** An id of letters, digits, `_` and `-`, as ids usually are: it can stand everywhere. */
export function isUsualId(id: string): boolean {
  return USUAL_ID.test(id);
}

/** A scheme, or the name of a host: labels with dots between them, the last one of letters only. */
const SCHEME = /:\/\/|^\/\/|^www\.|^(?:data|file|javascript|mailto|tel):/i;
const HOST = /(?<![\p{L}\p{N}@._-])(?:[\p{L}\p{N}-]{1,63}\.)+\p{L}{2,63}(?=$|[\s/:?#=|])/u;

/** Would mail, chat or a browser make a link of it? */
export function isWebAddress(text: string): boolean {
  return SCHEME.test(text) || HOST.test(text);
}

const ID = /^[\p{L}\p{N}][\p{L}\p{M}\p{N}._:/+=|#-]{0,199}$/u;

/**
 * The grammar of the service's id: letters and digits of any script, and the marks that ids are made with. No
 * blanks: a name is no id.
 */
export function isExternalId(id: string): boolean {
  return isUsualId(id) || (ID.test(id) && id.length <= 200 && isSafeId(id) && !isWebAddress(id));
}

/** No control or format characters, and no blanks but the usual one. */
const PRINTABLE = /^(?:[^\p{C}\p{Z}]| ){1,128}$/u;

/**
 * The grammar of the merchant's id: an id as above, or printable text. What begins with `~` stands for a text
 * that was not kept; words without a digit are somebody's name.
 */
export function isTransactionId(id: string): boolean {
  if (isExternalId(id)) return true;
  if (!PRINTABLE.test(id) || id.startsWith('~') || id.trim() !== id || isWebAddress(id)) return false;
  return isSafeId(id) && (!id.includes(' ') || /\p{N}/u.test(id));
}

export function isIdOf(kind: 'external-id' | 'transaction-id', id: string): boolean {
  return kind === 'external-id' ? isExternalId(id) : isTransactionId(id);
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** What an id is compared by: a UUID is the same in both cases (RFC 9562, section 4), other ids are texts. */
export function canonicalId(id: string): string {
  return UUID.test(id) ? id.toLowerCase() : id;
}
