/**
 * An order's id for a text that goes to chat and mail, which make links and markup of what looks like them.
 * Letters, digits, `_` and `-` stand as they are; an id with others is in quotes, and those are
 * percent-encoded.
 */
export function idInText(id: string): string {
  if (/^[\w-]+$/.test(id)) return id;
  return `"${id.replace(/[^\p{L}\p{N} #_-]/gu, encoded)}"`;
}

const encoded = (char: string): string =>
  Array.from(Buffer.from(char), (byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
