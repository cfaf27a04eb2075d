import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { guardValues } from '../../../../store/embedded/sql/insert-statement.ts';

async function* chunked(bytes: Uint8Array, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield Buffer.from(bytes.subarray(at, at + size));
}

async function guarded(text: string, size = 3): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of guardValues(chunked(Buffer.from(text), size))) chunks.push(chunk);
  return Buffer.concat(chunks);
}

describe('guardValues', () => {
  it.each(["(1, 'a')", "(1, 'it''s; \\'; x');", '(`a;b`, "c;d");\n\n ;'.slice(0, -2), ''])(
    'passes %j on',
    async (text) => {
      expect((await guarded(text)).toString()).toBe(text);
    },
  );

  it.each(['(1); DROP TABLE t', "(1, 'a;');\n\nDROP TABLE t;", '(1);(2)'])('refuses %j', async (text) => {
    await expect(guarded(text)).rejects.toThrow('Multi-statements');
  });

  it('finds a statement behind any rows', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string()), fc.integer({ min: 1, max: 50 }), async (values, size) => {
        const rows = values
          .map((value) => `('${value.replaceAll('\\', '\\\\').replaceAll("'", "''")}')`)
          .join(',');
        expect((await guarded(rows, size)).toString()).toBe(rows);
        await expect(guarded(`${rows};SELECT 1`, size)).rejects.toThrow('Multi-statements');
      }),
    );
  });
});
