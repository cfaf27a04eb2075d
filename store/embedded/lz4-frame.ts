import { uncompressSync } from 'lz4-napi';
import { clickhouseError } from './clickhouse-error.ts';

const magic = 0x184d2204;
const windowSize = 65_536;
const SIZE_BYTES = 4;
/** The most bytes that one byte of a packed block can unpack to. */
const MAX_RATIO = 255;
/** Of the four sizes that the format has: 64 KiB, 256 KiB, 1 MiB, 4 MiB. */
const SMALLEST_BLOCK = 65_536;

/**
 * Unpacks a body of LZ4 frames, one behind the other, block by block. Node has no LZ4, and Python's client
 * compresses with nothing else. The library unpacks blocks; frames are read here, because it unpacks a frame
 * as a whole, however large that becomes. One block of four megabytes is the most that is held.
 *
 * frame   magic, flags, block size, [content size 8], [dictionary 4], header checksum 1, blocks, end mark,
 * [checksum 4]
 *   block   size 4 (highest bit: stored as it is; 0: end mark), data, [checksum 4]
 *
 * Checksums are passed over: the connection has its own.
 *
 * @throws ClickHouseError 354 for anything else
 */
export async function* decodeLz4Frames(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  const input = createReader(source);
  for (;;) {
    if (await input.ended()) return;
    const kind = (await input.read(4)).readUInt32LE();
    if (kind >= 0x184d2a50 && kind <= 0x184d2a5f) {
      await input.skip((await input.read(4)).readUInt32LE());
      continue;
    }
    if (kind !== magic) throw broken('no LZ4 frame');
    const [flags = 0, sizes = 0] = await input.read(2);
    if (flags >> 6 !== 1) throw broken('unknown version');
    if ((flags & 1) !== 0) throw broken('a dictionary is not supported');
    await input.read(((flags & 8) === 0 ? 0 : 8) + 1);
    const blockSize = 2 ** (8 + 2 * ((sizes >> 4) & 7));
    if (blockSize < SMALLEST_BLOCK) throw broken('unknown block size');
    const linked = (flags & 32) === 0;
    let window: Buffer = Buffer.alloc(0);
    for (;;) {
      const head = (await input.read(4)).readUInt32LE();
      if (head === 0) break;
      const length = head & 0x7fffffff;
      if (length > blockSize + 64) throw broken('a block is too large');
      const data = await input.read(length);
      if ((flags & 16) !== 0) await input.read(4);
      const block = head >= 0x80000000 ? data : decodeBlock(data, window, blockSize);
      if (linked) window = Buffer.concat([window, block]).subarray(-windowSize);
      yield block;
    }
    if ((flags & 4) !== 0) await input.read(4);
  }
}

/**
 * Unpacks a block; the bytes before it are its dictionary. The library allocates the size that it is given,
 * and writes no more. That size is the frame's maximum, but at most 255 times the packed size, which no block
 * can exceed: otherwise thousands of tiny blocks would allocate four megabytes each.
 */
function decodeBlock(data: Buffer, window: Buffer, blockSize: number): Buffer {
  const sized = Buffer.allocUnsafe(SIZE_BYTES + data.length);
  sized.writeUInt32LE(Math.min(blockSize, data.length * MAX_RATIO));
  data.copy(sized, SIZE_BYTES);
  try {
    return uncompressSync(sized, window.length === 0 ? undefined : window);
  } catch (error) {
    throw broken((error as Error).message);
  }
}

/** Joins chunks only when a read needs them, so that many small chunks cost no more than a few large ones. */
function createReader(source: AsyncIterable<Buffer>) {
  const iterator = source[Symbol.asyncIterator]();
  let chunks: Buffer[] = [];
  let size = 0;

  async function more(): Promise<boolean> {
    const next = await iterator.next();
    if (next.done === true) return false;
    chunks.push(next.value);
    size += next.value.length;
    return true;
  }

  return {
    async ended(): Promise<boolean> {
      while (size === 0) if (!(await more())) return true;
      return false;
    },
    async read(wanted: number): Promise<Buffer> {
      while (size < wanted) if (!(await more())) throw broken('the body ends too early');
      const all = chunks.length === 1 ? (chunks[0] ?? Buffer.alloc(0)) : Buffer.concat(chunks);
      chunks = all.length === wanted ? [] : [all.subarray(wanted)];
      size -= wanted;
      return all.subarray(0, wanted);
    },
    /** Passes over bytes without holding them. */
    async skip(unwanted: number): Promise<void> {
      let left = unwanted;
      while (left > size) {
        left -= size;
        chunks = [];
        size = 0;
        if (!(await more())) throw broken('the body ends too early');
      }
      await this.read(left);
    },
  };
}

function broken(reason: string): Error {
  return clickhouseError(354, `Cannot decompress the request body: ${reason}`);
}
