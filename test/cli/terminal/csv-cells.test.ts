import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { forSpreadsheets } from '../../../cli/terminal/csv-cells.ts';

async function* pieces(text: string, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length];
  for (const [index, from] of places.slice(0, -1).entries()) yield bytes.subarray(from, places[index + 1]);
}

async function through(text: string, ...cuts: number[]): Promise<string> {
  const out: Uint8Array[] = [];
  for await (const piece of forSpreadsheets(pieces(text, cuts))) out.push(piece);
  return Buffer.concat(out).toString();
}

it('texts that a spreadsheet would run get an apostrophe, numbers stay numbers, and NULL is empty', async () => {
  expect(await through('"id","amount"\n"=cmd()",-1.5\n"+1","-x"\n"@a",,"ok-"\n')).toBe(
    '"id","amount"\n"\'=cmd()",-1.5\n"\'+1","\'-x"\n"\'@a",,"ok-"\n',
  );
  expect(await through('"a","b"\n\\N,"\\N"\n1,\\N\n')).toBe('"a","b"\n,"\\N"\n1,\n');
  expect(await through('"say ""=1"" to","x"\n"""=2"""\n')).toBe('"say ""=1"" to","x"\n"""=2"""\n');
});

it('wherever the pieces are cut', async () => {
  const cell = fc.oneof(
    fc.string().map((text) => `"${text.replaceAll('"', '""')}"`),
    fc.integer().map(String),
    fc.constant('\\N'),
  );
  const rows = fc
    .array(fc.array(cell, { minLength: 1 }).map((cells) => cells.join(',')))
    .map((all) => all.join('\n'));
  await fc.assert(
    fc.asyncProperty(rows, fc.array(fc.nat(), { maxLength: 5 }), async (text, cuts) => {
      expect(await through(text, ...cuts)).toBe(await through(text));
    }),
  );
});
