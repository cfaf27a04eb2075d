/** Characters that nobody sees, and that come with a file or a copied text rather than with a secret. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
const NOT_IN_HEADERS = /[^\x20-\x7e]/u;

const NAMES: Readonly<Record<number, string>> = {
  0x09: 'a tabulator',
  0x0a: 'a line end',
  0x0d: 'a line end',
  0xa0: 'a no-break space',
  0x200b: 'a zero-width space',
  0xfeff: 'a byte order mark',
};

/**
 * Where the first character stands that must not be in a secret: `character 1 is U+FEFF, a byte order mark`;
 * null: there is none.
 *
 * @param within `header`: the text goes into an HTTP header, which carries visible ASCII alone
 */
export function hiddenCharacter(text: string, within: 'header' | 'text'): string | null {
  const found = (within === 'header' ? NOT_IN_HEADERS : HIDDEN).exec(text);
  if (found === null) return null;
  const place = Array.from(text.slice(0, found.index)).length + 1;
  const code = found[0].codePointAt(0) ?? 0;
  // What it looks like may be a part of the secret: only what nobody can see is named.
  if (!HIDDEN.test(found[0]) && NAMES[code] === undefined) return `character ${place} is none of those`;
  const name = NAMES[code] === undefined ? '' : `, ${NAMES[code]}`;
  return `character ${place} is U+${code.toString(16).toUpperCase().padStart(4, '0')}${name}`;
}
