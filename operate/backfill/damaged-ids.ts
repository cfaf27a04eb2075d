import type { BackfillField } from './columns.ts';

export const isIdField = (field: BackfillField | undefined): boolean =>
  field === 'externalId' || field === 'externalTransactionId';

/** `1.23457E+17`, `1,23457E+17`: what spreadsheets make of a number of more than eleven digits. */
const SCIENTIFIC = /^\d(?:[.,]\d+)?E\+\d+$/i;
/** What they write for a value that does not fit its cell, or whose formula fails. */
const NO_VALUE = /^(?:#{3,}|#NAME\?|#N\/A|#NV|#(?:REF|BEZUG|VALUE|WERT|DIV\/0|NUM|ZAHL)!)$/i;

/** What is wrong with an id that a spreadsheet has changed; null: nothing that can be seen. */
export function damageOf(id: unknown): { readonly received: string; readonly expected: string } | null {
  const expected = 'the id itself: have the spreadsheet format its column as text, and export it again';
  if (typeof id === 'number') {
    return { received: 'a number with a point or an exponent', expected: 'a text, or a whole number' };
  }
  if (typeof id !== 'string') return null;
  if (NO_VALUE.test(id))
    return { received: 'what spreadsheets write for a value they cannot show', expected };
  if (!SCIENTIFIC.test(id)) return null;
  return { received: 'a number in scientific notation, as spreadsheets write long ids', expected };
}
