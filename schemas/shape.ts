const MAX_SHAPE = 24;
const WORD = /^\p{L}{1,32}$/u;

/**
 * `~<shape>:<length>`: what a text looks like, without any of it. Letters in a row are one `a`, digits one
 * `9`, blanks one blank, all else one `.`; so `4111.1111 ADA` is `~9.9 a:13`. The shape is cut at 24
 * characters.
 */
export function shapeOf(text: string): string {
  const shape = text.slice(0, 10 * MAX_SHAPE).replace(PARTS, (part) => {
    const first = part.charAt(0);
    if (/\d|\p{N}/u.test(part)) return '9';
    return /\s/.test(first) ? ' ' : /\p{L}|\p{M}/u.test(part) ? 'a' : '.';
  });
  return `~${shape.slice(0, MAX_SHAPE)}:${text.length}`;
}

const PARTS = /[\p{L}\p{M}]+|\p{N}+|\s+|[^\p{L}\p{M}\p{N}\s]+/gu;

/** Letters only, and no more than a word has: nothing can hide in it. */
export const isWord = (text: string): boolean => WORD.test(text);

/**
 * What a stranger's value is called in "received ..." texts: a word or a short number as it is, all else by
 * its look.
 */
export function received(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (typeof value === 'string') return value === '' ? 'an empty string' : quoted(value);
  if (typeof value === 'number') return isShortNumber(String(value)) ? String(value) : 'a long number';
  if (typeof value === 'boolean') return String(value);
  return Array.isArray(value) ? `an array of ${value.length}` : 'an object';
}

const isShortNumber = (text: string): boolean => /^-?[\d.]{1,11}$/.test(text);

function quoted(text: string): string {
  return isWord(text) || isShortNumber(text) ? `"${text}"` : `a text like ${shapeOf(text)}`;
}
