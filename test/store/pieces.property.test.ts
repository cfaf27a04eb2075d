import { array, assert, oneof, property, string, uuid } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inPieces } from '../../store/pieces.ts';

/** As the client writes a list of texts into an address. */
function encoded(ids: readonly string[]): number {
  const quoted = ids.map((id) => `'${id.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`);
  return new URLSearchParams([['param_ids', `[${quoted.join(',')}]`]]).toString().length;
}

const ids = array(oneof(uuid(), string({ unit: 'grapheme', minLength: 1, maxLength: 200 })), {
  maxLength: 3000,
  size: 'max',
});

describe('a list of ids', () => {
  it('is split into pieces that fit an address, in order, none missing', () => {
    assert(
      property(ids, (all) => {
        const pieces = [...inPieces(all, (id) => [id])];
        expect(pieces.flat()).toEqual(all);
        for (const piece of pieces) {
          expect(piece.length).toBeGreaterThan(0);
          expect(encoded(piece)).toBeLessThan(128 << 10);
        }
      }),
      { numRuns: 30 },
    );
  });

  it('of a thousand usual ids is one piece', () => {
    const all = Array.from({ length: 1000 }, () => crypto.randomUUID());
    expect([...inPieces(all, (id) => [id])]).toHaveLength(1);
  });
});
