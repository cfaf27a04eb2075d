import { Readable } from 'node:stream';
import * as fc from 'fast-check';
import { compressFrameSync } from 'lz4-napi';
import { describe, expect, it } from 'vitest';
import { decodeLz4Frames } from '../../../store/embedded/lz4-frame.ts';
import { unpack } from '../../../store/embedded/reader/unpack.ts';

async function* chunked(bytes: Uint8Array, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield Buffer.from(bytes.subarray(at, at + size));
}

async function collect(source: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of source) chunks.push(chunk);
  return Buffer.concat(chunks);
}

describe('decodeLz4Frames', () => {
  it('gives back what another implementation compressed, however it is cut', async () => {
    const text = fc.array(fc.constantFrom('a', 'bc', 'gateway', '\n', '\u0000'), { maxLength: 2000 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(text, { minLength: 1, maxLength: 3 }),
        fc.integer({ min: 1, max: 5000 }),
        async (texts, size) => {
          const plain = texts.map((parts) => Buffer.from(parts.join('')));
          const frames = Buffer.concat(plain.map((part) => compressFrameSync(part)));
          expect(await collect(decodeLz4Frames(chunked(frames, size)))).toEqual(Buffer.concat(plain));
        },
      ),
      { numRuns: 50 },
    );
  });

  it('gives back many blocks', async () => {
    const plain = Buffer.from(Array.from({ length: 300_000 }, (_, i) => `${i % 9973},row\n`).join(''));
    expect((await collect(decodeLz4Frames(chunked(compressFrameSync(plain), 65_536)))).equals(plain)).toBe(
      true,
    );
  });

  it('refuses broken bodies with the code for it, and never hangs', async () => {
    const frame = compressFrameSync(Buffer.from('gateway '.repeat(500)));
    const breakage = fc.record({
      at: fc.nat(frame.length - 1),
      byte: fc.nat(255),
      end: fc.nat(frame.length),
    });
    await fc.assert(
      fc.asyncProperty(breakage, async ({ at, byte, end }) => {
        const bytes = Buffer.from(frame.subarray(0, end));
        if (at < bytes.length) bytes[at] = byte;
        const outcome = await collect(decodeLz4Frames(chunked(bytes, 100))).catch((error: unknown) => error);
        expect(
          Buffer.isBuffer(outcome) || (outcome as { clickhouseCode: number }).clickhouseCode === 354,
        ).toBe(true);
      }),
    );
    await expect(collect(decodeLz4Frames(Readable.from([Buffer.from('no frame at all')])))).rejects.toThrow(
      'LZ4',
    );
  });
});

describe('an LZ4 body that is a bomb', () => {
  const SPACES = Buffer.alloc(20_000_000, 0x20);

  it('is unpacked block by block, and no further than its reader wants', async () => {
    let size = 0;
    let largest = 0;
    for await (const block of decodeLz4Frames(chunked(compressFrameSync(SPACES), 65_536))) {
      size += block.length;
      largest = Math.max(largest, block.length);
      if (size > 5_000_000) break;
    }
    expect(size).toBeLessThan(10_000_000);
    expect(largest).toBeLessThanOrEqual(4 * 1024 * 1024);
  });

  it('cannot make a block larger than its frame says', async () => {
    const frame = compressFrameSync(SPACES);
    // The block size of the frame's head: 64 KiB instead of what the blocks were made with.
    frame[5] = 4 << 4;
    await expect(collect(decodeLz4Frames(chunked(frame, 65_536)))).rejects.toMatchObject({
      clickhouseCode: 354,
    });
  });

  it.each([0, 1, 2, 3])('has no block of size %i: the format knows none', async (code) => {
    const frame = compressFrameSync(Buffer.from('gateway'));
    frame[5] = code << 4;
    await expect(collect(decodeLz4Frames(chunked(frame, 100)))).rejects.toMatchObject({
      clickhouseCode: 354,
    });
  });

  it('claims no more for thousands of tiny blocks than they can become', async () => {
    const head = Buffer.from([0x04, 0x22, 0x4d, 0x18, 0x40, 0x70, 0]);
    // One literal, then the end: 2 bytes in a frame with blocks of up to 4 MiB.
    const block = Buffer.from([2, 0, 0, 0, 0x10, 0x20]);
    const many = Buffer.concat([head, ...Array.from({ length: 20_000 }, () => block), Buffer.alloc(4)]);
    const before = process.memoryUsage().rss;
    const blocks: Buffer[] = [];
    for await (const one of decodeLz4Frames(chunked(many, 65_536))) blocks.push(one);
    expect(Buffer.concat(blocks).toString()).toBe(' '.repeat(20_000));
    expect(process.memoryUsage().rss - before).toBeLessThan(200_000_000);
  });

  it('passes over skippable frames without holding them, and ends where one is cut', async () => {
    const skip = Buffer.alloc(8 + 300_000);
    skip.writeUInt32LE(0x184d2a50);
    skip.writeUInt32LE(300_000, 4);
    const after = compressFrameSync(Buffer.from('gateway'));
    expect((await collect(decodeLz4Frames(chunked(Buffer.concat([skip, after]), 1_000)))).toString()).toBe(
      'gateway',
    );
    skip.writeUInt32LE(0xffffffff, 4);
    await expect(collect(decodeLz4Frames(chunked(skip, 1_000)))).rejects.toMatchObject({
      clickhouseCode: 354,
    });
  });

  it.each([
    ['of spaces', compressFrameSync(SPACES)],
    [
      'of many frames',
      Buffer.concat(Array.from({ length: 100 }, () => compressFrameSync(Buffer.alloc(60_000)))),
    ],
  ])('%s is refused for a reader', async (_what, bytes) => {
    await expect(unpack(bytes, 'lz4')).rejects.toMatchObject({ clickhouseCode: 62 });
  });
});
