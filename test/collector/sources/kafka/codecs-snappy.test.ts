import * as fc from 'fast-check';
import { compressSync } from 'snappy';
import { describe, expect, it } from 'vitest';
import { unsnappy } from '../../../../collector/sources/kafka/codecs.ts';

/** As the xerial library writes it: a header, then blocks with their lengths. */
function xerial(blocks: readonly Uint8Array[]): Buffer {
  const parts: Uint8Array[] = [
    Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0, 0, 0, 0, 1, 0, 0, 0, 1]),
  ];
  for (const block of blocks) {
    const compressed = compressSync(block);
    const length = Buffer.alloc(4);
    length.writeInt32BE(compressed.length);
    parts.push(length, compressed);
  }
  return Buffer.concat(parts);
}

describe('snappy, of which Kafka has two forms', () => {
  it('reads a bare block', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 500 }), async (bytes) => {
        expect(Buffer.from(bytes).equals(await unsnappy(compressSync(bytes)))).toBe(true);
      }),
    );
  });

  it('reads any number of framed blocks', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 200 })), async (blocks) => {
        expect(Buffer.concat(blocks).equals(await unsnappy(xerial(blocks)))).toBe(true);
      }),
    );
  });

  it('rejects a frame that is cut off', async () => {
    const whole = xerial([Buffer.from('abc')]);
    await expect(unsnappy(whole.subarray(0, whole.length - 1))).rejects.toThrow('cut off');
  });
});
