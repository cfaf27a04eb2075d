import { text } from 'node:stream/consumers';
import { uncompressSync } from 'lz4-napi';
import { describe, expect, it } from 'vitest';
import { cityHash128 } from '../../../store/embedded/city-hash.ts';
import { packBlocks } from '../../../store/embedded/compressed-blocks.ts';

/** Unpacks as a client does, and checks what it checks. */
function unpack(packed: Buffer): { content: Buffer; blocks: number } {
  const parts: Buffer[] = [];
  for (let at = 0; at < packed.length;) {
    const size = packed.readUInt32LE(at + 17);
    const checked = packed.subarray(at + 16, at + 16 + size);
    expect(checked[0]).toBe(0x82);
    expect(cityHash128(checked)).toEqual([packed.readBigUInt64LE(at), packed.readBigUInt64LE(at + 8)]);
    parts.push(uncompressSync(Buffer.concat([checked.subarray(5, 9), checked.subarray(9)])));
    at += 16 + size;
  }
  return { content: Buffer.concat(parts), blocks: parts.length };
}

describe('blocks of compress=1', () => {
  it.each([1, 65_535, 65_536, 65_537, 300_000])('hold %i bytes again', async (length) => {
    const content = Buffer.from(Array.from({ length }, (_, index) => (index * 7919) % 251));
    const stream = packBlocks();
    const packed = stream.toArray() as Promise<Buffer[]>;
    stream.end(content);
    const { content: got, blocks } = unpack(Buffer.concat(await packed));
    expect(got.equals(content)).toBe(true);
    expect(blocks).toBe(Math.ceil(length / 65_536));
  });

  it('are none for a result without bytes', async () => {
    const stream = packBlocks();
    stream.end();
    expect(await text(stream)).toBe('');
  });
});
