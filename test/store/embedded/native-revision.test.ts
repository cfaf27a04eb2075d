import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rewriteBlocks, withRevision } from '../../../store/embedded/native-revision.ts';
import { withEmbedded, type TestStore } from '../../support/embedded.ts';

const REVISION = 54_460;

let store: TestStore;
/** Several blocks as the engine writes them. */
let blocks: Buffer;
beforeAll(async () => {
  store = await withEmbedded({ readerPassword: 'none' });
  const sql = `SELECT number AS n, toString(number) AS s, [number] AS a, toLowCardinality('x') AS l
    FROM numbers(1000) SETTINGS max_block_size = 100 FORMAT Native`;
  blocks = Buffer.from(await (await fetch(store.url, { method: 'POST', body: sql })).arrayBuffer());
});
afterAll(() => store.stop());

async function* cut(bytes: Buffer, sizes: readonly number[]): AsyncGenerator<Buffer> {
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const size = sizes[i % sizes.length] ?? 1;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

async function collect(source: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of source) chunks.push(chunk);
  return Buffer.concat(chunks);
}

describe('blocks of a newer version', () => {
  it('come out the same however the stream is cut', async () => {
    const whole = Buffer.from(withRevision(blocks, REVISION));
    expect(whole.length).toBeGreaterThan(blocks.length);
    const sizes = fc.array(fc.integer({ min: 1, max: 20_000 }), { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(sizes, async (some) => {
        expect((await collect(rewriteBlocks(cut(blocks, some), REVISION))).equals(whole)).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  it('end in an error when the last one is not whole', async () => {
    const short = blocks.subarray(0, blocks.length - 3);
    await expect(collect(rewriteBlocks(cut(short, [100]), REVISION))).rejects.toThrow('ends too early');
    expect(() => withRevision(short, REVISION)).toThrow('ends too early');
  });
});
