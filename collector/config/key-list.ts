const EXPECTED =
  'expected one key, or several as a JSON list of texts or one on a line; a key that holds a comma, or begins with [, ' +
  'has to be written as a JSON list, such as ["the,key"]';

/**
 * Several keys in one text, newest first: a JSON list, or one on a line. A comma is a part of a key and never
 * parts two; since it once did, a text with a comma says in JSON what it means.
 *
 * @returns the keys, or the problem, which never shows the text
 */
export function readKeyList(text: string): readonly string[] | { readonly problem: string } {
  if (text.trimStart().startsWith('[')) return readJsonList(text);
  if (text.includes(',')) return { problem: EXPECTED };
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

function readJsonList(text: string): readonly string[] | { readonly problem: string } {
  try {
    const list: unknown = JSON.parse(text);
    if (Array.isArray(list) && list.every((key) => typeof key === 'string')) return list;
  } catch {
    // The parser's error quotes the text.
  }
  return { problem: EXPECTED };
}
