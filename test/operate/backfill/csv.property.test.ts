import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { delimiterOf, endCsv, readCsv, startCsv, type CsvRecord } from '../../../operate/backfill/csv.ts';

function readAll(pieces: readonly string[], delimiter = ','): CsvRecord[] {
  const state = startCsv(delimiter);
  return [...pieces.flatMap((piece) => readCsv(state, piece)), ...endCsv(state)];
}
const fieldsOf = (text: string, delimiter = ',') => readAll([text], delimiter).map(({ fields }) => fields);

/** RFC 4180: a field with a delimiter, a quote or a line end stands in quotes, its quotes doubled. */
const quoted = (field: string) => `"${field.replaceAll('"', '""')}"`;
const anyField = fc.string({
  unit: fc.constantFrom('a', 'é', '😀', ',', ';', '"', '\n', '\r', ' ', '\t', '0'),
});
const rows = fc.array(fc.array(anyField, { minLength: 1, maxLength: 5 }), { maxLength: 8 });

/** Cuts a text into pieces at random places. */
const cut = (text: string, places: readonly number[]): string[] => {
  const at = [...new Set(places.map((place) => place % (text.length + 1)))].toSorted((a, b) => a - b);
  return [0, ...at].map((from, index) => text.slice(from, at[index] ?? text.length));
};

describe('the CSV reader', () => {
  it('reads what an RFC 4180 writer wrote, whatever the fields hold and wherever the pieces are cut', () => {
    fc.assert(
      fc.property(
        rows,
        fc.constantFrom('\n', '\r\n', '\r'),
        fc.constantFrom(',', ';', '\t'),
        fc.array(fc.nat(500)),
        fc.boolean(),
        (table, lineEnd, delimiter, places, endsWithLineEnd) => {
          const lines = table.map((fields) => fields.map(quoted).join(delimiter));
          const text = lines.join(lineEnd) + (endsWithLineEnd && lines.length > 0 ? lineEnd : '');
          const records = readAll(cut(text, places), delimiter);
          expect(records.map(({ fields }) => fields)).toEqual(table);
          expect(records.every(({ malformed }) => !malformed)).toBe(true);
        },
      ),
    );
  });

  it('gives the same records and line numbers in one piece and in many, also for texts that are no CSV', () => {
    const text = fc.string({ unit: fc.constantFrom('a', ',', '"', '\n', '\r', '1'), maxLength: 60 });
    fc.assert(
      fc.property(text, fc.array(fc.nat(60)), (whole, places) => {
        expect(readAll(cut(whole, places))).toEqual(readAll([whole]));
      }),
    );
  });

  it('goes on after a bad record: what follows a line end outside quotes is read as ever', () => {
    fc.assert(
      fc.property(anyField, (field) => {
        const records = readAll([`"a"b,c\n${quoted(field)},x\n`]);
        expect(records[0]).toMatchObject({ line: 1, malformed: true });
        expect(records[1]).toEqual({ line: 2, fields: [field, 'x'], malformed: false });
      }),
    );
  });

  it('numbers records by their first line, with empty lines and lines within quotes counted', () => {
    const records = readAll(['a,b\n\n"x\r\ny",z\r\n\r\nlast,one']);
    expect(records).toEqual([
      { line: 1, fields: ['a', 'b'], malformed: false },
      { line: 3, fields: ['x\r\ny', 'z'], malformed: false },
      { line: 6, fields: ['last', 'one'], malformed: false },
    ]);
  });

  it('keeps empty fields, and a quote inside a plain field', () => {
    expect(fieldsOf(',a,\n""\n5" pipe,x')).toEqual([['', 'a', ''], [''], ['5" pipe', 'x']]);
  });

  it('ends a quote that is never closed before it fills the memory', () => {
    const records = readAll(['a,"b', 'x'.repeat(300_000), '\nnext,one\n']);
    expect(records[0]).toMatchObject({ line: 1, malformed: true });
    expect(records.at(-1)).toMatchObject({ fields: ['next', 'one'], malformed: false });
  });

  it('finds the delimiter that the header uses', () => {
    expect(delimiterOf('orderType,externalId')).toBe(',');
    expect(delimiterOf('orderType;externalId;amount,eur')).toBe(';');
    expect(delimiterOf('orderType\texternalId')).toBe('\t');
    expect(delimiterOf('externalId')).toBe(',');
  });
});
